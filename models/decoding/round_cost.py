"""What a round costs: the target's pass, sampling, and the draft's runs; and what a plain round does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from specchat.models.decoding.cost import PaddedPass, PassCosts

_RUN_GUESS = 0.2
_KEPT = 15 / 16
"""Weight that a mean's past keeps at each new value."""


@dataclass(frozen=True, slots=True)
class PlainCost:
    """Seconds of one plain round: the pass over one token, V(1), and all the rest of it, sampling above all."""

    pass_seconds: float
    rest_seconds: float

    @property
    def seconds(self) -> float:
        """Of the round."""
        return self.pass_seconds + self.rest_seconds


class Mean:
    """A mean that forgets slowly; None before the first value."""

    def __init__(self) -> None:
        self._sum = self._weight = 0.0

    def add(self, value: float, times: int = 1) -> None:
        """Take in a value; where it is the sum of several, `times` says of how many."""
        keep = _KEPT**times
        self._sum = self._sum * keep + value
        self._weight = self._weight * keep + times

    @property
    def value(self) -> float | None:
        """The mean."""
        return self._sum / self._weight if self._weight else None


class RoundCosts:
    """What was measured of a pair."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.target = PassCosts(clock)
        self.forget_draft(_RUN_GUESS)
        self.forget_sampling()

    def forget_draft(self, run_guess: float) -> None:
        """There is another draft, whose run ÷ V(1) is guessed as long as none was measured."""
        self.draft = PassCosts(self.clock)
        self._run_guess = run_guess

    def add_rest(self, rows: int, seconds: float) -> None:
        """Take in what a round took beside the pass and the drafting, for so many rows of logits."""
        self._rest.add(seconds, rows)

    def add_draw(self, seconds: float) -> None:
        """Take in what drawing one guess took after the draft's run."""
        self._draw.add(seconds)

    def add_reviewed(self, rows: int, seconds: float) -> None:
        """Take in what comparing so many rows of the draft's with the text took."""
        self._reviewed_row.add(seconds, rows)

    def forget_sampling(self) -> None:
        """The next reply may sample in another way."""
        self._rest, self._draw, self._reviewed_row = Mean(), Mean(), Mean()

    def rounds(self, most: int, depth: int) -> list[PaddedPass]:
        """Rounds with 0, 1, … `most` guesses, but for drafting them: their passes' widths, and what they take.

        Empty while nothing is known.
        """
        rest = self._rest.value or 0.0
        passes = self.target.cheapest(most + 1, depth)
        return [replace(found, seconds=found.seconds + rows * rest) for rows, found in enumerate(passes, 1)]

    def run(self, depth: int) -> float | None:
        """Seconds for one more guess of the draft model; guessed while none was measured."""
        seconds = self.draft.seconds(1, depth)
        if seconds is None and (plain := self.target.seconds(1, depth)) is not None:
            seconds = plain * self._run_guess
        return None if seconds is None else seconds + (self._draw.value or 0.0)

    def review(self, tokens: int, rows: int, depth: int) -> float | None:
        """Seconds for the draft to read so many tokens and to have `rows` of them compared with the text."""
        seconds = self.draft.seconds(tokens, depth)
        if seconds is None:
            run = self.run(depth)
            seconds = None if run is None else run * (1 + 0.1 * tokens)
        return None if seconds is None else seconds + rows * (self._reviewed_row.value or 0.0)

    def plain(self, depth: int) -> PlainCost | None:
        """What plain decoding costs at this depth; None while no pass over one token was measured."""
        seconds = self.target.seconds(1, depth) if self.target.count(1) else None
        return None if seconds is None else PlainCost(seconds, self._rest.value or 0.0)

    def is_fresh(self, depth: int) -> bool:
        """Whether plain decoding was measured lately at this depth."""
        return self.target.is_fresh(1, depth)
