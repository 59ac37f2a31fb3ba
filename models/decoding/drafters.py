"""Who guesses ahead: a draft model, or a look-up in the text itself."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from specchat.models.decoding.distribution import Distribution, one_hot
from specchat.models.decoding.model import Model, Progress
from specchat.models.decoding.sampling import SamplingChain


@dataclass(frozen=True, slots=True)
class Proposal:
    """Guesses and the laws they were drawn from, one each; and what drafting them took."""

    tokens: tuple[int, ...] = ()
    laws: tuple[Distribution, ...] = ()
    draft_runs: int = 0
    caught_up: int = 0
    run_seconds: float | None = None


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


class ModelDrafter:
    """A small model that samples from its own law, after the same chain as the target's.

    While a reply is written its memory holds a beginning of the text, and perhaps guesses. `vocabulary` is the
    target's number of tokens: ids that only one of the two models has are never guessed, and never shown to the draft
    (it reads token 0 there, which can only make a guess worse, not the text). `progress` is asked while it reads more
    than a pass holds; its no raises `Cancelled`.
    """

    name = "model"

    def __init__(
        self,
        model: Model,
        chain: SamplingChain,
        rng: np.random.Generator,
        vocabulary: int,
        progress: Progress | None = None,
    ) -> None:
        self._model = model
        self._chain = chain
        self._rng = rng
        self._shared = min(vocabulary, model.n_vocab)
        self._progress = progress
        self._sure: int | None = None
        """How many tokens of the memory are known to be the text's; None before the first look at it."""
        self._run_seconds: float | None = None

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

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """See `Drafter`. One run a guess; the first also reads what the memory lacks of the text."""
        most = min(most, self._model.n_ctx - len(text) + 1)
        if most < 1:
            return Proposal()
        if self._sure is None:  # it may still hold another conversation
            reuse_prefix(self._model, self._known(text[:-1]))
        self._sure = len(text)
        recent = self._chain.recent(text)
        unread = self._known(text[len(self._model.tokens) :])
        caught_up = len(unread) - 1
        tokens: list[int] = []
        laws: list[Distribution] = []
        seconds: list[float] = []
        for _ in range(most):
            start = time.perf_counter()
            long_read = len(unread) > self._model.n_batch
            logits = self._model.evaluate(unread, 1, self._progress if long_read else None)[0]
            if len(unread) == 1:
                seconds.append(time.perf_counter() - start)
            law = self._chain.distribution(logits[: self._shared], recent + tokens)
            tokens.append(law.draw(self._rng.random()))
            laws.append(law)
            unread = tokens[-1:]
        if seconds:  # else every run read more than one token, and the last time one didn't still says the most
            self._run_seconds = statistics.median(seconds)
        return Proposal(tuple(tokens), tuple(laws), len(tokens), caught_up, self._run_seconds)

    def learn(self, text: Sequence[int]) -> None:
        """Forget the guesses that are not in the text. Its last token is always read anew."""
        sure = self._sure or 0
        guessed = self._model.tokens[sure:]
        self._model.roll_back(sure + common_prefix(guessed, self._known(text[sure:-1])))

    def _known(self, tokens: Sequence[int]) -> list[int]:
        return [token if token < self._shared else 0 for token in tokens]


class LookupDrafter:
    """Prompt lookup: what followed the last time the text said the same (Saxena 2023; Yang et al. 2023).

    Takes the longest match of the text's end, the latest of equals, at least `shortest` tokens long; lengths above
    `longest` are equal, and of all matches the latest `candidates` are looked at. Its law is certain of each guess, so
    a guess is accepted with the target's own probability of it.
    """

    name = "lookup"

    def __init__(self, shortest: int = 2, longest: int = 16, candidates: int = 64) -> None:
        self._shortest = shortest
        self._longest = longest
        self._candidates = candidates
        self._read = 0
        self._ends: dict[tuple[int, ...], list[int]] = {}

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """See `Drafter`. A match that runs into the text's end goes on with the guesses themselves."""
        source = self._match(text)
        if source is None:
            return Proposal()
        extended = list(text)
        for i in range(most):
            extended.append(extended[source + i])
        tokens = tuple(extended[len(text) :])
        return Proposal(tokens, tuple(map(one_hot, tokens)))

    def learn(self, text: Sequence[int]) -> None:
        """Index the text's new end."""
        for end in range(max(self._read + 1, self._shortest), len(text)):
            self._ends.setdefault(tuple(text[end - self._shortest : end]), []).append(end)
        self._read = len(text) - 1

    def _match(self, text: Sequence[int]) -> int | None:
        """Where the text went on after the longest, latest earlier occurrence of its end."""
        if self._read < len(text) - 1:
            self.learn(text)
        best, best_length = None, 0
        for end in reversed(self._ends.get(tuple(text[-self._shortest :]), [])[-self._candidates :]):
            length = self._shortest
            while length < self._longest and length < end and text[end - length - 1] == text[-length - 1]:
                length += 1
            if length > best_length:
                best, best_length = end, length
        return best


def reuse_prefix(model: Model, wanted: Sequence[int]) -> int:
    """Roll `model` back to the longest beginning of `wanted` that it holds, and return its length."""
    model.roll_back(common_prefix(model.tokens, wanted))
    return len(model.tokens)


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
