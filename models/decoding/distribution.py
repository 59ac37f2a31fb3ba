"""Probability distributions over tokens, carried compactly, and how several are joined by token id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
Probabilities = NDArray[np.floating]

_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Distribution:
    """A law over tokens: `probabilities` (n,) of the token ids `ids` (n,), all others zero.

    `ids` is None for a law over the whole vocabulary, whose position is the token id. Ids need no order.
    """

    ids: Ids | None
    probabilities: Probabilities

    def draw(self, uniform: float) -> int:
        """The token id at `uniform` in [0, 1) of the cumulated probabilities."""
        column = draw_column(self.probabilities, uniform)
        return column if self.ids is None else int(self.ids[column])

    def probability(self, token: int) -> float:
        """Of the token id `token`, which may be any."""
        if self.ids is None:
            return float(self.probabilities[token]) if token < self.probabilities.size else 0.0
        return float(self.probabilities[self.ids == token].sum())

    def probabilities_of(self, tokens: Ids) -> NDArray[np.float64]:
        """Of several token ids (n,), which must be in ascending order and all different."""
        found = np.zeros(tokens.size)
        if self.ids is None:
            known = tokens < self.probabilities.size
            found[known] = self.probabilities[tokens[known]]
            return found
        places = np.minimum(np.searchsorted(tokens, self.ids), tokens.size - 1)
        hits = tokens[places] == self.ids
        found[places[hits]] = self.probabilities[hits]
        return found


def one_hot(token: int) -> Distribution:
    """The law that always gives `token`."""
    return Distribution(np.array([token]), np.ones(1))


def draw_column(weights: Probabilities, uniform: float) -> int:
    """The position at which `uniform` in [0, 1) of the cumulated `weights` (n,) falls.

    Weights need not be normalised. Only a position of positive weight is returned, also where rounding puts
    the threshold past the last of them. A whole vocabulary is cumulated by blocks first, which is ten times faster.
    """
    if weights.size <= 2 * _BLOCK:
        return _position(weights, uniform)[0]
    whole = weights.size // _BLOCK * _BLOCK
    sums = weights[:whole].reshape(-1, _BLOCK).sum(axis=1, dtype=np.float64)
    block, rest = _position(np.append(sums, weights[whole:].sum(dtype=np.float64)), uniform)
    start = block * _BLOCK
    return start + _position(weights[start : start + _BLOCK], rest)[0]


def _position(weights: Probabilities, uniform: float) -> tuple[int, float]:
    """Where `uniform` falls, and how far into that position's weight (0 to 1)."""
    cumulated = np.cumsum(weights, dtype=np.float64)
    threshold = uniform * cumulated[-1]
    column = int(np.searchsorted(cumulated, threshold, side="right"))
    if column == weights.size:
        return int(np.flatnonzero(weights)[-1]), 1.0
    below = cumulated[column - 1] if column else 0.0
    return column, float((threshold - below) / (cumulated[column] - below))


@dataclass(frozen=True, slots=True)
class Joined:
    """The laws of one round over the same columns: p (γ+1, V), q (γ, V), the guesses' columns (γ,).

    `ids` (V,) are the columns' token ids, None where a column is its token's id.
    """

    p: Probabilities
    q: Probabilities
    draft: NDArray[np.int64]
    ids: Ids | None

    def token(self, column: int) -> int:
        """The token id of a column."""
        return column if self.ids is None else int(self.ids[column])


def join(p: Sequence[Distribution], q: Sequence[Distribution], guesses: Sequence[int]) -> Joined:
    """Bring a round's laws to common columns: the union of their supports, or the whole vocabulary."""
    laws = (*p, *q)
    drafted = np.array(guesses, dtype=np.int64)
    if any(law.ids is None for law in laws):
        width = max(law.probabilities.size for law in laws if law.ids is None)
        rows = _dense_rows(laws, width)
        return Joined(rows[: len(p)], rows[len(p) :], drafted, None)
    ids, columns = np.unique(np.concatenate([law.ids for law in laws if law.ids is not None]), return_inverse=True)
    rows = np.zeros((len(laws), ids.size))
    rows[np.repeat(np.arange(len(laws)), [law.probabilities.size for law in laws]), columns] = np.concatenate(
        [law.probabilities for law in laws]
    )
    return Joined(rows[: len(p)], rows[len(p) :], np.searchsorted(ids, drafted), ids)


def _dense_rows(laws: Sequence[Distribution], width: int) -> Probabilities:
    rows = np.zeros((len(laws), width), dtype=np.float32)
    for row, law in zip(rows, laws, strict=True):
        if law.ids is None:
            row[: law.probabilities.size] = law.probabilities
        else:
            row[law.ids] = law.probabilities
    return rows
