"""The line below the text: where it stands, that it goes, and that the text stays whole."""

from __future__ import annotations

import random
from io import StringIO

import pytest

from specchat.app import live
from specchat.app.live import LiveLine, Place, column_after
from support.screen import Screen, Terminal

LINE = "31.4 tok/s · 2.9 each"
ALPHABET = [*"abcdefg", *"  ", "\n", "\n\n", "\t", "漢", "🙂", "é", "e\u0301", "word ", "x" * 30]


def on(screen: Screen, width: int = 20) -> LiveLine:
    """A line below the text, both on `screen`."""
    return LiveLine(Terminal(screen), Terminal(screen), Place.BELOW, lambda: width)


def shown(text: str, width: int, height: int) -> Screen:
    """What `text` alone looks like."""
    screen = Screen(width, height)
    screen.feed(text)
    return screen


# ------------------------------------------------------------------ on the text's terminal


@pytest.mark.parametrize("seed", range(60))
def test_the_text_stays_whole_and_the_line_below_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REPAINT_SECONDS", 0.0)
    dice = random.Random(seed)
    width, height = dice.randint(4, 40), dice.randint(2, 6)
    screen, text, painted = Screen(width, height), "", 0
    line = on(screen, width)
    for number in range(60):
        fragment = "".join(dice.choices(ALPHABET, k=dice.randint(0, 4)))
        text += fragment
        line.write(fragment)
        line.paint(lambda number=number: f"{number} {LINE}")  # type: ignore[misc]
        alone = shown(text, width, height)
        row, column = alone.cursor
        assert screen.cursor == (row, column)
        if column < width - 1:
            below = row + (column > 0)
            assert screen.lines[below] == f"{number} {LINE}"[: width - 1].rstrip()
            assert screen.lines[:below] == (alone.lines + [""] * below)[:below]
            assert len(screen.lines) == below + 1
            painted += 1
    assert painted > 20
    line.end()
    assert screen.lines == alone.lines
    assert screen.cursor[1] == 0


def test_it_stays_while_text_comes_faster_than_it_is_painted() -> None:
    screen = Screen(20, 5)
    line = on(screen)
    line.write("Once")
    line.paint(lambda: "first")
    line.write(" upon")
    assert screen.lines == ["Once upon", "first"]
    line.paint(lambda: "too early")
    line.write(" a time\n")
    assert screen.lines == ["Once upon a time", "first"]


def test_it_changes_when_its_time_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("specchat.app.live.time.monotonic", lambda: now)
    screen = Screen(20, 5)
    line = on(screen)
    line.paint(lambda: "first")
    line.paint(lambda: "too early")
    assert screen.lines == ["first"]
    now += live.REPAINT_SECONDS
    line.paint(lambda: "next")
    assert screen.lines == ["next"]


def test_after_it_was_cleared_the_next_one_comes_at_once() -> None:
    screen = Screen(20, 5)
    line = on(screen)
    line.paint(lambda: "reading")
    line.clear()
    assert screen.lines == []
    line.paint(lambda: "writing")
    assert screen.lines == ["writing"]


def test_a_line_on_the_last_row_scrolls_the_text_up_and_leaves_nothing_above() -> None:
    screen = Screen(10, 3)
    line = on(screen, 10)
    for text in ("one\n", "two\n", "three\n", "four"):
        line.write(text)
        line.paint(lambda: "LIVE")
    assert screen.lines == ["one", "two", "three", "four", "LIVE"]
    line.end()
    assert screen.lines == ["one", "two", "three", "four"]


def test_what_the_terminal_has_grown_too_narrow_for_is_left_out_for_now() -> None:
    screen, width = Screen(20, 5), 20
    line = LiveLine(Terminal(screen), Terminal(screen), Place.BELOW, lambda: width)
    line.write("fifteen columns")
    width = 10
    line.paint(lambda: "LIVE")
    assert screen.lines == ["fifteen columns"]
    line.write("\nnext")
    line.paint(lambda: "LIVE")
    assert screen.lines == ["fifteen columns", "next", "LIVE"]


@pytest.mark.parametrize("text", ["", "whole line\n"])
def test_a_text_that_ends_with_its_line_gets_no_other_end(text: str) -> None:
    screen = Screen(20, 5)
    line = on(screen)
    line.write(text)
    line.end()
    assert screen.cursor == (text.count("\n"), 0)


# ------------------------------------------------------------------ elsewhere


def test_a_text_in_a_file_leaves_the_terminal_to_the_line() -> None:
    screen, file = Screen(10, 3), StringIO()
    line = LiveLine(file, Terminal(screen), Place.ALONE, lambda: 10)
    line.write("Once upon\na time")
    line.paint(lambda: "漢字 is longer than that")
    assert (screen.lines, screen.cursor) == (["漢字 is l"], (0, 0))
    line.write(" there")
    assert screen.lines == ["漢字 is l"]
    line.end()
    assert (screen.lines, screen.cursor) == ([], (0, 0))
    assert file.getvalue() == "Once upon\na time there"


def test_a_text_in_a_pipe_may_come_out_on_the_terminal_so_it_ends_the_line() -> None:
    screen, pipe = Screen(20, 3), StringIO()
    line = LiveLine(pipe, Terminal(screen), Place.UNTIL_TEXT, lambda: 20)
    line.paint(lambda: "loading")
    assert screen.lines == ["loading"]
    line.write("Once")
    line.paint(lambda: "writing")
    assert (screen.lines, screen.cursor) == ([], (0, 0))
    line.end()
    assert (pipe.getvalue(), screen.cursor) == ("Once", (1, 0))


def test_where_no_line_can_be_there_is_none() -> None:
    out, err = StringIO(), StringIO()
    line = LiveLine(out, err, Place.NOWHERE, lambda: 80)
    line.paint(lambda: "loading")
    line.write("Once")
    line.end()
    assert (out.getvalue(), err.getvalue()) == ("Once", "")


def test_a_terminal_without_a_moving_cursor_gets_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(20, 3)
    monkeypatch.setattr("sys.stdout", Terminal(screen))
    monkeypatch.setattr("sys.stderr", Terminal(screen))
    monkeypatch.setenv("TERM", "dumb")
    line = live.on_terminal(with_text=True)
    line.paint(lambda: "loading")
    line.write("Once")
    line.end()
    assert (screen.lines, screen.cursor) == (["Once"], (1, 0))


# ------------------------------------------------------------------ columns


@pytest.mark.parametrize(
    ("text", "column", "after"),
    [
        ("abc", 0, 3),
        ("abc", 8, 1),
        ("ab", 8, 10),
        ("c", 10, 1),
        ("a\nbc", 7, 2),
        ("a\n", 7, 0),
        ("漢", 8, 10),
        ("漢", 9, 2),
        ("\t", 0, 8),
        ("\t", 8, 9),
        ("e\u0301", 0, 1),
        ("x" * 25, 0, 5),
    ],
)
def test_the_column_after_a_text(text: str, column: int, after: int) -> None:
    assert column_after(text, column, 10) == after
