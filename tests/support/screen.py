"""A small terminal, to see what a program's output looks like. It obeys what specchat writes, and refuses the rest."""

from __future__ import annotations

import re
from io import StringIO

from rich.cells import cell_len

_WORD = re.compile(r"\x1b\[[0-9;?]*[@-~]|\x1b.|[^\x1b]", re.DOTALL)


class Screen:
    """Rows of cells with a cursor. What scrolls off the top is kept, as terminals do.

    A character in the last column leaves the cursor behind it, and only the next one wraps. A saved cursor forgets
    that it was about to wrap, as on the simplest terminals.
    """

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        self._height = height
        self._rows = [[" "] * width]
        self._top = 0
        """The first row that is on the screen."""
        self._row = 0
        self._column = 0
        self._saved = (0, 0)
        """A row counted from the top, and a column."""

    @property
    def lines(self) -> list[str]:
        """What is on every row, from the first that scrolled off to the last with anything on it."""
        rows = ["".join(row).rstrip() for row in self._rows]
        while rows and not rows[-1]:
            del rows[-1]
        return rows

    @property
    def cursor(self) -> tuple[int, int]:
        """Its row among `lines` and its column, which is the width where the next character wraps."""
        return self._row, self._column

    def feed(self, output: str) -> None:
        """Show `output`. Raises `ValueError` for what this terminal doesn't obey."""
        for word in _WORD.findall(output):
            if word.isprintable():
                self._show(word)
            else:
                self._obey(word)

    def _show(self, char: str) -> None:
        cells = cell_len(char)
        if self._column + cells > self._width:
            self._column = 0
            self._go_down()
        row = self._rows[self._row]
        if cells:
            row[self._column : self._column + cells] = [char, *[""] * (cells - 1)]
        else:
            row[self._column - 1] += char
        self._column += cells

    def _obey(self, word: str) -> None:
        column = min(self._column, self._width - 1)
        match word:
            case "\n":  # of which the terminal's driver makes a return and a line feed
                self._column = 0
                self._go_down()
            case "\r":
                self._column = 0
            case "\t":
                self._column = min(column // 8 * 8 + 8, self._width - 1)
            case "\x1bD":
                self._column = column
                self._go_down()
            case "\x1b7":
                self._saved = (self._row - self._top, column)
            case "\x1b8":
                self._row, self._column = self._saved[0] + self._top, self._saved[1]
            case _:
                self._obey_control(word, column)

    def _obey_control(self, word: str, column: int) -> None:
        """Obey a control sequence where the cursor is in `column`."""
        match word:
            case "\x1b[A":
                self._row, self._column = max(self._row - 1, self._top), column
            case "\x1b[B":
                self._row, self._column = min(self._row + 1, self._top + self._height - 1), column
            case "\x1b[K":
                self._erase(self._row, column)
            case "\x1b[J":
                self._erase(self._row, column)
                for row in range(self._row + 1, len(self._rows)):
                    self._erase(row, 0)
            case _:
                raise ValueError(f"this terminal doesn't know {word!r}")

    def _erase(self, row: int, column: int) -> None:
        self._rows[row][column:] = [" "] * (self._width - column)

    def _go_down(self) -> None:
        self._row += 1
        self._top = max(self._top, self._row - self._height + 1)
        while len(self._rows) <= self._row:
            self._rows.append([" "] * self._width)


class Terminal(StringIO):
    """A stream to a screen. Several may lead to one."""

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen

    def write(self, text: str) -> int:
        self._screen.feed(text)
        return len(text)

    def isatty(self) -> bool:
        return True
