"""What the chat screen says where models can't be loaded or the engine dies, and what becomes of the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from specchat.app.screens.question import Question
from support.chatting import Chatting, chatting, loaded
from support.fake_engine import TEXT, Fault, Scenario


async def choose(chat: Chatting, name: str, draft: Path | None = None) -> None:
    """Have another pair chosen, as the dialog does."""
    await chat.conversation.choose(chat.conversation.target.with_name(name), draft)
    chat.chat._turns.load()


@pytest.mark.parametrize("fault", [Fault("load", "failure", "no_vocabulary"), Fault("load", "exit", 3)])
async def test_a_prompt_comes_back_from_models_that_cannot_be_loaded(tmp_path: Path, fault: Fault) -> None:
    async with chatting(tmp_path, Scenario(faults=(fault,))) as chat:
        await chat.until(lambda: "F5 or ctrl+o chooses another model." in chat.text)
        await chat.send("hello")
        await chat.until(lambda: chat.composer.text == "hello")
        assert chat.views == chat.conversation.messages == []
        assert await chat.conversation.store.list_chats() == []
        assert "F5 or ctrl+o chooses another model." in chat.text


async def test_once_other_models_are_chosen_only_what_they_answer_is_said(tmp_path: Path) -> None:
    fault = Fault("load", "failure", "no_vocabulary", path="target.gguf")
    async with chatting(tmp_path, Scenario(faults=(fault,))) as chat:
        await chat.until(lambda: "has no vocabulary" in chat.text)
        await chat.send("hello")
        await chat.until(lambda: chat.composer.text == "hello")
        await choose(chat, "other.gguf")
        await loaded(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.replies and chat.replies[0].message)
        assert [message.content for message in chat.conversation.messages] == ["hello", TEXT]


@pytest.mark.parametrize(
    "fault",
    [Fault("prefill", "exit", 3), Fault("prefill", "failure", "prompt_too_long")],
    ids=["the engine dies", "the engine refuses it"],
)
async def test_a_prompt_that_gets_no_answer_is_marked_at_once(tmp_path: Path, fault: Fault) -> None:
    async with chatting(tmp_path, Scenario(faults=(fault,))) as chat:
        await chat.send("hello")
        await chat.until(lambda: "unanswered, so later prompts go without it" in chat.text)
        assert "F5" not in chat.notices
        [message] = chat.conversation.messages
        assert message.state == "cut"


async def test_models_over_which_the_engine_died_twice_can_be_chosen_again(tmp_path: Path) -> None:
    fault = Fault("load", "exit", 3, path="target.gguf")
    async with chatting(tmp_path, Scenario(faults=(fault,))) as chat:
        draft = chat.conversation.draft
        await chat.until(lambda: "ended by itself" in chat.notices)
        await chat.send("hello")
        await chat.until(lambda: chat.conversation.must_ask_before_load)
        await choose(chat, "other.gguf")
        await loaded(chat)
        await choose(chat, "target.gguf", draft)
        await chat.until(lambda: isinstance(chat.app.screen, Question))
        chat.chat._notices.dismiss()
        await chat.pilot.press("tab", "enter")
        await chat.until(lambda: "ended by itself" in chat.notices)


async def test_the_start_of_the_engine_is_shown(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(start_seconds=1.0)) as chat:
        await chat.until(lambda: "starting the engine" in chat.text.splitlines()[0])


async def test_models_chosen_during_a_reply_are_loaded_after_it(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(endless=True, rate=200.0, real_time=True)) as chat:
        await chat.send("go on")
        await chat.until(lambda: chat.replies and chat.replies[0].raw)
        await choose(chat, "other.gguf")
        await chat.until(lambda: "The models are loaded when the reply has ended." in chat.text)
        await chat.pilot.press("escape")
        await chat.until(lambda: "other ◂" in chat.text.splitlines()[0])


async def test_another_chat_that_is_opened_meanwhile_gets_nothing_of_a_reply(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(endless=True, rate=200.0, real_time=True)) as chat:
        await chat.send("go on")
        await chat.until(lambda: chat.replies and chat.replies[0].raw)
        reply = chat.replies[0]
        asked = chat.conversation.messages
        chat.conversation.new_chat()
        chat.conversation.stop()
        await chat.until(lambda: reply.message)
        assert [message.content for message in asked] == ["go on", reply.raw]
        assert reply.message is asked[1]
        assert chat.views[0].message is asked[0]
