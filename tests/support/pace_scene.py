"""A pace by itself, with drafters that say what they are told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from specchat.models.decoding.auto_pace import (
    AutoPace,
    Beliefs,
)
from specchat.models.decoding.distribution import one_hot
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model_drafter import EVERY_STEP, Review, Steps
from specchat.models.decoding.pace import Outcome
from specchat.models.decoding.round_cost import RoundCosts
from specchat.settings.values import MAX_GAMMA
from support.clock import Clock

EVEN = {width: 1.0 + 0.2 * (width - 1) for width in range(1, MAX_GAMMA + 2)}
"""Seconds of a target pass: each further token costs a fifth of the first."""
STEEP = EVEN | {width: EVEN[4] + 0.8 * (width - 4) for width in range(5, MAX_GAMMA + 2)}
"""Beyond four tokens each costs nearly as much as the first."""
DEAR = {width: float(width) for width in range(1, MAX_GAMMA + 2)}
"""Nothing pays."""
RUN = 0.05
TEXT = list(range(40))
NO_REVIEW = Review(0, (), ())


@dataclass
class Lookup:
    """Finds the same guesses each time."""

    confidences: Sequence[float] = ()
    tokens: Sequence[int] = ()
    name: str = "lookup"
    learnt: list[int] = field(default_factory=list)

    def propose(self, text: Sequence[int], most: int) -> Proposal:  # noqa: ARG002
        if not self.confidences:
            return Proposal(self.name, reason="no_match")
        tokens = tuple(self.tokens or range(900, 900 + len(self.confidences)))
        return Proposal(self.name, tokens, tuple(map(one_hot, tokens)), tuple(self.confidences)).first(most)

    def learn(self, text: Sequence[int]) -> None:
        self.learnt.append(len(text))


@dataclass
class Draft:
    """Is as sure of its guesses as it is told to be; remembers what it was asked."""

    confidences: Sequence[float] = (0.9,) * MAX_GAMMA
    reviewed: Review = NO_REVIEW
    missing: int = 0
    name: str = "model"
    usable: bool = True
    asked: list[str] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)

    def behind(self, text: Sequence[int]) -> int:  # noqa: ARG002
        return self.missing

    def review(self, text: Sequence[int], chances: Sequence[float]) -> Review:  # noqa: ARG002
        self.asked.append("review")
        self.chances[:] = chances
        return self.reviewed

    def propose(self, text: Sequence[int], most: int, steps: Steps = EVERY_STEP) -> Proposal:  # noqa: ARG002
        self.asked.append("propose")
        made: list[float] = []
        while len(made) < most and steps.runs() and steps.takes(self.confidences[len(made)]):
            made.append(self.confidences[len(made)])
        tokens = tuple(range(800, 800 + len(made)))
        return Proposal(self.name, tokens, tuple(map(one_hot, tokens)), tuple(made), len(made), 2)

    def learn(self, text: Sequence[int]) -> None:  # noqa: ARG002
        self.asked.append("learn")


@dataclass
class Scene:
    """A pace with what it knows and whom it asks."""

    passes: dict[int, float] = field(default_factory=EVEN.copy)
    lookup: Lookup | None = None
    draft: Draft | None = None
    typical: float = 0.9

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.costs = RoundCosts(self.clock)
        self.beliefs = Beliefs()
        self.text = list(TEXT)
        for width, seconds in 10 * list(self.passes.items()):
            self.costs.target.add(width, 0, seconds)
        self.costs.draft.add(1, 0, RUN)
        for _ in range(200):
            self.beliefs.model.learn(self.typical, 0, self.typical)
        self.pace = AutoPace(self.costs, self.beliefs, self.lookup, self.draft)

    def propose(self, most: int = MAX_GAMMA) -> Proposal:
        return self.pace.propose(self.text, most)

    def learn(self, proposal: Proposal, overlaps: Sequence[float] = (), written: Sequence[int] = (1,)) -> None:
        """The round of `proposal` wrote something, with chances of a half."""
        reached = [1.0]
        for overlap in overlaps:
            reached.append(reached[-1] * overlap)
        self.text += written
        halves = [0.5] * len(written)
        self.pace.learn(self.text, proposal, Outcome(overlaps, reached[:-1], written, halves, self.passes[1]))

    def decode_plainly(self, tokens: int) -> None:
        """So many rounds that guess nothing."""
        for _ in range(tokens):
            proposal = self.propose()
            assert not proposal.tokens
            self.learn(proposal)
