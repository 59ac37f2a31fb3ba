"""Models whose laws are known exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from specchat.models.decoding.model import Cancelled, ContextFull, Logits, Progress
from support.clock import Clock

LogitsAfter = Callable[[tuple[int, ...]], NDArray[np.floating]]


class FakeModel:
    """A `Model` whose logits are a function of the tokens it holds; counts what it was asked."""

    def __init__(
        self,
        logits_after: LogitsAfter,
        n_vocab: int,
        *,
        n_ctx: int = 256,
        n_batch: int = 64,
        can_roll_back: bool = True,
    ) -> None:
        self.n_vocab = n_vocab
        self.n_ctx = n_ctx
        self.n_batch = n_batch
        self.can_roll_back = can_roll_back
        self.tokens: list[int] = []
        self.passes: list[int] = []
        """Width of every evaluation."""
        self._logits_after = logits_after

    def evaluate(
        self, tokens: Sequence[int], rows: int, progress: Progress | None = None, *, padding: int = 0
    ) -> Logits:
        assert tokens and 0 <= rows <= min(len(tokens), self.n_batch)
        assert not padding or len(tokens) + padding <= self.n_batch
        if len(self.tokens) + len(tokens) + padding > self.n_ctx:
            raise ContextFull
        if progress and not progress(0, len(tokens)):
            raise Cancelled
        self.passes.append(len(tokens) + padding)
        self.tokens.extend(tokens)
        first = len(self.tokens) - rows + 1
        logits = [self._logits_after(tuple(self.tokens[:n])) for n in range(first, len(self.tokens) + 1)]
        return np.array(logits, dtype=np.float32).reshape(rows, self.n_vocab)

    def roll_back(self, length: int) -> None:
        if length < len(self.tokens):
            del self.tokens[length if self.can_roll_back else 0 :]


class TimedModel(FakeModel):
    """Takes its time: `clock.now` moves by what `seconds` says of each pass's width."""

    def __init__(
        self, logits_after: LogitsAfter, n_vocab: int, clock: Clock, seconds: Callable[[int], float], **options: int
    ) -> None:
        super().__init__(logits_after, n_vocab, **options)
        self._clock = clock
        self._seconds = seconds

    def evaluate(
        self, tokens: Sequence[int], rows: int, progress: Progress | None = None, *, padding: int = 0
    ) -> Logits:
        logits = super().evaluate(tokens, rows, progress, padding=padding)
        self._clock.now += self._seconds(len(tokens) + padding)
        return logits


def random_logits(seed: int, vocabulary: int, *, order: int = 2, sharpness: float = 1.0) -> LogitsAfter:
    """Logits drawn once for each of the last `order` tokens; equal seeds are equal models."""
    table: dict[tuple[int, ...], NDArray[np.floating]] = {}

    def logits_after(text: tuple[int, ...]) -> NDArray[np.floating]:
        key = text[-order:]
        if key not in table:
            table[key] = np.random.default_rng([seed, *key]).normal(0, sharpness, vocabulary)
        return table[key]

    return logits_after


def scripted_logits(text: Sequence[int], vocabulary: int, *, certainty: float = 30.0) -> LogitsAfter:
    """Logits that go on with `text`, token by token, whatever was said before."""

    def logits_after(held: tuple[int, ...]) -> NDArray[np.floating]:
        logits = np.zeros(vocabulary)
        logits[text[len(held)] if len(held) < len(text) else 0] = certainty
        return logits

    return logits_after
