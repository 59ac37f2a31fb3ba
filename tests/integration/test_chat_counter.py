"""The whole counter where the window has no room for it, and what explains its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from specchat.app.screens.counter import CounterScreen
from specchat.app.screens.help import HelpScreen
from specchat.app.widgets.foot import Foot
from specchat.app.widgets.words_help import WORDS
from support.chatting import chatting
from support.fake_engine import Scenario

FIGURES = ("draft runs", "  c 0.", "▒ sampling", "▔on  ·off", "session on", "session off")


@pytest.mark.parametrize("key", ["f11", "ctrl+backslash"])
async def test_a_key_shows_it_at_80_by_24(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await chat.ask("hello")
        assert not [shown for shown in FIGURES if shown in chat.text]
        await chat.pilot.press(key)
        await chat.until(lambda: isinstance(chat.app.screen, CounterScreen))
        seen = chat.text
        await chat.pilot.press("end")
        await chat.pilot.pause()
        seen += chat.text
        assert [shown for shown in FIGURES if shown not in seen] == []
        await chat.pilot.press(key)
        await chat.until(lambda: chat.app.screen is chat.chat)


async def test_it_goes_on_counting(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(endless=True, rate=200.0, real_time=True), size=(80, 24)) as chat:
        await chat.send("go on")
        await chat.until(lambda: chat.conversation.on.counters().tokens > 10)
        await chat.pilot.press("f11")
        await chat.until(lambda: "target passes" in chat.text)
        before = chat.text
        await chat.until(lambda: chat.text != before)
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: chat.replies[0].message)


async def test_it_can_be_scrolled_in_the_smallest_window(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(50, 15)) as chat:
        await chat.pilot.press("f11")
        await chat.until(lambda: "DRAFT on" in chat.text)
        await chat.pilot.press("end")
        await chat.until(lambda: "session off" in chat.text)


async def test_the_figures_under_a_reply_explain_themselves(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        reply = await chat.ask("hello")
        assert "guesses that are in the text" in str(reply.query_one(Foot).tooltip)
        await chat.pilot.press("f3")
        await chat.until(lambda: chat.app.screen is not chat.chat)
        tooltips = [str(widget.tooltip) for widget in chat.app.screen.walk_children() if widget.tooltip]
        assert any("only one of the two was run" in tooltip for tooltip in tooltips)


async def test_in_the_help_no_name_touches_its_meaning(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        names = [widget for widget in chat.app.screen.query(".name") if widget.content]
        assert len(names) > len(WORDS)
        assert all(name.outer_size.width > name.size.width for name in names)
