"""γ chosen anew at each guess, from what passes cost here and what guesses have brought, so that none costs more than
it brings; plain decoding while nothing pays, with a way back.

While the draft model sleeps, the text it misses is read in one chunk now and then, which shows how it would have
guessed: that takes no pass of the target. What lookup would have guessed is seen for nothing in every round.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from specchat.models.decoding.calibration import Calibration
from specchat.models.decoding.cost import PaddedPass
from specchat.models.decoding.drafters import Drafter, Proposal
from specchat.models.decoding.model_drafter import Review, Steps
from specchat.models.decoding.pace import Outcome
from specchat.models.decoding.paying import PayingSteps, Prices
from specchat.models.decoding.round_cost import RoundCosts
from specchat.settings.values import MAX_GAMMA

REVIEW_ROWS = 16
"""Latest tokens that a review looks at."""
SHORTEST_SLEEP, LONGEST_SLEEP = 8, 64
"""Tokens between two reviews: each that finds nothing doubles it."""
REVIEW_SHARE = 0.02
"""Share of the time of writing that reviews may take, beside the time of two plain rounds."""
MEASURED_ROUNDS = 3
"""Plain rounds in a row that measure what one costs; the first of them doesn't count."""
_LEAST_REACHED = 0.05
"""Guesses that are reached more rarely teach nothing."""
_KEPT = 0.95
"""Weight that the past keeps, at each round, in what a token costs now."""
_FEW_TOKENS = 4
"""Tokens up to which that isn't known."""


class SleepyDrafter(Drafter, Protocol):
    """A draft model, as `model_drafter.ModelDrafter` is one."""

    @property
    def usable(self) -> bool:
        """Whether it can guess at all."""

    def behind(self, text: Sequence[int]) -> int:
        """How many tokens of `text` but its last it hasn't read."""

    def review(self, text: Sequence[int], chances: Sequence[float]) -> Review:
        """Read them, and see how it would have guessed the latest."""

    def propose(self, text: Sequence[int], most: int, steps: Steps = ...) -> Proposal:
        """Guesses, as many as `steps` wants."""


@dataclass
class Beliefs:
    """What was learnt of a pair's drafters, for one reply after the other."""

    lookup: Calibration = field(default_factory=lambda: Calibration(intercept=0.0))
    model: Calibration = field(default_factory=Calibration)


