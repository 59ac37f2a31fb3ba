"""Accept or replace: how a round's guesses become text that follows the target's distribution exactly.

For one round, p (γ+1, V) holds the target's laws after each prefix of the guesses, q (γ, V) the laws the guesses
were drawn from, and draft (γ,) the guesses' column numbers; columns of p and q mean the same tokens. A rule is two
laws: how many guesses are accepted, and the token the target adds after them.
"""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from specchat.models.decoding.distribution import draw_column

Laws = NDArray[np.floating]
Columns = NDArray[np.integer]

_NOTHING = 1e-12
"""A residual's sum at or below this is rounding; the law then falls back to p."""


class Rule(Protocol):
    """A verification rule."""

    def accepted_law(self, p: Laws, q: Laws, draft: Columns) -> NDArray[np.float64]:
        """Probability of accepting exactly k guesses, k = 0…γ; shape (γ+1,)."""

    def next_law(self, p: Laws, q: Laws, draft: Columns, accepted: int) -> Laws:
        """Law of the token that the target adds after `accepted` guesses; shape (V,)."""


class TokenRule:
    """Token by token: Leviathan et al. 2022 (Alg. 1), Chen et al. 2023 (Alg. 2)."""

    def accepted_law(self, p: Laws, q: Laws, draft: Columns) -> NDArray[np.float64]:
        """Guess i is accepted with min(1, p(x)/q(x)), if all before it were."""
        reached = np.append(1.0, np.cumprod(np.minimum(1.0, ratios(p, q, draft))))
        law: NDArray[np.float64] = reached - np.append(reached[1:], 0.0)
        return law

    def next_law(self, p: Laws, q: Laws, draft: Columns, accepted: int) -> Laws:  # noqa: ARG002
        """max(p − q, 0) normalised, or p after the last guess."""
        return _residual(p, q, accepted, 1.0)


class BlockRule:
    """The whole block at once: Sun et al. 2024, "Block Verification Accelerates Speculative Decoding" (Alg. 2).

    Never writes fewer tokens than the token rule, for the same passes.
    """

    def accepted_law(self, p: Laws, q: Laws, draft: Columns) -> NDArray[np.float64]:
        """The largest i whose own toss with chance h_i succeeds; all tosses are independent."""
        gamma = len(q)
        if gamma == 0:
            return np.ones(1)
        weights = block_weights(p, q, draft)
        left = np.array([_above(weights[i], p[i], q[i]).sum(dtype=np.float64) for i in range(1, gamma)])
        below = left + 1 - weights[1:gamma]
        chances = np.append(np.divide(left, below, out=np.ones(gamma - 1), where=below > 0), weights[gamma])
        none_after = np.append(np.cumprod(1 - chances[::-1])[::-1], 1.0)
        law: NDArray[np.float64] = np.append(1.0, chances) * none_after
        return law

    def next_law(self, p: Laws, q: Laws, draft: Columns, accepted: int) -> Laws:
        """max(P·p − q, 0) normalised, P being the block's weight so far, or p after the last guess."""
        return _residual(p, q, accepted, float(block_weights(p, q, draft)[accepted]))


token_rule: Rule = TokenRule()
block_rule: Rule = BlockRule()


def verify(rule: Rule, p: Laws, q: Laws, draft: Columns, rng: np.random.Generator) -> tuple[int, int]:
    """How many guesses are accepted, and the column of the token the target adds. Draws one uniform for each."""
    accepted = draw_column(rule.accepted_law(p, q, draft), rng.random())
    return accepted, draw_column(rule.next_law(p, q, draft, accepted), rng.random())


def ratios(p: Laws, q: Laws, draft: Columns) -> NDArray[np.float64]:
    """p(x)/q(x) of each guess; shape (γ,). 0 for a guess that q excludes, which cannot have been drawn."""
    positions = np.arange(len(q))
    above, below = p[positions, draft].astype(np.float64), q[positions, draft].astype(np.float64)
    return np.divide(above, below, out=np.zeros(len(q)), where=below > 0)


def block_weights(p: Laws, q: Laws, draft: Columns) -> NDArray[np.float64]:
    """P_0 = 1, P_i = min(1, P_{i−1}·p_i(x_i)/q_i(x_i)) of Sun et al. 2024; shape (γ+1,)."""
    weights = np.ones(len(q) + 1)
    for i, ratio in enumerate(ratios(p, q, draft)):
        weights[i + 1] = min(1.0, weights[i] * ratio)
    return weights


def acceptance(p: Laws, q: Laws, draft: Columns) -> tuple[list[float], list[float]]:
    """Σₓ min(p, q) at each guessed position, and s = Π min(1, p(x)/q(x)) of the guesses before it; γ of each.

    Σ s·Σₓ min(p, q) ÷ Σ s is the α of Leviathan et al. 2022 (§3.1) without dice, the same under every rule.
    """
    overlaps = np.minimum(p[: len(q)], q).sum(axis=1, dtype=np.float64)
    reached = np.append(1.0, np.cumprod(np.minimum(1.0, ratios(p, q, draft))))[: len(q)]
    return overlaps.tolist(), reached.tolist()


def _residual(p: Laws, q: Laws, accepted: int, weight: float) -> Laws:
    if accepted == len(q):
        return cast(Laws, p[accepted])
    left = _above(weight, p[accepted], q[accepted])
    total = float(left.sum(dtype=np.float64))
    return left / total if total > _NOTHING else cast(Laws, p[accepted])


def _above(weight: float, p: Laws, q: Laws) -> Laws:
    """max(weight·p − q, 0), without further copies: a row can be a whole vocabulary."""
    left: Laws = p * p.dtype.type(weight)
    left -= q
    return np.maximum(left, 0, out=left)
