"""Every figure anyone sees, computed from rounds. Nothing else counts anything."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from operator import truediv

from specchat.models.decoding.rounds import Round


@dataclass(frozen=True, slots=True)
class Counters:
    """The figures of some rounds: of a reply so far, of a whole one, of a session.

    Seconds are of writing (prefill apart) and add up: `seconds` = draft + verify + sampling + other. A ratio is
    None where there is nothing to divide by. The words' meanings are the README's.
    """

    target_passes: int
    draft_runs: int
    caught_up: int
    drafted: int
    accepted: int
    rejected: int
    tokens: int
    seconds: float
    seconds_draft: float
    seconds_verify: float
    seconds_sampling: float
    alpha: float | None
    c: float | None
    tokens_per_second_without: float | None
    drafted_at: tuple[int, ...] = ()
    """Rounds with a first guess, with a second one …"""
    accepted_at: tuple[int, ...] = ()
    """Rounds that accepted the first guess, the second one …"""

    @property
    def unused(self) -> int:
        """Guesses after a rejected one, or dropped at a stop."""
        return self.drafted - self.accepted - self.rejected

    @property
    def seconds_other(self) -> float:
        """What is left: turning tokens into text, handing rounds on."""
        return self.seconds - self.seconds_draft - self.seconds_verify - self.seconds_sampling

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted ÷ drafted."""
        return _ratio(self.accepted, self.drafted)

    @property
    def acceptance_by_position(self) -> tuple[float, ...]:
        """Accepted ÷ drafted of the first guesses, of the second ones …"""
        return tuple(map(truediv, self.accepted_at, self.drafted_at))

    @property
    def tokens_per_pass(self) -> float | None:
        """Tokens ÷ target passes."""
        return _ratio(self.tokens, self.target_passes)

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens ÷ seconds of writing."""
        return _ratio(self.tokens, self.seconds)

    @property
    def speed_up(self) -> float | None:
        """Tokens a second ÷ what plain decoding would reach: an estimate, not a comparison."""
        return _ratio(self.tokens_per_second, self.tokens_per_second_without)


class Tally:
    """Adds up rounds as they come."""

    def __init__(self) -> None:
        self._passes = self._draft_runs = self._caught_up = 0
        self._drafted = self._accepted = self._rejected = self._tokens = 0
        self._seconds = self._draft = self._verify = self._sampling = 0.0
        self._alpha_sum = self._alpha_weight = 0.0
        self._priced_tokens, self._plain_seconds = 0, 0.0
        self._costs: list[float] = []
        self._drafted_at: list[int] = []
        self._accepted_at: list[int] = []

    def add(self, round: Round) -> None:
        """Take in one more round."""
        self._passes += 1
        self._draft_runs += round.draft_runs
        self._caught_up += round.caught_up
        self._drafted += len(round.guesses)
        self._accepted += round.accepted
        self._rejected += round.rejected
        self._tokens += round.tokens
        self._seconds += round.seconds
        self._draft += round.seconds_draft
        self._verify += round.seconds_verify
        self._sampling += round.seconds_sampling
        self._alpha_sum += round.alpha_sum
        self._alpha_weight += round.alpha_weight
        self._place(len(round.guesses), round.accepted)
        if round.run_seconds is not None and round.pass_seconds:
            self._costs.append(round.run_seconds / round.pass_seconds)
        if round.plain_seconds is not None:  # what a plain round would have taken for each of its tokens, at its depth
            self._priced_tokens += round.tokens
            self._plain_seconds += round.tokens * round.plain_seconds

    def counters(self) -> Counters:
        """The figures so far."""
        return Counters(
            target_passes=self._passes,
            draft_runs=self._draft_runs,
            caught_up=self._caught_up,
            drafted=self._drafted,
            accepted=self._accepted,
            rejected=self._rejected,
            tokens=self._tokens,
            seconds=self._seconds,
            seconds_draft=self._draft,
            seconds_verify=self._verify,
            seconds_sampling=self._sampling,
            alpha=_ratio(self._alpha_sum, self._alpha_weight),
            c=statistics.median(self._costs) if self._costs else None,
            tokens_per_second_without=_ratio(self._priced_tokens, self._plain_seconds),
            drafted_at=tuple(self._drafted_at),
            accepted_at=tuple(self._accepted_at),
        )

    def _place(self, drafted: int, accepted: int) -> None:
        """Count a round's guesses by their positions."""
        more = [0] * (drafted - len(self._drafted_at))
        self._drafted_at += more
        self._accepted_at += more
        for position in range(drafted):
            self._drafted_at[position] += 1
            self._accepted_at[position] += position < accepted


def count(rounds: Iterable[Round]) -> Counters:
    """The figures of `rounds`, in any order."""
    tally = Tally()
    for round in rounds:
        tally.add(round)
    return tally.counters()


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None
