"""The counter line that `specchat ask` keeps below the text while it grows."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import TextIO

from rich.cells import cell_len, chop_cells

REPAINT_SECONDS = 0.1
USUAL_WIDTH = 80
"""Columns of a terminal that doesn't say how many it has."""

# ECMA-48 and DEC sequences. "Index" goes a row down, scrolling at the bottom, and stays in its column.
_INDEX, _UP, _DOWN, _SAVE, _RESTORE = "\x1bD", "\x1b[A", "\x1b[B", "\x1b7", "\x1b8"
_ERASE = "\x1b[K\x1b[J"
"""Clears from the cursor to the end of the screen: its row first, or tmux would file a cleared screen as history."""


class Place(Enum):
    """Where the line is shown, which depends on where the text goes."""

    NOWHERE = auto()
    BELOW = auto()
    """Below the text, on the same terminal."""
    ALONE = auto()
    """On a terminal that the text doesn't go to."""
    UNTIL_TEXT = auto()
    """Only before the text, which goes through a pipe and perhaps on to the same terminal."""


class LiveLine:
    """Writes text to `out` and a line that changes to `err`.

    Between any two calls the cursor stands where the text ends. `width` gives the terminal's columns.
    """

    def __init__(self, out: TextIO, err: TextIO, place: Place, width: Callable[[], int]) -> None:
        self._out = out
        self._err = err
        self._place = place
        self._width = width
        self._line = ""
        self._painted = False
        self._next_paint = 0.0
        self._has_text = False
        self._column = 0
        """Where the text ends; the width itself where the next character will wrap."""

    def write(self, text: str) -> None:
        """Add to the text."""
        if not text:
            return
        if self._place is Place.UNTIL_TEXT:
            self.clear()
        self._has_text = True
        erased = self._painted and self._place is Place.BELOW
        self._out.write(self._erasure() + text if erased else text)
        self._out.flush()
        self._column = column_after(text, self._column, self._width())
        if erased:
            self._painted = False
            self._paint()

    def paint(self, describe: Callable[[], str]) -> None:
        """Show the line; `describe` gives it, unless it did a moment ago."""
        if self._place is Place.NOWHERE or (self._place is Place.UNTIL_TEXT and self._has_text):
            return
        now = time.monotonic()
        if now >= self._next_paint:
            self._line = describe()
            self._next_paint = now + REPAINT_SECONDS
        elif self._painted:
            return
        self._paint()

    def clear(self) -> None:
        """Take the line away; the next one is shown at once."""
        self._next_paint = 0.0
        if self._painted:
            self._err.write(self._erasure())
            self._err.flush()
            self._painted = False

    def end(self) -> None:
        """Take the line away and end the text's last line where a terminal shows it, or may show it."""
        self.clear()
        stream = self._err if self._place is Place.UNTIL_TEXT else self._out
        if self._column and stream.isatty():
            stream.write("\n")
            stream.flush()

    def _paint(self) -> None:
        width = self._width()
        if self._is_below and self._column >= width - 1:
            # No terminal could be told to go back to where the next character wraps. And in the last column a tab
            # leaves the cursor on the character before it, which erasing the line would take away.
            return
        # One cell stays free, or the cursor would wait behind the last column.
        line = next(iter(chop_cells(self._line, width - 1)), "") if width > 1 else ""
        # The row below is made before the place is saved: making it may scroll, and a saved place doesn't move.
        there, back = (f"{_INDEX}{_UP}{_SAVE}\r{_DOWN}", _RESTORE) if self._is_below else ("\r", "\r")
        self._err.write(there + line + _ERASE + back)
        self._err.flush()
        self._painted = True

    @property
    def _is_below(self) -> bool:
        """Whether the line goes into the row after the cursor's; else into the cursor's own, which is empty."""
        return self._place is Place.BELOW and self._column > 0

    def _erasure(self) -> str:
        """What takes away the painted line."""
        return _ERASE if self._is_below else f"\r{_ERASE}"


def column_after(text: str, column: int, width: int) -> int:
    """Where the cursor stands after `text` that began at `column`: 0 … `width`, which is behind the last one."""
    if "\n" in text:
        column = 0
    for char in text.rpartition("\n")[2]:
        if char == "\t":
            column = min(column // 8 * 8 + 8, width - 1)
            continue
        cells = cell_len(char)
        column = cells if column + cells > width else column + cells
    return column


def on_terminal(*, with_text: bool, shown: bool = True) -> LiveLine:
    """The line of this process's standard error, for a text on standard output if there is one.

    One that isn't `shown` writes the text only.
    """
    place = _place(sys.stdout, sys.stderr, with_text) if shown else Place.NOWHERE
    return LiveLine(sys.stdout, sys.stderr, place, lambda: _columns(sys.stderr))


def _place(out: TextIO, err: TextIO, with_text: bool) -> Place:
    if not err.isatty() or os.environ.get("TERM") == "dumb" or _is_old_console():
        return Place.NOWHERE
    if not with_text:
        return Place.ALONE
    if out.isatty():
        return Place.BELOW
    mode = os.fstat(out.fileno()).st_mode
    return Place.UNTIL_TEXT if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else Place.ALONE


def _is_old_console() -> bool:
    """Whether this is a console of Windows that takes escape sequences for text."""
    if sys.platform != "win32":
        return False
    from rich.console import detect_legacy_windows

    return detect_legacy_windows()


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH
