"""What passes of one model cost here and now, by their width and by the depth of context: the measured V(n).

A pass takes `scale · v(width) · b(depth)` seconds: what the machine does just now, what a width costs, and what a
long context adds. Each factor is followed as the mean and the variance of its logarithm (a Kalman filter; the three
share each surprise in proportion to their variances, and correlations are left out). So one measurement at one width
tells about all of them when a machine turns slow, and many at one width tell about that width.
"""

from __future__ import annotations

import math
import time
from bisect import bisect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

DEPTH = 1024
"""Tokens of context that share a factor."""

FRESH_SECONDS = 60.0
"""Age at which a measurement is taken anew when there is an occasion."""

WIDEST = 64
"""Tokens of the widest pass that is measured; wider ones read a prompt."""

_NOISE = 0.1**2
"""Variance of a measured logarithm: one pass differs from the next by a tenth."""
_DRIFT = 0.04**2
"""Variance that the scale gains each second: a machine may change its pace by a third within a minute."""
_UNSURE = 0.5**2
"""Variance of what is only guessed: a width between others, a scale after a long time."""
_DEEPER = 0.2**2
"""Variance of what another depth adds."""
_SUREST = 0.01**2
"""Variance that a width keeps, so that it can still change. Small, since it's mostly the machine that does."""
_CLIP = 2.5
"""Surprises beyond so many standard deviations count as that much: a rare slow pass must not move the mean."""
_OUTLIER = math.log(4)
"""A surprise beyond this is left out, such as a pass in which the machine slept, until it comes a third time."""
_SLOPE = 0.25
"""Guessed cost of a further token relative to the first, where only one width is known."""
_WORTH_PADDING = 0.97
"""A pass is widened where the wider one costs at most this share: less is noise."""


@dataclass(frozen=True, slots=True)
class WidthCost:
    """A pass over `width` tokens takes `seconds`, by `count` measurements."""

    width: int
    seconds: float
    count: int


@dataclass(frozen=True, slots=True)
class DepthFactor:
    """At `depth` tokens of context a pass takes `factor` times as long as at none, by `count` measurements."""

    depth: int
    factor: float
    count: int


@dataclass(frozen=True, slots=True)
class CostTable:
    """What passes of one model cost on one machine, in a form to be kept: by width, and by depth of context."""

    widths: tuple[WidthCost, ...]
    depths: tuple[DepthFactor, ...]


@dataclass(frozen=True, slots=True)
class PaddedPass:
    """A pass of `width` tokens, padding among them, takes `seconds`."""

    width: int
    seconds: float


@dataclass(slots=True)
class _Factor:
    """The logarithm of a factor: its mean, how sure it is, and by how many measurements."""

    mean: float
    variance: float
    count: int = 0


