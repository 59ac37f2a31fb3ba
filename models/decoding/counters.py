"""Every figure anyone sees, computed from rounds. Nothing else counts anything."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

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


def count(rounds: Iterable[Round]) -> Counters:
    """The figures of `rounds`, in any order."""
    rounds = list(rounds)
    return Counters(
        target_passes=len(rounds),
        draft_runs=sum(round.draft_runs for round in rounds),
        caught_up=sum(round.caught_up for round in rounds),
        drafted=sum(len(round.guesses) for round in rounds),
        accepted=sum(round.accepted for round in rounds),
        rejected=sum(round.rejected for round in rounds),
        tokens=sum(round.tokens for round in rounds),
        seconds=sum(round.seconds for round in rounds),
        seconds_draft=sum(round.seconds_draft for round in rounds),
        seconds_verify=sum(round.seconds_verify for round in rounds),
        seconds_sampling=sum(round.seconds_sampling for round in rounds),
        alpha=_ratio(sum(round.alpha_sum for round in rounds), sum(round.alpha_weight for round in rounds)),
        c=_median(
            round.run_seconds / round.pass_seconds
            for round in rounds
            if round.run_seconds is not None and round.pass_seconds
        ),
        tokens_per_second_without=_without(rounds),
    )


def _without(rounds: list[Round]) -> float | None:
    """Tokens ÷ the seconds that plain rounds would have taken for them, each at its own depth."""
    priced = [(round.tokens, round.plain_seconds) for round in rounds if round.plain_seconds is not None]
    return _ratio(sum(tokens for tokens, _ in priced), sum(tokens * seconds for tokens, seconds in priced))


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def _median(values: Iterable[float]) -> float | None:
    kept = list(values)
    return statistics.median(kept) if kept else None
