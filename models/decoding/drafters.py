"""Who guesses ahead: what a drafter is, and what it proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from specchat.models.decoding.distribution import Distribution
from specchat.models.decoding.rounds import Reason


@dataclass(frozen=True, slots=True)
class Proposal:
    """Guesses, the laws they were drawn from and how sure the drafter was of each; and what drafting them took."""

    drafter: str = ""
    tokens: tuple[int, ...] = ()
    laws: tuple[Distribution, ...] = ()
    confidences: tuple[float, ...] = ()
    draft_runs: int = 0
    caught_up: int = 0
    reason: Reason = ""
    """Why there are not more."""
    width: int = 0
    """Tokens that the target's pass is to be padded to; 0 for none."""

    def first(self, count: int) -> Proposal:
        """The same with the first `count` guesses alone."""
        return replace(self, tokens=self.tokens[:count], laws=self.laws[:count], confidences=self.confidences[:count])


class Drafter(Protocol):
    """Guesses how a text goes on.

    A drafter may stop early, by its own laws and the past, never by the target's law of the round at hand:
    that would bend the output's law. One that reads the target's hidden states will get them with `learn`.
    """

    @property
    def name(self) -> str:
        """How rounds name it."""

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """At most `most` ≥ 1 guesses of what follows `text` (at least one token)."""

    def learn(self, text: Sequence[int]) -> None:
        """The round is over and the text is now `text`, of which the drafter's guesses may be a part."""
