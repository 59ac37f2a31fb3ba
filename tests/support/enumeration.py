"""Every outcome of a program that draws at random, with its probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from specchat.models.decoding import distribution, verification

T = TypeVar("T")


class _Dice:
    """Draws what a path says, by the places of what is possible, and the first of it beyond the path's end."""

    def __init__(self, path: list[int]) -> None:
        self._path = path
        self.taken: list[tuple[int, int]] = []
        """For each draw, which possibility it was, of how many."""
        self.chance = 1.0

    def draw(self, weights: NDArray[np.floating], _uniform: float) -> int:
        possible = np.flatnonzero(weights)
        number = len(self.taken)
        place = self._path[number] if number < len(self._path) else 0
        self.taken.append((place, possible.size))
        self.chance *= float(weights[possible[place]]) / float(weights.sum())
        return int(possible[place])

    def next_path(self) -> list[int] | None:
        """The path to what was not drawn yet, in order; None after the last."""
        taken = list(self.taken)
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        return [*(place for place, _ in taken[:-1]), taken[-1][0] + 1] if taken else None


def outcomes(program: Callable[[], T]) -> Iterator[tuple[T, float]]:
    """What `program` returns, for each way in which its draws by `draw_column` may turn out, and how likely that is.

    It must do the same each time but for its draws.
    """
    path: list[int] | None = []
    while path is not None:
        dice = _Dice(path)
        with _drawing(dice):
            result = program()
        yield result, dice.chance
        path = dice.next_path()


@contextmanager
def _drawing(dice: _Dice) -> Iterator[None]:
    with patch.object(distribution, "draw_column", dice.draw), patch.object(verification, "draw_column", dice.draw):
        yield
