"""The counter line that `specchat ask` keeps below the text while it grows."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

from rich.cells import cell_len, chop_cells

REPAINT_SECONDS = 0.1

_ERASE_BELOW = "\x1b[J"
_ERASE_LINE = "\r\x1b[K"


class LiveLine:
    """Writes text to `out` and a line that changes to `err`, also where both are the same terminal.

    There, the line stands below the text: after painting it the cursor goes back to where the text ends. The
    line is left out where `err` is no terminal, or one that can't move its cursor.
    """

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out = out
        self._err = err
        self._shown = err.isatty() and os.environ.get("TERM") != "dumb"
        self._below = self._shown and out.isatty()
        self._width = shutil.get_terminal_size().columns
        self._column = 0
        self._painted = False
        self._next_paint = 0.0

    def write(self, text: str) -> None:
        """Add to the text."""
        if not text:
            return
        self.clear()
        self._out.write(text)
        self._out.flush()
        self._column = self._column_after(text)

    def paint(self, describe: Callable[[], str]) -> None:
        """Show the line that `describe` gives, unless the last one was shown a moment ago."""
        if not self._shown or time.monotonic() < self._next_paint or self._column >= self._width:
            return
        line = next(iter(chop_cells(describe(), self._width - 1)), "")
        back = f"\x1b[A\x1b[{self._column + 1}G" if self._below else ""
        self._err.write(f"\n{_ERASE_LINE}{line}{back}" if self._below else f"{_ERASE_LINE}{line}")
        self._err.flush()
        self._painted = True
        self._next_paint = time.monotonic() + REPAINT_SECONDS

    def clear(self) -> None:
        """Take the line away."""
        if self._painted:
            self._err.write(_ERASE_BELOW if self._below else _ERASE_LINE)
            self._err.flush()
            self._painted = False

    def end(self) -> None:
        """Take the line away and end the text's last line on a terminal."""
        self.clear()
        if self._out.isatty() and self._column:
            self._out.write("\n")
            self._out.flush()

    def _column_after(self, text: str) -> int:
        """Where the cursor stands after `text`; the width itself where the next character will wrap."""
        column = 0 if "\n" in text else self._column
        for char in text.rpartition("\n")[2]:
            if char == "\t":
                column = min(column // 8 * 8 + 8, self._width - 1)
                continue
            cells = cell_len(char)
            column = cells if column + cells > self._width else column + cells
        return column


def on_terminal() -> LiveLine:
    """One for this process's standard output and error."""
    return LiveLine(sys.stdout, sys.stderr)
