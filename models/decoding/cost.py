"""What plain decoding costs here and now, so that every reply can say what it would be without the draft."""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

DEPTH = 1024
"""Tokens of context that share a measurement."""

FRESH_SECONDS = 60.0
"""Age at which a measurement is taken anew when there is an occasion."""

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
    passes is dearer than those after it: callers leave it out. Machines change their pace, so what is older than
    `FRESH_SECONDS` is dropped as soon as there is something newer.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_depth: dict[int, deque[tuple[float, PlainCost]]] = {}

    def add(self, depth: int, cost: PlainCost) -> None:
        """Take in one plain round with `depth` tokens in the context."""
        kept = self._by_depth.setdefault(depth // DEPTH, deque(maxlen=_KEPT))
        now = self._clock()
        while kept and now - kept[0][0] > FRESH_SECONDS:
            kept.popleft()
        kept.append((now, cost))

    def fresh(self, depth: int) -> bool:
        """Whether this depth was measured lately."""
        kept = self._by_depth.get(depth // DEPTH)
        return kept is not None and self._clock() - kept[-1][0] <= FRESH_SECONDS

    def at(self, depth: int) -> PlainCost | None:
        """The cost at this depth, else at the nearest measured one; None before any measurement."""
        if not self._by_depth:
            return None
        nearest = min(self._by_depth, key=lambda known: abs(known - depth // DEPTH))
        kept = [cost for _, cost in self._by_depth[nearest]]
        return PlainCost(
            statistics.median(cost.pass_seconds for cost in kept),
            statistics.median(cost.sampling_seconds for cost in kept),
        )
