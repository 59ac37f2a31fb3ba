"""A long text whose lines are made when somebody looks at them."""

from __future__ import annotations

import random

import pytest
from textual.strip import Strip

from specchat.app.widgets.layout import lay_out
from specchat.app.widgets.markdown import Piece
from specchat.app.widgets.rough_lines import RoughLines

WIDTH = 20
PIECES = [
    Piece(f"# Title {number}\n" if number % 5 == 0 else f"{number} " + "word " * (number % 17), gap=number % 3 != 0)
    for number in range(100)
]


class Rough(RoughLines):
    """Knows how often a piece was laid out."""

    def __init__(self) -> None:
        self.laid: list[Piece] = []
        super().__init__(PIECES, self._strips, WIDTH)

    def _strips(self, piece: Piece, first: bool) -> list[Strip]:
        self.laid.append(piece)
        lines = [Strip(line) for line in lay_out(piece, WIDTH, dark=True)]
        return lines if first or not piece.gap else [Strip([]), *lines]

    @property
    def text(self) -> list[str]:
        return [line.text.rstrip() for line in self.lines]


def exact() -> list[str]:
    """All lines, looked at from the first to the last."""
    rough = Rough()
    while rough.look(0, len(rough.lines) + 1, 0).is_new:
        pass
    return rough.text


def test_nothing_is_laid_out_before_it_is_looked_at() -> None:
    rough = Rough()
    assert len(rough.lines) > 200
    assert (rough.laid, set(rough.text)) == ([], {""})


def test_what_is_looked_at_is_exact_and_nothing_else_is() -> None:
    rough = Rough()
    assert rough.look(0, 10, 0).is_new
    assert rough.text[:10] == exact()[:10]
    assert len(rough.laid) < 8
    laid = len(rough.laid)
    assert not rough.look(0, 10, 0).is_new
    assert len(rough.laid) == laid


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_order_the_lines_are_the_same_in_the_end(seed: int) -> None:
    dice, rough = random.Random(seed), Rough()
    while len(rough.laid) < len(PIECES):
        top = dice.randrange(len(rough.lines))
        rough.look(top, top + dice.randrange(1, 30), top)
    assert rough.text == exact()
    assert len({id(piece) for piece in rough.laid}) == len(PIECES)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_to_keep_its_place_is_moved_down_by_what_has_grown_above(seed: int) -> None:
    dice, rough = random.Random(seed), Rough()
    for _look in range(30):
        keep = dice.randrange(len(rough.lines))
        rough.look(keep, keep + 1, keep)  # as what is on the screen was looked at before
        kept = rough.lines[keep]
        look = rough.look(keep - 40, keep + 40, keep)
        assert rough.lines[keep + look.grown_above] is kept
