"""Chats with more in them than anybody looks at."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.selection import Selection

from specchat.app.chats.records import Message
from specchat.app.widgets import layout, transcript
from specchat.app.widgets.markdown import Piece
from specchat.app.widgets.prose import Prose
from specchat.app.widgets.rough_lines import RoughLines
from support.chatting import Chatting, chatting, loaded

TURNS = 12
PARTS = 120
"""Of a reply. Each begins with a number of its own, and takes more or fewer lines than one would think."""


def part(number: int) -> str:
    text = f"mark{number:05} " + f"**{'word ' * (number % 30)}x**" * (number % 2)
    return [text, f"# {text}", f"- {text}\n- and more", f"```python\n{text}\n```", f"> {text}"][number % 5]


def reply(turn: int) -> str:
    return "\n\n".join(part(turn * PARTS + number) for number in range(PARTS))


async def open_long(chat: Chatting) -> None:
    """Open a chat with replies of some 10 kB each."""
    await loaded(chat)
    store = chat.conversation.store
    opened, _said = await store.start_chat("long", "again")
    for turn in range(TURNS):
        await store.save(Message(0, opened.id, "assistant", reply(turn), model="big-00001-of-00002.gguf"))
        await store.save(Message(0, opened.id, "user", "again"))
    await chat.pilot.press("f7", "enter")
    await chat.until(lambda: f"mark{TURNS * PARTS - 1:05}" in chat.text)


def marks(chat: Chatting) -> list[int]:
    """The numbers of the parts that begin on the screen, from the top."""
    return [int(number) for number in re.findall(r"mark(\d+)", chat.text)]


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all the pieces that were laid out."""
    lengths: list[int] = []

    def counting(piece: Piece, width: int, dark: bool) -> list[layout.Line]:
        lengths.append(len(piece.source))
        return lay_out(piece, width, dark)

    lay_out = layout.lay_out
    monkeypatch.setattr(layout, "lay_out", counting)
    return lengths


async def test_only_what_is_near_the_screen_is_laid_out(tmp_path: Path, laid_out: list[int]) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await open_long(chat)
        everything = sum(len(reply(turn)) for turn in range(TURNS))
        assert sum(laid_out) < everything / 10
        for columns in (70, 130):
            laid_out.clear()
            await chat.pilot.resize_terminal(columns, 24)
            await chat.until(lambda: laid_out and marks(chat)[-1:] == [TURNS * PARTS - 1])
            assert sum(laid_out) < everything / 10


async def page(chat: Chatting, key: str) -> range:
    """Turn a page; the parts that begin on the screen then, which must be in their order."""
    await chat.pilot.press(key)
    await chat.pilot.pause()
    seen = marks(chat)
    assert seen == list(range(seen[0], seen[-1] + 1))
    return range(seen[0], seen[-1] + 1)


async def test_going_up_and_down_shows_all_of_it_in_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "SHOWN_CHARACTERS", 20_000)
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await open_long(chat)
        first, last = marks(chat)[0], TURNS * PARTS - 1
        while first > 0:
            await chat.until(lambda: not chat.transcript._is_filling)
            seen = await page(chat, "pageup")
            assert seen.start <= first <= seen.stop
            first = seen.start
        while seen.stop <= last:
            before, seen = seen, await page(chat, "pagedown")
            assert before.start <= seen.start <= before.stop


async def test_what_is_on_the_screen_moves_by_as_much_as_one_scrolls(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await open_long(chat)
        for _step in range(150):
            before = chat.text.splitlines()
            chat.transcript.scroll_relative(y=-2, animate=False)
            await chat.pilot.pause()
            await chat.pilot.pause()
            assert chat.text.splitlines()[3:16] == before[1:14]


async def test_a_place_is_kept_while_earlier_messages_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "SHOWN_CHARACTERS", 20_000)
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await open_long(chat)
        shown = len(chat.views)
        assert shown < TURNS
        chat.transcript.scroll_home(animate=False)
        await chat.until(lambda: len(chat.views) > shown and not chat.transcript._is_filling)
        assert marks(chat)[0] == (TURNS - shown // 2) * PARTS
        assert chat.transcript.scroll_y > 0


async def test_all_of_a_long_text_can_be_copied(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await open_long(chat)
        prose = chat.replies[-1].query_one(Prose)
        assert isinstance(prose._rough, RoughLines)
        selected = prose.get_selection(Selection(None, None))
        assert selected is not None
        numbers = [int(number) for number in re.findall(r"mark(\d+)", selected[0])]
        assert numbers == list(range((TURNS - 1) * PARTS, TURNS * PARTS))


async def test_who_wrote_a_reply_is_shown_when_it_is_opened_again(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await open_long(chat)
        await chat.pilot.press("tab", "up", "up")
        await chat.until(lambda: re.search(r"^ *▌? *big$", chat.text, re.MULTILINE))


@pytest.mark.parametrize("begin", [lambda chat: chat.pilot.pause(), lambda chat: chat.pilot.press("ctrl+n")])
async def test_the_beginning_of_a_new_chat_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: Callable[[Chatting], object]
) -> None:
    monkeypatch.setattr(transcript, "MOST_SHOWN", 8)
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await begin(chat)  # type: ignore[misc]
        await chat.until(lambda: not any(worker.group == "chats" for worker in chat.pilot.app.workers))
        for number in range(6):
            await chat.send(f"{number}")
            await chat.until(lambda number=number: len(chat.conversation.messages) == 2 * number + 2)  # type: ignore[misc]
            await chat.until(lambda: chat.transcript.is_vertical_scroll_end)
        assert len(chat.views) < 12
        assert "earlier message" in str(chat.transcript.children[0].render())
        chat.transcript.scroll_home(animate=False)
        await chat.until(lambda: len(chat.views) == 12)
        assert [view.raw for view in chat.views[::2]] == ["0", "1", "2", "3", "4", "5"]