class AutoPace:
    """Chooses γ and the drafter. One for each reply; `lookup` or `model` is None where it isn't to guess."""

    def __init__(
        self, costs: RoundCosts, beliefs: Beliefs, lookup: Drafter | None, model: SleepyDrafter | None
    ) -> None:
        self._costs = costs
        self._beliefs = beliefs
        self._lookup = lookup
        self._model = model
        self._looked_up = Proposal()
        self._chances: deque[float] = deque(maxlen=REVIEW_ROWS)
        self._text_length = 0
        self._measuring = 0
        self._sleep = SHORTEST_SLEEP
        self._seconds = self._reviewed = 0.0
        self._recent_tokens = self._recent_seconds = 0.0

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """See `Pace`."""
        self._looked_up = Proposal()
        if len(text) != self._text_length:  # something was written without this pace
            self._chances.clear()
        rounds = self._costs.rounds(min(most, MAX_GAMMA), len(text))
        prices = self._prices(rounds, len(text))
        if prices is None or self._measures(len(text)):
            return Proposal(reason="measuring")
        proposal = self._choose(text, prices)
        if proposal.reason == "most" and most < MAX_GAMMA:
            proposal = replace(proposal, reason="room")
        return replace(proposal, width=rounds[len(proposal.tokens)].width)

    def learn(self, text: Sequence[int], proposal: Proposal, outcome: Outcome) -> None:
        """See `Pace`."""
        self._seconds += outcome.seconds
        self._recent_tokens = self._recent_tokens * _KEPT + len(outcome.written)
        self._recent_seconds = self._recent_seconds * _KEPT + outcome.seconds
        self._chances.extend(outcome.chances)
        self._text_length = len(text)
        if proposal.tokens:
            beliefs = self._beliefs.lookup if proposal.drafter == "lookup" else self._beliefs.model
            for place, confidence in enumerate(proposal.confidences):
                if outcome.reached[place] >= _LEAST_REACHED:
                    beliefs.learn(confidence, place, outcome.overlaps[place], outcome.reached[place])
        if proposal.drafter != "lookup":
            self._learn_unused(self._looked_up, outcome.written)
        if self._model is not None and proposal.drafter == self._model.name:
            self._model.learn(text)

    def _choose(self, text: Sequence[int], prices: Prices) -> Proposal:
        """Lookup's guesses or the model's, whichever are expected to bring more; or none."""
        gain, count = self._look_up(text, prices)
        model = self._model if self._model is not None and self._model.usable else None
        steps = PayingSteps(prices, self._beliefs.model)
        expected = steps.value() if model else 0.0
        if count and gain >= expected:
            return replace(self._looked_up.first(count), reason="costly" if count < prices.most else "most")
        if model is None:
            return Proposal(reason=self._looked_up.reason or ("plain" if self._lookup else "no_drafter"))
        reviewed = 0
        if expected <= 0:
            reviewed = self._review(model, text, prices)
            if not reviewed or steps.value() <= 0:
                return Proposal(caught_up=reviewed, reason="plain")
        self._sleep = SHORTEST_SLEEP
        proposal = model.propose(text, prices.most, steps)
        return replace(proposal, caught_up=reviewed + proposal.caught_up, reason=proposal.reason or steps.reason)

    def _look_up(self, text: Sequence[int], prices: Prices) -> tuple[float, int]:
        """What lookup's guesses bring, in seconds, and how many do."""
        if self._lookup is None:
            return 0.0, 0
        self._looked_up = self._lookup.propose(text, prices.most)
        known = self._beliefs.lookup
        alphas = [known.alpha(confidence, place) for place, confidence in enumerate(self._looked_up.confidences)]
        return prices.gain(0, 1.0, alphas, len(alphas))

    def _learn_unused(self, found: Proposal, written: Sequence[int]) -> None:
        """Learn from guesses that were found but not made: the text shows whether they were right."""
        for place, (guess, token) in enumerate(zip(found.tokens, written, strict=False)):
            self._beliefs.lookup.learn(found.confidences[place], place, float(guess == token))
            if guess != token:
                break

    def _review(self, model: SleepyDrafter, text: Sequence[int], prices: Prices) -> int:
        """Let the draft read what it misses, if that is due and cheap enough; how many tokens it read."""
        behind = model.behind(text)
        rows = min(behind, len(self._chances))
        cost = self._costs.review(behind, rows, len(text))
        if behind < self._sleep or not rows or cost is None:
            return 0
        if self._reviewed + cost > REVIEW_SHARE * self._seconds + 2 * prices.rounds[0]:
            return 0
        self._sleep = min(2 * self._sleep, LONGEST_SLEEP)
        begun = self._costs.clock()
        review = model.review(text, list(self._chances))
        self._reviewed += max(cost, self._costs.clock() - begun)  # a busy machine can make it far dearer than expected
        for confidence, label in zip(review.confidences, review.labels, strict=True):
            self._beliefs.model.learn(confidence, 0, label)
        return review.read

    def _prices(self, rounds: Sequence[PaddedPass], depth: int) -> Prices | None:
        """What rounds, runs and tokens cost now; None while nothing is known."""
        run = self._costs.run(depth)
        if not rounds or run is None:
            return None
        token = rounds[0].seconds
        if self._recent_tokens >= _FEW_TOKENS:
            token = min(token, self._recent_seconds / self._recent_tokens)
        return Prices(tuple(round.seconds for round in rounds), run, token)

    def _measures(self, depth: int) -> bool:
        """Whether this round is to be a plain one, to know what such a one costs."""
        if not self._measuring and not self._costs.is_fresh(depth):
            self._measuring = MEASURED_ROUNDS
        if not self._measuring:
            return False
        self._measuring -= 1
        return True