class PassCosts:
    """Follows one model's passes. All times are seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._scale = _Factor(0.0, 0.0)
        self._widths: dict[int, _Factor] = {}
        self._depths: dict[int, _Factor] = {0: _Factor(0.0, 0.0)}
        self._latest = clock()
        self._outliers = 0
        self._measured: dict[tuple[int, int], float] = {}

    def add(self, width: int, depth: int, seconds: float) -> None:
        """Take in one pass over `width` tokens after `depth` others."""
        now = self._clock()
        if width > WIDEST or seconds <= 0:
            return
        self._scale.variance = min(self._scale.variance + _DRIFT * (now - self._latest), _UNSURE)
        self._latest = now
        factors = (self._scale, self._width(width, seconds), self._depth(depth))
        surprise = math.log(seconds) - sum(factor.mean for factor in factors)
        if surprise > _OUTLIER and self._outliers < 2:
            self._outliers += 1
            return
        self._outliers = 0
        self._measured[width, depth // DEPTH] = now
        _share(factors, surprise)

    def seconds(self, width: int, depth: int) -> float | None:
        """A pass over `width` tokens after `depth` others; None while nothing is known."""
        if not self._widths:
            return None
        return self._between(width) * math.exp(self._scale.mean + self._nearest(depth).mean)

    def cheapest(self, most: int, depth: int) -> list[PaddedPass]:
        """For 1, 2, … `most` tokens, the pass that takes them at least cost, padded where a wider one costs less.

        Empty while nothing is known.
        """
        if not self._widths:
            return []
        factor = math.exp(self._scale.mean + self._nearest(depth).mean)
        passes = [PaddedPass(width, self._between(width) * factor) for width in range(1, most + 1)]
        best = passes[-1]
        for i in range(most - 1, -1, -1):
            is_measured = passes[i].width in self._widths
            if best.seconds < passes[i].seconds * _WORTH_PADDING:
                passes[i] = best
            elif is_measured:
                best = passes[i]
        return passes

    def is_fresh(self, width: int, depth: int) -> bool:
        """Whether this was measured lately."""
        measured = self._measured.get((width, depth // DEPTH))
        return measured is not None and self._clock() - measured <= FRESH_SECONDS

    def count(self, width: int) -> int:
        """How often a width was measured."""
        return self._widths[width].count if width in self._widths else 0

    def table(self) -> CostTable:
        """What is known, to be kept."""
        scale = math.exp(self._scale.mean)
        return CostTable(
            tuple(WidthCost(w, math.exp(f.mean) * scale, f.count) for w, f in sorted(self._widths.items())),
            tuple(DepthFactor(d * DEPTH, math.exp(f.mean), f.count) for d, f in sorted(self._depths.items()) if d),
        )

    def restore(self, table: CostTable) -> None:
        """Begin with what was kept; how fast the machine is now, the next passes will tell."""
        for cost in table.widths:
            variance = max(_NOISE / max(cost.count, 1), _SUREST)
            self._widths[cost.width] = _Factor(math.log(cost.seconds), variance, cost.count)
        for known in table.depths:
            self._depths[known.depth // DEPTH] = _Factor(math.log(known.factor), _SUREST, known.count)
        self._scale = _Factor(0.0, _UNSURE)

    def _width(self, width: int, seconds: float) -> _Factor:
        if width not in self._widths:
            guess = self._between(width) if self._widths else seconds
            self._widths[width] = _Factor(math.log(guess), _UNSURE)
        return self._widths[width]

    def _depth(self, depth: int) -> _Factor:
        if depth // DEPTH not in self._depths:
            self._depths[depth // DEPTH] = _Factor(self._nearest(depth).mean, _DEEPER)
        return self._depths[depth // DEPTH]

    def _nearest(self, depth: int) -> _Factor:
        return self._depths[min(self._depths, key=lambda known: abs(known - depth // DEPTH))]

    def _between(self, width: int) -> float:
        """v(width), on straight lines through the known ones, and beyond them on the line through the outermost."""
        if known := self._widths.get(width):
            return math.exp(known.mean)
        widths = sorted(self._widths)
        place = bisect(widths, width)
        if place == 0:
            return math.exp(self._widths[widths[0]].mean)
        below, cost = widths[place - 1], math.exp(self._widths[widths[place - 1]].mean)
        if place < len(widths):
            above = widths[place]
            return cost + (width - below) / (above - below) * (math.exp(self._widths[above].mean) - cost)
        first, start = widths[0], math.exp(self._widths[widths[0]].mean)
        slope = (cost - start) / (below - first) if below > first else _SLOPE * start / first
        return cost + max(slope, 0.0) * (width - below)


def _share(factors: Iterable[_Factor], surprise: float) -> None:
    """Move each factor by its share of the surprise."""
    factors = list(factors)
    total = _NOISE + sum(factor.variance for factor in factors)
    most = _CLIP * math.sqrt(total)
    surprise = min(max(surprise, -most), most)
    for factor in factors:
        gain = factor.variance / total
        factor.mean += gain * surprise
        if factor.variance:
            factor.variance = max(factor.variance * (1 - gain), _SUREST)
        factor.count += 1
