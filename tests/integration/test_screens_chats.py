"""The list of earlier chats."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from specchat.app.chats.records import Chat
from specchat.app.screens.chats import ChatsScreen, when
from support.dialog_host import DialogHost, press, said, settle

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
TITLES = ("Prime numbers", "A sailor and a gull", "[/INST] [@click=app.quit]x[/] \x1b[31m", "", "Großes Gedicht")
CHATS = [Chat(10 + i, title, NOON, NOON - timedelta(days=i)) for i, title in enumerate(TITLES)]


@asynccontextmanager
async def opened(chats: list[Chat] = CHATS, current: int | None = None) -> AsyncIterator[Pilot[None]]:
    async with DialogHost(ChatsScreen(chats, current)).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        yield pilot


def rows(pilot: Pilot[None]) -> list[str]:
    return [option.prompt.plain for option in pilot.app.screen.query_one(OptionList).options]


async def test_titles_and_dates_are_listed_as_plain_text() -> None:
    async with opened(current=11) as pilot:
        assert rows(pilot) == [
            f"  {when(CHATS[0].changed)}  Prime numbers",
            f"▸ {when(CHATS[1].changed)}  A sailor and a gull",
            f"  {when(CHATS[2].changed)}  [/INST] [@click=app.quit]x[/] \\x1b[31m",
            f"  {when(CHATS[3].changed)}  without a title",
            f"  {when(CHATS[4].changed)}  Großes Gedicht",
        ]
        assert said(pilot) == ""


def test_dates_are_those_of_this_machine() -> None:
    assert when(NOON) == NOON.astimezone().strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("prim", [0]),
        ("GULL sail", [1]),
        ("grosses", [4]),
        ("PRİME", [0]),
        ("sAılor", [1]),
        ("[@click", [2]),
        ("l", [1, 2]),
        ("zzz", []),
    ],
)
async def test_typing_narrows_the_list_down(typed: str, found: list[int]) -> None:
    async with opened() as pilot:
        before = rows(pilot)
        await press(pilot, *typed)
        assert rows(pilot) == [before[i] for i in found]
        assert said(pilot) == ("" if found else "No chat's title holds that.")
        await press(pilot, *["backspace"] * len(typed))
        assert rows(pilot) == before


@pytest.mark.parametrize(
    ("keys", "id"),
    [
        ((), 10),
        (("down",), 11),
        (("down", "down", "up"), 11),
        (("pagedown",), 14),
        (("pagedown", "pageup"), 10),
        (("g", "u"), 11),
    ],
)
async def test_enter_opens_the_chat_under_the_cursor(keys: tuple[str, ...], id: int) -> None:
    async with opened() as pilot:
        await press(pilot, *keys, "enter")
        assert pilot.app.result == id


async def test_a_click_opens_a_chat() -> None:
    async with opened() as pilot:
        await pilot.click(OptionList, offset=(30, 1))
        await settle(pilot)
        assert pilot.app.result == 11


async def test_escape_opens_none() -> None:
    async with opened() as pilot:
        await press(pilot, "down", "escape")
        assert pilot.app.result is None


async def test_without_chats_it_says_so_and_enter_does_nothing() -> None:
    async with opened([]) as pilot:
        assert said(pilot) == "There are no earlier chats yet."
        await press(pilot, "enter", "down", "escape")
        assert pilot.app.result is None
