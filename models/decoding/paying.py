"""Whether one more guess pays: what it costs against what the tokens it may bring are worth.

The renewal-reward argument: over a long text, the best policy is the one that in each round makes most of
(tokens written · time a token is worth) − time spent, where a token is worth the time that one costs now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specchat.models.decoding.calibration import Calibration
from specchat.models.decoding.rounds import Reason


@dataclass(frozen=True, slots=True)
class Prices:
    """Seconds, at one round's beginning.

    `rounds[g]` is a round with g guesses but for drafting them, `run` is one run of the draft, and `token` is what a
    token is worth.
    """

    rounds: tuple[float, ...]
    run: float
    token: float

    @property
    def most(self) -> int:
        """The most guesses there is a price for."""
        return len(self.rounds) - 1

    def gain(self, made: int, reached: float, alphas: Sequence[float], paid: int = 0) -> tuple[float, int]:
        """What going on from `made` guesses brings at best, in seconds, and how many guesses further that is.

        `reached` is the probability that all made ones are accepted, `alphas` are α̂ of those to come, the first `paid`
        of which need no run of the draft any more. All numbers of further guesses are looked at, so a step in the
        price of passes is looked past. (0, 0) where nothing brings anything.
        """
        best, count, tokens = 0.0, 0, 0.0
        for further, alpha in enumerate(alphas[: self.most - made], 1):
            reached *= alpha
            tokens += reached
            cost = max(further - paid, 0) * self.run + self.rounds[made + further] - self.rounds[made]
            if tokens * self.token - cost > best:
                best, count = tokens * self.token - cost, further
        return best, count


class PayingSteps:
    """Decides from guess to guess whether the draft model goes on, by the draft's own law and the past alone."""

    def __init__(self, prices: Prices, calibration: Calibration) -> None:
        self._prices = prices
        self._calibration = calibration
        self._made = 0
        self._reached = 1.0
        self.reason: Reason = "most"
        """Why it ended, once it has."""

    def value(self) -> float:
        """Seconds that one more run, and what may follow it, is expected to bring; 0 where it costs more."""
        return self._gain([])

    def runs(self) -> bool:
        """Whether to run the draft for another guess."""
        if self._made >= self._prices.most:
            return False
        if self.value() > 0:
            return True
        self.reason = "costly"
        return False

    def takes(self, confidence: float) -> bool:
        """Whether to draw the guess that the draft has now run for. Its run is paid already."""
        alpha = self._calibration.alpha(confidence, self._made)
        if self._gain([alpha]) <= 0:
            self._calibration.decline(alpha, self._reached)
            self.reason = "unsure"
            return False
        self._made += 1
        self._reached *= alpha
        return True

    def _gain(self, known: list[float]) -> float:
        """Of going on, where α̂ of the next guesses is `known`, and their runs paid, and later ones are as usual."""
        later = [self._calibration.typical] * (self._prices.most - self._made - len(known))
        return self._prices.gain(self._made, self._reached, [*known, *later], len(known))[0]
