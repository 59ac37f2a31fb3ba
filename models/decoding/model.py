"""What the decoder asks of a model, so that tests can run it on fake ones.

A model holds the tokens it has evaluated in order (its *memory*). llama.cpp's contexts are the real thing
(`specchat.models.llama.context`); `tests/support` has models whose distributions are known exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Logits = NDArray[np.float32]
"""Rows of logits, shape (rows, vocabulary)."""

Progress = Callable[[int, int], bool]
"""Called with (tokens done, tokens in all); returning False cancels."""


class Cancelled(Exception):
    """An evaluation was cancelled; the model's memory holds what `length` says."""


class Model(Protocol):
    """Evaluates tokens after those it already holds, and forgets its latest ones again."""

    @property
    def n_vocab(self) -> int:
        """Width of a row of logits."""

    @property
    def n_ctx(self) -> int:
        """Most tokens the memory can hold."""

    @property
    def n_batch(self) -> int:
        """Most tokens whose logits one `evaluate` can return."""

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens held, oldest first."""

    @property
    def can_roll_back(self) -> bool:
        """Whether `roll_back` can forget single tokens. Where it can't, only plain decoding is possible."""

    def evaluate(
        self, tokens: Sequence[int], rows: int, progress: Progress | None = None, *, padding: int = 0
    ) -> Logits:
        """Evaluate `tokens` (at least one) and return the logits after each of the last `rows` of them.

        Shape (rows, n_vocab), 0 ≤ rows ≤ min(len(tokens), n_batch). The array may be a view that the next
        evaluation overwrites. `padding` widens the pass by so many tokens of no meaning, which are forgotten at once:
        the pass must have room for them, and so must the memory. Raises `Cancelled` where `progress` said so,
        `ContextFull` without room.
        """

    def roll_back(self, length: int) -> None:
        """Forget all but the first `length` tokens. A model that can't do so exactly may forget more."""


class EvaluationFailed(Exception):
    """A model can't be evaluated, or what came out makes no sense."""


class ContextFull(Exception):
    """The tokens don't fit into the model's context."""


def reuse_prefix(model: Model, wanted: Sequence[int]) -> int:
    """Roll `model` back to the longest beginning of `wanted` that it holds, and return its length."""
    model.roll_back(common_prefix(model.tokens, wanted))
    return len(model.tokens)


def common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
