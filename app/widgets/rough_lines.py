"""Lines of a long text of which only those that somebody looks at are laid out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from rich.cells import cell_len
from textual.strip import Strip

from specchat.app.widgets.markdown import Piece

LayOut = Callable[[Piece, bool], list[Strip]]
"""Lays out a piece; whether it is the first one."""


class Look(NamedTuple):
    """What looking at some lines did to them."""

    is_new: bool
    """Whether any of them had to be laid out."""
    grown_above: int
    """How many lines there are more above those that were to keep their place."""


class RoughLines:
    """The lines of `pieces` at some width: blank ones, about as many as each will take, until they are looked at."""

    def __init__(self, pieces: Sequence[Piece], lay_out: LayOut, width: int) -> None:
        self._pieces = pieces
        self._lay_out = lay_out
        self._counts = [_rough_count(piece, width) for piece in pieces]
        self._ends = list(accumulate(self._counts))
        self._rough = set(range(len(pieces)))
        self.lines = [Strip.blank(width)] * (self._ends[-1] if pieces else 0)

    def look(self, top: int, bottom: int, keep: int) -> Look:
        """Lay out what begins, or goes on, in the rows from `top` up to `bottom`; `keep` is one of them."""
        is_new, grown_above = False, 0
        place = bisect_right(self._ends, max(top, 0))
        while self._rough and place < len(self._pieces) and self._start(place) < bottom + grown_above:
            if place in self._rough:
                is_new = True
                is_above = self._ends[place] <= keep + grown_above
                grown = self._make_exact(place)
                grown_above += grown if is_above else 0
            place += 1
        return Look(is_new, grown_above)

    def _start(self, place: int) -> int:
        return self._ends[place] - self._counts[place]

    def _make_exact(self, place: int) -> int:
        """Lay out a piece; by how many lines it is longer than was thought."""
        start, end = self._start(place), self._ends[place]
        strips = self._lay_out(self._pieces[place], place == 0)
        self.lines[start:end] = strips
        self._rough.discard(place)
        grown = len(strips) - self._counts[place]
        self._counts[place] = len(strips)
        if grown:
            self._ends = list(accumulate(self._counts))
        return grown


def _rough_count(piece: Piece, width: int) -> int:
    """About how many lines a piece takes."""
    lines = piece.source.strip("\n").split("\n")
    rows = sum(max(-(-cell_len(line) // max(width, 1)), 1) for line in lines)
    fences = 2 if piece.kind == "markdown" and lines[0].startswith("```") else 0
    return max(rows - fences, 1) + piece.gap
