"""How many tokens are guessed in a round, and by whom: γ, fixed by a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from specchat.models.decoding.drafters import Drafter, Proposal

STRONG_MATCH = 5
"""Tokens that must be alike before the text's end for lookup to guess where a model could."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a round.

    `overlaps` are Σₓ min(p, q) at each guess and `reached` the probabilities that all guesses before it are accepted,
    `written` are the tokens that the round wrote and `chances` the target's probabilities of them.
    """

    overlaps: Sequence[float]
    reached: Sequence[float]
    written: Sequence[int]
    chances: Sequence[float]
    seconds: float


class Pace(Protocol):
    """Chooses each round's guesses, by the past and the drafts' own laws alone, and learns what became of them."""

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """At most `most` ≥ 1 guesses of what follows `text`, or none; and the reason why there are not more."""

    def learn(self, text: Sequence[int], proposal: Proposal, outcome: Outcome) -> None:
        """The round of `proposal` is over and the text is now `text`. Also for rounds without any proposal."""


class FixedPace:
    """γ guesses a round. With both drafters lookup guesses where much of the text's end is alike, else the model."""

    def __init__(self, gamma: int, lookup: Drafter | None, model: Drafter | None) -> None:
        self._gamma = gamma
        self._lookup = lookup
        self._model = model

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """See `Pace`."""
        proposal = self._proposal(text, min(most, self._gamma))
        if proposal.reason:
            return proposal
        return replace(proposal, reason="fixed" if len(proposal.tokens) == self._gamma else "room")

    def learn(self, text: Sequence[int], proposal: Proposal, outcome: Outcome) -> None:  # noqa: ARG002
        """See `Pace`."""
        for drafter in (self._lookup, self._model):
            if drafter is not None and drafter.name == proposal.drafter:
                drafter.learn(text)

    def _proposal(self, text: Sequence[int], most: int) -> Proposal:
        if self._lookup is None:
            return self._model.propose(text, most) if self._model else Proposal(reason="no_drafter")
        found = self._lookup.propose(text, most)
        if self._model is None or (found.confidences and found.confidences[0] >= STRONG_MATCH / (STRONG_MATCH + 1)):
            return found
        return self._model.propose(text, most)
