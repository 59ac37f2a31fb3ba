"""What plain decoding costs here and now, so that every reply can say what it would be without the draft."""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass

DEPTH = 1024
"""Tokens of context that share a measurement."""

_KEPT = 15


@dataclass(frozen=True, slots=True)
class PlainCost:
    """Seconds of one plain round: the pass over one token, V(1), and sampling from it."""

    pass_seconds: float
    sampling_seconds: float

    @property
    def seconds(self) -> float:
        """Of the round."""
        return self.pass_seconds + self.sampling_seconds


class PlainCosts:
    """Medians of the latest plain rounds, by depth of context.

    llama.cpp reuses its compute graph while the shape of the pass stays the same, so the first of several plain
    passes is dearer than those after it: callers leave it out.
    """

    def __init__(self) -> None:
        self._by_depth: dict[int, deque[PlainCost]] = {}

    def add(self, depth: int, cost: PlainCost) -> None:
        """Take in one plain round with `depth` tokens in the context."""
        self._by_depth.setdefault(depth // DEPTH, deque(maxlen=_KEPT)).append(cost)

    def known(self, depth: int) -> bool:
        """Whether this depth was measured."""
        return depth // DEPTH in self._by_depth

    def at(self, depth: int) -> PlainCost | None:
        """The cost at this depth, else at the nearest measured one; None before any measurement."""
        if not self._by_depth:
            return None
        nearest = min(self._by_depth, key=lambda known: abs(known - depth // DEPTH))
        kept = self._by_depth[nearest]
        return PlainCost(
            statistics.median(cost.pass_seconds for cost in kept),
            statistics.median(cost.sampling_seconds for cost in kept),
        )
