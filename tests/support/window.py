"""What a program that paints the whole screen has on it now. It knows the few sequences that Textual paints with."""

from __future__ import annotations

import codecs
import re

from rich.cells import cell_len

SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\)"  # OSC and other strings
    r"|\x1b[ -/]*[0-Z\\^_`-~]",
    re.DOTALL,
)
"""One whole escape sequence (ECMA-48, §5.4 and §5.6)."""
_WORD = re.compile(f"(?P<sequence>{SEQUENCE.pattern})|(?P<begun>\x1b.*)|(?P<char>.)", re.DOTALL)
_PLACE = re.compile(r"\x1b\[(\d+);(\d+)H")


class Window:
    """Rows of cells. Colours and modes are passed over."""

    def __init__(self, columns: int, rows: int) -> None:
        self._rows = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        """The beginning of an escape sequence."""

    @property
    def text(self) -> str:
        """A line for each row."""
        return "\n".join("".join(row).rstrip() for row in self._rows)

    def feed(self, output: bytes) -> None:
        """Take in what the program wrote next, in fragments of any kind."""
        text = self._begun + self._decoder.decode(output)
        self._begun = ""
        for word in _WORD.finditer(text):
            if char := word["char"]:
                self._show(char)
            elif begun := word["begun"]:
                self._begun = begun
            elif place := _PLACE.fullmatch(word["sequence"]):
                self._row, self._column = int(place[1]) - 1, int(place[2]) - 1

    def _show(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\n":
            self._row += 1
        elif self._row < len(self._rows):
            row, cells = self._rows[self._row], cell_len(char)
            if cells and self._column + cells <= len(row):
                row[self._column : self._column + cells] = [char, *[""] * (cells - 1)]
                self._column += cells
