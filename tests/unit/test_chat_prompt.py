"""What the engine is given of a chat."""

from __future__ import annotations

from specchat.app.chats.prompt import prompt_of
from specchat.app.chats.records import Message, Role, State
from specchat.models.engine.messages import ChatMessage


def said(role: Role, content: str, state: State = "whole") -> Message:
    return Message(1, 1, role, content, state)


def test_the_conversation_follows_the_system_text() -> None:
    messages = [said("user", "Is 7 prime?"), said("assistant", " Yes\x1b[0m. "), said("user", "And 8?")]
    assert prompt_of(messages, "Be brief. \ud83d") == (
        ChatMessage("system", "Be brief. ?"),
        ChatMessage("user", "Is 7 prime?"),
        ChatMessage("assistant", " Yes\x1b[0m. "),
        ChatMessage("user", "And 8?"),
    )
    assert prompt_of(messages[:1], "") == (ChatMessage("user", "Is 7 prime?"),)


def test_replies_count_as_far_as_they_got() -> None:
    messages = [
        said("user", "1"),
        said("assistant", "", "stopped"),
        said("user", "2"),
        said("assistant", "Tw", "cut"),
        said("user", "3"),
        said("assistant", "Thr", "writing"),
    ]
    assert [message.content for message in prompt_of(messages, "")] == ["1", "2", "Tw", "3", "Thr"]


def test_what_the_engine_refused_is_left_out() -> None:
    messages = [said("user", "x" * 100_000, "cut"), said("user", "x")]
    assert prompt_of(messages, "") == (ChatMessage("user", "x"),)
