"""The sampling chain: from a row of logits to the law a token is drawn from.

Penalties, temperature, top-k, top-p, min-p, in this order. The target's p and the draft's q come out of the same
chain, which is what makes the rules of `verification` exact for any setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from specchat.models.decoding.distribution import Distribution, Ids, one_hot
from specchat.models.decoding.model import EvaluationFailed
from specchat.settings.values import Sampling

Row = NDArray[np.float32]

GREEDY_BELOW = 1e-6
"""A temperature below this is greedy: logits divided by it would leave the range of a float."""

_GROUPS = 64
"""How many values share a group where the largest of a row are looked for."""


class BadLogits(EvaluationFailed):
    """A model returned logits that are no numbers: its file or its arithmetic is broken."""


class SamplingChain:
    """Turns logits into a `Distribution`, by the person's settings."""

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling
        self._penalises = sampling.penalty_window != 0 and (
            sampling.repeat_penalty != 1 or sampling.presence_penalty != 0 or sampling.frequency_penalty != 0
        )

    def recent(self, text: Sequence[int]) -> list[int]:
        """The end of `text` that the penalties look at: what `distribution` needs of it."""
        if not self._penalises:
            return []
        window = self._sampling.penalty_window
        return list(text if window < 0 else text[-window:])

    def distribution(self, logits: Row, recent: Sequence[int]) -> Distribution:
        """The law after `logits` (V,), with penalties on the tokens of `recent` (see `recent`).

        The row is changed meanwhile, and put back: a copy of a large one costs more than the penalties. Raises
        `BadLogits` for a row without a finite maximum.
        """
        if not self._penalises or not recent:
            return self._law(logits)
        ids, penalised = self._penalise(logits, self.recent(recent))
        before = logits[ids]
        logits[ids] = penalised
        try:
            return self._law(logits)
        finally:
            logits[ids] = before

    def _penalise(self, logits: Row, recent: Sequence[int]) -> tuple[Ids, Row]:
        """The tokens of `recent` and their new logits.

        Repetition penalty of Keskar et al. 2019 (CTRL, §4.1), then presence and frequency penalties.
        """
        counted = Counter(recent)
        ids = np.fromiter(counted.keys(), dtype=np.int64, count=len(counted))
        counts = np.fromiter(counted.values(), dtype=np.float32, count=len(counted))
        ids, counts = ids[ids < logits.size], counts[ids < logits.size]
        factor = np.float32(self._sampling.repeat_penalty)
        seen = logits[ids]
        seen = np.where(seen > 0, seen / factor, seen * factor)
        return ids, seen - self._sampling.presence_penalty - self._sampling.frequency_penalty * counts

    def _law(self, logits: Row) -> Distribution:
        best = int(np.argmax(logits))
        peak = float(logits[best])
        if not np.isfinite(peak):
            raise BadLogits
        if self._sampling.temperature < GREEDY_BELOW:
            return one_hot(best)
        return self._truncated(logits, peak)

    def _truncated(self, logits: Row, peak: float) -> Distribution:
        settings = self._sampling
        ids: Ids | None = None
        values: NDArray[np.floating] = logits
        if 0 < settings.top_k < logits.size:
            ids = largest(logits, settings.top_k)
            values = logits[ids].astype(np.float64)
        weights = np.exp((values - peak) / settings.temperature)
        if settings.top_p < 1:
            ids, weights = _nucleus(ids, weights, settings.top_p)
        if settings.min_p > 0:
            kept = np.flatnonzero(weights >= settings.min_p)  # the largest weight is 1
            ids, weights = kept if ids is None else ids[kept], weights[kept]
        weights /= weights.sum()
        return Distribution(ids, weights)


def certainty(logits: Row) -> float:
    """How sure a model is of its likeliest token, by its logits (V,) alone: close to that token's probability.

    A sum over the maxima of groups stands for the sum over all tokens: for 150,000 of them, a tenth of the time.
    Raises `BadLogits` for a row without a finite maximum.
    """
    groups = logits.size // _GROUPS
    whole = groups * _GROUPS
    maxima = np.append(logits[:whole].reshape(_GROUPS, groups).max(axis=0), logits[whole:]) if groups else logits
    peak = maxima.max()
    if not np.isfinite(peak):
        raise BadLogits
    return float(1 / np.exp(maxima - peak).sum(dtype=np.float64))


def largest(values: NDArray[np.floating], count: int) -> Ids:
    """Positions of the `count` largest of `values` (n,), largest first, equals by position.

    The maxima of any n/64 groups bound the result from below: only values at or above the `count`-th largest of
    those maxima are sorted. For 150,000 values this is ten times faster than a partition.
    """
    groups = values.size // _GROUPS
    if groups < count:
        return np.argsort(-values, kind="stable")[:count]
    maxima = values[: groups * _GROUPS].reshape(_GROUPS, groups).max(axis=0)
    bound = np.partition(maxima, groups - count)[groups - count]
    candidates = np.flatnonzero(values >= bound)
    return candidates[np.argsort(-values[candidates], kind="stable")[:count]]


def _nucleus(ids: Ids | None, weights: NDArray[np.floating], share: float) -> tuple[Ids, NDArray[np.floating]]:
    """The likeliest tokens whose weights together reach `share` of the sum (Holtzman et al. 2020, §3.1).

    `weights` come largest first if they have `ids`. Weights below (1 − share)·sum/n together miss less than
    1 − share, so the others are enough to look at.
    """
    total = float(weights.sum(dtype=np.float64))
    if ids is None:
        ids = np.flatnonzero(weights >= (1 - share) * total / weights.size)
        ids = ids[np.argsort(-weights[ids])]
        weights = weights[ids]
    kept = int(np.searchsorted(np.cumsum(weights, dtype=np.float64), share * total)) + 1
    return ids[:kept], weights[:kept]
