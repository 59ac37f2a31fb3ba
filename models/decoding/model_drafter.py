"""Guesses of a small model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from specchat.models.decoding.distribution import Distribution
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model import Logits, Model, Progress, common_prefix, reuse_prefix
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.sampling import SamplingChain, certainty


class Steps(Protocol):
    """Decides from guess to guess whether to go on: by the draft's laws and the past, never by a guess's own draw."""

    def runs(self) -> bool:
        """Whether to run the draft for another guess."""

    def takes(self, confidence: float) -> bool:
        """Whether to draw that guess, now that the draft's law is known."""


class _EveryStep:
    def runs(self) -> bool:
        return True

    def takes(self, confidence: float) -> bool:  # noqa: ARG002
        return True


EVERY_STEP: Steps = _EveryStep()


@dataclass(frozen=True, slots=True)
class Review:
    """How the draft would have guessed the text that was written without it."""

    read: int
    """Tokens that it read."""
    confidences: Sequence[float]
    labels: Sequence[float]
    """Estimates of Σₓ min(p, q), one for each confidence."""


class ModelDrafter:
    """A small model that samples from its own law, after the same chain as the target's.

    While a reply is written its memory holds a beginning of the text, and perhaps guesses. `vocabulary` is the
    target's number of tokens: ids that only one of the two models has are never guessed, and never shown to the draft
    (it reads token 0 there, which can only make a guess worse, not the text). `progress` is asked while it reads more
    than a pass holds; its no raises `Cancelled`. What its runs take goes to `costs`.
    """

    name = "model"

    def __init__(
        self,
        model: Model,
        chain: SamplingChain,
        rng: np.random.Generator,
        vocabulary: int,
        costs: RoundCosts,
        progress: Progress | None = None,
    ) -> None:
        self._model = model
        self._chain = chain
        self._rng = rng
        self._shared = min(vocabulary, model.n_vocab)
        self._costs = costs
        self._progress = progress
        self._sure: int | None = None
        """How many tokens of the memory are known to be the text's; None before the first look at it."""
        self._is_warm = False

    def catch_up(self, text: Sequence[int]) -> None:
        """Bring the memory to all of `text` but its last token, keeping what it shares with it.

        Does nothing for a text beyond the model's context, since no guess would follow.
        """
        if len(text) > self._model.n_ctx:
            return
        wanted = self._known(text[:-1])
        self._sure = reuse_prefix(self._model, wanted)
        if missing := wanted[self._sure :]:
            self._model.evaluate(missing, 0, self._progress)

    def behind(self, text: Sequence[int]) -> int:
        """How many tokens of `text` but its last one the memory lacks."""
        self._look_at(text)
        return len(text) - 1 - len(self._model.tokens)

    def review(self, text: Sequence[int], chances: Sequence[float]) -> Review:
        """Catch up with `text`, and look how likely its latest tokens would have been accepted as guesses.

        `chances` are the target's probabilities of the latest tokens, one each. For a token x drawn from p,
        min(1, q(x)/p(x)) is an unbiased estimate of Σₓ min(p, q): no pass of the target is needed.
        """
        behind = self.behind(text)
        if not behind or len(text) > self._model.n_ctx:
            return Review(0, (), ())
        unread = self._known(text[-1 - behind : -1])
        rows = min(behind, len(chances), self._model.n_batch)
        logits = self._evaluate(unread, rows)
        begun = time.perf_counter()
        latest = range(len(text) - rows, len(text))
        confidences = [certainty(row[: self._shared]) for row in logits]
        labels = [
            self._likelihood(row, text[:place], text[place], chance)
            for row, place, chance in zip(logits, latest, chances[len(chances) - rows :], strict=True)
        ]
        self._costs.add_reviewed(rows, time.perf_counter() - begun)
        return Review(behind, confidences, labels)

    def propose(self, text: Sequence[int], most: int, steps: Steps = EVERY_STEP) -> Proposal:
        """See `Drafter`. One run a guess, as long as `steps` says; the first also reads what the memory lacks."""
        most = min(most, self._model.n_ctx - len(text) + 1)
        if most < 1:
            return Proposal(reason="room")
        self._look_at(text)
        self._sure = len(text)
        recent = self._chain.recent(text)
        unread = self._known(text[len(self._model.tokens) :])
        caught_up, runs = len(unread) - 1, 0
        tokens: list[int] = []
        laws: list[Distribution] = []
        confidences: list[float] = []
        while len(tokens) < most and steps.runs():
            logits = self._evaluate(unread, 1)[0, : self._shared]
            runs += 1
            begun = time.perf_counter()
            confidence = certainty(logits)
            if not steps.takes(confidence):
                break
            law = self._chain.distribution(logits, recent + tokens)
            tokens.append(law.draw(self._rng.random()))
            laws.append(law)
            confidences.append(confidence)
            unread = tokens[-1:]
            self._costs.add_draw(time.perf_counter() - begun)
        return Proposal(self.name, tuple(tokens), tuple(laws), tuple(confidences), runs, caught_up if runs else 0)

    def learn(self, text: Sequence[int]) -> None:
        """Forget the guesses that are not in the text. Its last token is always read anew."""
        sure = self._sure or 0
        guessed = self._model.tokens[sure:]
        self._model.roll_back(sure + common_prefix(guessed, self._known(text[sure:-1])))

    def _look_at(self, text: Sequence[int]) -> None:
        """Forget, at the first look, what the memory may still hold of another conversation."""
        if self._sure is None:
            self._sure = reuse_prefix(self._model, self._known(text[:-1]))

    def _evaluate(self, tokens: Sequence[int], rows: int) -> Logits:
        """Evaluate, and note what it took where that was one pass, and not a first one, which may build kernels."""
        depth, one_pass = len(self._model.tokens), len(tokens) <= self._model.n_batch
        begun = time.perf_counter()
        logits = self._model.evaluate(tokens, rows, None if one_pass else self._progress)
        if one_pass and self._is_warm:
            self._costs.draft.add(len(tokens), depth, time.perf_counter() - begun)
        self._is_warm = True
        return logits

    def _likelihood(self, logits: Logits, text: Sequence[int], token: int, chance: float) -> float:
        """min(1, q(x)/p(x)) of the token that followed `text`."""
        if token >= self._shared or chance <= 0:
            return 0.0
        law = self._chain.distribution(logits[: self._shared], self._chain.recent(text))
        return min(1.0, law.probability(token) / chance)

    def _known(self, tokens: Sequence[int]) -> list[int]:
        return [token if token < self._shared else 0 for token in tokens]
