"""Sentences that stay until they were read."""

from __future__ import annotations

from pathlib import Path

import pytest

from specchat.app.screens.dialogs import Start
from support.chatting import Chatting, chatting, loaded

MISTAKES = [f"Mistake {number} of the settings." for number in range(8)]


async def opened(chat: Chatting) -> None:
    """Wait until nothing else is going to be said."""
    await loaded(chat)
    await chat.until(lambda: "CPU" in chat.text)


def seen(chat: Chatting) -> list[str]:
    return [mistake for mistake in MISTAKES if mistake in chat.text]


async def test_esc_takes_away_only_what_was_shown(tmp_path: Path) -> None:
    start = Start(tmp_path / "settings.toml", tmp_path, notices=MISTAKES)
    async with chatting(tmp_path, size=(80, 24), start=start) as chat:
        await opened(chat)
        shown = []
        for _page in range(3):
            shown.append(seen(chat))
            await chat.pilot.press("escape")
            await chat.pilot.pause()
        assert shown == [MISTAKES[5:], MISTAKES[2:5], MISTAKES[:2]]
        assert seen(chat) == []


@pytest.mark.parametrize(("columns", "pages"), [(50, [[2], [1], [0]]), (80, [[1, 2], [0]])])
async def test_as_many_are_shown_whole_as_there_is_room_for(
    tmp_path: Path, columns: int, pages: list[list[int]]
) -> None:
    long = [f"{number} " + "word " * 70 + f"end of {number}" for number in range(3)]
    start = Start(tmp_path / "settings.toml", tmp_path, notices=long)
    async with chatting(tmp_path, size=(columns, 24), start=start) as chat:
        await opened(chat)
        for page in pages:
            shown = " ".join(chat.text.split())
            assert [number for number in range(3) if f"end of {number}" in shown] == page
            assert "Esc takes this away" in shown
            await chat.pilot.press("escape")
            await chat.pilot.pause()
        assert "Esc takes" not in chat.text


async def test_what_is_said_again_comes_last(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await opened(chat)
        for said in [*MISTAKES, MISTAKES[0]]:
            chat.chat.say(said)
        await chat.pilot.pause()
        assert chat.notices.splitlines()[:3] == [f"! {said}" for said in (MISTAKES[6], MISTAKES[7], MISTAKES[0])]
