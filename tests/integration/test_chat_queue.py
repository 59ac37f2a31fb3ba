"""Prompts that wait for their turn: what is shown of them, and that none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.chatting import Chatting, chatting
from support.fake_engine import Scenario

ENDLESS = Scenario(endless=True, rate=200.0, real_time=True)


async def replying_with_a_queue(chat: Chatting) -> None:
    """Begin a reply that doesn't end, and have two prompts wait for it."""
    await chat.send("go on")
    await chat.until(lambda: chat.replies and len(chat.replies[0].raw) > 100)
    await chat.send("first")
    await chat.send("second")
    await chat.until(lambda: "waiting for its turn" in chat.text)


async def test_the_one_that_comes_back_first_is_shown(tmp_path: Path) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await replying_with_a_queue(chat)
        await chat.until(lambda: "waiting for its turn: second (after 1 more) · ↑ takes it back" in chat.text)
        await chat.pilot.press("up")
        await chat.until(lambda: "waiting for its turn: first · ↑ takes it back" in chat.text)
        assert chat.composer.text == "second"


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_what_waits_for_a_reply_that_is_stopped_is_typed_again(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await replying_with_a_queue(chat)
        await chat.type("third")
        await chat.pilot.press(key)
        await chat.until(lambda: chat.replies[0].message)
        assert chat.composer.text == "first\nsecond\nthird"
        await chat.until(lambda: "waiting" not in chat.text)
        assert [message.content for message in chat.conversation.messages if message.role == "user"] == ["go on"]
        assert len(chat.replies) == 1


async def test_what_waits_for_a_load_that_is_stopped_is_typed_again(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(load_seconds=60.0)) as chat:
        await chat.until(lambda: "loading the target" in chat.text)
        await chat.send("first")
        await chat.send("second")
        await chat.pilot.press("escape")
        await chat.until(lambda: "The loading was stopped" in chat.text)
        assert chat.composer.text == "first\nsecond"
        assert chat.views == chat.conversation.messages == []
