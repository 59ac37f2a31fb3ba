"""What the engine is given of a chat to answer."""

from __future__ import annotations

from collections.abc import Iterable

from specchat.app.chats.records import Message
from specchat.models.engine.messages import ChatMessage


def prompt_of(messages: Iterable[Message], system: str) -> tuple[ChatMessage, ...]:
    """The conversation so far after the `system` text, if there is one.

    It goes without replies that have no text, which many chat templates refuse, and without what the engine refused.
    """
    instructions = [ChatMessage("system", whole_characters(system))] if system else []
    return (*instructions, *(ChatMessage(said.role, said.content) for said in messages if _counts(said)))


def whole_characters(text: str) -> str:
    """`text` without halves of characters, which neither the engine nor the store takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _counts(message: Message) -> bool:
    was_refused = message.role == "user" and message.state == "cut"
    return message.content != "" and not was_refused
