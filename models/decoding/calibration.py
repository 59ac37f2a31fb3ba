"""How likely a guess is to be accepted, learnt while a text is written: α̂ from the drafter's own confidence.

Logistic regression on the logit of the confidence and on the guess's place in its round, kept up to date by an
extended Kalman filter, so that few observations are enough and old ones fade. Labels are probabilities,
Σₓ min(p, q), where the laws are known: the dice add nothing to the noise. Stopping early by such an estimate is
SpecDec++'s idea (Huang et al. 2024); here nothing is trained beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_INTERCEPT, _SLOPE = 1.5, 1.0
"""Weights to begin with: a guess is accepted about as often as its confidence says."""
_VARIANCES = (1.5, 0.1, 0.05)
_DRIFTS = (0.003, 0.0003, 0.0001)
"""What each weight's variance gains at each observation: texts change."""
_CENTRE = 1.5
"""Logit of a usual confidence."""
_LEAST, _MOST = 0.005, 0.999
"""Confidences beyond these are the same."""
_LEAST_SLOPE = 0.02
"""Of the logistic curve: at its flat ends one surprise must not overturn what was learnt."""
_DECLINED = 0.5
"""How far guesses that were not made count as typical: less, since it is worth something to look for a sure one."""

Matrix = list[list[float]]


class Calibration:
    """α̂ of one drafter, and of its guesses on the whole."""

    def __init__(self, intercept: float = _INTERCEPT) -> None:
        self._weights = [intercept, _SLOPE, 0.0]
        self._covariance: Matrix = [[v if i == j else 0.0 for j in range(3)] for i, v in enumerate(_VARIANCES)]
        self._typical = Typical()

    @property
    def typical(self) -> float:
        """α̂ of a guess whose confidence isn't known yet."""
        return self._typical.value

    def alpha(self, confidence: float, place: int) -> float:
        """α̂ of the guess at `place` (0 is a round's first), averaged over what isn't known about the weights."""
        features = _features(confidence, place)
        spread = _dot(features, _times(self._covariance, features))
        return _logistic(_dot(self._weights, features) / math.sqrt(1 + math.pi * spread / 8))  # MacKay 1992, eq. 23

    def learn(self, confidence: float, place: int, label: float, weight: float = 1.0) -> None:
        """A guess of this confidence would be accepted with probability `label`; `weight` is how far that counts."""
        features = _features(confidence, place)
        for i, drift in enumerate(_DRIFTS):
            self._covariance[i][i] += drift
        mean = _logistic(_dot(self._weights, features))
        slope = max(mean * (1 - mean), _LEAST_SLOPE) * weight
        direction = _times(self._covariance, features)
        shrink = 1 + slope * _dot(features, direction)
        for i in range(3):
            self._weights[i] += direction[i] * weight * (label - mean) / shrink
            for j in range(3):
                self._covariance[i][j] -= slope * direction[i] * direction[j] / shrink
        self._typical.add(label, weight)

    def decline(self, alpha: float, weight: float = 1.0) -> None:
        """A guess of this α̂ came up and was not made; else the typical one would seem as sure as those that are."""
        self._typical.add(alpha, weight * _DECLINED)


class Typical:
    """A mean that forgets, and that begins with a guess."""

    def __init__(self, first: float = 0.7, weight: float = 4.0, keep: float = 0.95) -> None:
        self._sum, self._weight, self._keep = first * weight, weight, keep

    def add(self, value: float, weight: float) -> None:
        """Take in one more value."""
        kept = self._keep**weight
        self._sum = self._sum * kept + value * weight
        self._weight = self._weight * kept + weight

    @property
    def value(self) -> float:
        """The mean."""
        return self._sum / self._weight


def _features(confidence: float, place: int) -> tuple[float, float, float]:
    clamped = min(max(confidence, _LEAST), _MOST)
    return 1.0, math.log(clamped / (1 - clamped)) - _CENTRE, math.log1p(place)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -30 else 0.0


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _times(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    return [_dot(row, vector) for row in matrix]
