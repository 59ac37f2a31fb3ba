"""The papers' formulas and small simulations: pure functions on numpy arrays, for explaining and for checking.

Leviathan et al. 2022, "Fast Inference from Transformers via Speculative Decoding" (2211.17192), is cited by its
sections; Chen et al. 2023, "Accelerating Large Language Model Decoding with Speculative Sampling" (2302.01318), has the
same rule (Alg. 2, Theorem 1). α is the chance that a guess is accepted, γ the guesses a round, c the time of a
draft run ÷ that of a target pass over one token. Every simulation is seeded, and vectorised over its runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# ------------------------------------------------------------------ acceptance and speed


def acceptance_rate(p: ArrayLike, q: ArrayLike) -> float:
    """β = Σₓ min(p, q): the chance that a guess drawn from q (V,) is kept where the target's law is p (V,).

    Leviathan et al. 2022, §3.2 (Theorem 3.5); their α is its mean over positions (Corollary 3.6).
    """
    return float(np.minimum(p, q).sum())


def tokens_per_pass(alpha: ArrayLike, gamma: ArrayLike) -> Array:
    """(1 − α^{γ+1})/(1 − α), the expected tokens of a pass; γ + 1 at α = 1. Leviathan et al. 2022, §3.1, eq. (1).

    It takes each guess to be accepted with the same chance, whatever came before. Arrays are broadcast.
    """
    alpha, gamma = np.asarray(alpha, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    below = 1 - alpha
    sure = below <= 0
    # expm1 keeps the digits that 1 − α^{γ+1} would lose near α = 1.
    with np.errstate(divide="ignore"):
        above = -np.expm1((gamma + 1) * np.log(alpha))
    value: Array = np.where(sure, gamma + 1, above / np.where(sure, 1.0, below))
    return value


def speed_up(alpha: ArrayLike, gamma: ArrayLike, c: ArrayLike) -> Array:
    """Tokens per pass ÷ (γc + 1): how many times as fast as plain decoding. Leviathan et al. 2022, §3.3, Theorem 3.8.

    A pass over γ + 1 tokens is taken to cost what one over a single token does. Arrays are broadcast.
    """
    value: Array = tokens_per_pass(alpha, gamma) / (np.asarray(gamma) * np.asarray(c) + 1)
    return value


def speed_up_with_costs(alpha: float, gamma: int, c: float, passes: Sequence[float]) -> float:
    """The same with what a pass really costs: `passes[γ]` is V(γ+1) ÷ V(1)."""
    return float(tokens_per_pass(alpha, gamma)) / (passes[gamma] + gamma * c)


def can_help(alpha: float, c: float) -> bool:
    """Whether any γ is faster than none: exactly if α > c. Leviathan et al. 2022, §3.3, Corollary 3.9."""
    return alpha > c


def best_gamma(alpha: float, c: float, most: int) -> int:
    """The γ up to `most` of the greatest speed-up, 0 if none helps. Leviathan et al. 2022, §3.5."""
    return int(np.argmax(speed_up(alpha, np.arange(most + 1), c))) if can_help(alpha, c) else 0


# ------------------------------------------------------------------ what a pass takes


@dataclass(frozen=True, slots=True)
class PassToy:
    """A pass takes the longer of two: moving the weights, `weights`, and computing, `compute` for each token in it.

    The roofline of Williams et al. 2009 with two numbers; Chen et al. 2023, §1, and Leviathan et al. 2022, §3.4, argue
    with it. `others` users do as I do, and share the pass: each adds as many tokens to it as I do.
    """

    weights: float = 13.0
    compute: float = 1.0

    def seconds(self, tokens: int, others: int = 0) -> float:
        """One pass with `tokens` of mine in it."""
        return max(self.weights, self.compute * tokens * (others + 1))

    def writing(self, tokens: int, others: int = 0) -> float:
        """Writing `tokens` one after the other: as many passes over one."""
        return tokens * self.seconds(1, others)

    def checking(self, tokens: int, others: int = 0) -> float:
        """Checking `tokens` that are there already: one pass."""
        return self.seconds(tokens, others)


# ------------------------------------------------------------------ accept or replace


@dataclass(frozen=True, slots=True)
class Accounting:
    """Where the chance of each word comes from; both (V,). Their sum is p."""

    accepted: Array
    """The draft guesses it and it is kept: min(p, q)."""
    replaced: Array
    """Another guess is refused and this word takes its place: max(p − q, 0)."""

    @property
    def refused(self) -> float:
        """The chance that a guess is refused: 1 − Σₓ min(p, q)."""
        return float(1 - self.accepted.sum())


def account(p: ArrayLike, q: ArrayLike) -> Accounting:
    """The rule's books for laws p and q (V,). Leviathan et al. 2022, §2.3 and Appendix A.1; Chen et al. 2023, Thm 1.

    A refused guess, of which there are 1 − Σ min(p, q) in all, is replaced by a draw from max(p − q, 0) normalised;
    since both sums are equal, word x is replaced in exactly max(p(x) − q(x), 0) of all cases.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    return Accounting(np.minimum(p, q), np.maximum(p - q, 0.0))


# ------------------------------------------------------------------ simulations


@dataclass(frozen=True, slots=True)
class Draws:
    """Shares of many draws, (V,) each: what the rule wrote, and what the draft had guessed."""

    written: Array
    guessed: Array


def simulate_rule(p: ArrayLike, q: ArrayLike, runs: int, seed: int) -> Draws:
    """Accept or replace at one position, `runs` times (Leviathan et al. 2022, Alg. 1, with γ = 1)."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    rng = np.random.default_rng(seed)
    guesses = _draw(q, rng.random(runs))
    kept = rng.random(runs) * q[guesses] < p[guesses]
    left = np.maximum(p - q, 0.0)
    replacements = _draw(left if left.sum() > 0 else p, rng.random(runs))
    written = np.where(kept, guesses, replacements)
    return Draws(np.bincount(written, minlength=p.size) / runs, np.bincount(guesses, minlength=q.size) / runs)


@dataclass(frozen=True, slots=True)
class Average:
    """The mean of many runs, and how far it may be from the truth: one standard error."""

    mean: float
    error: float


def simulate_tokens_per_pass(alpha: float, gamma: int, runs: int, seed: int) -> Average:
    """Tokens of a pass where each guess is accepted with chance α, in `runs` passes."""
    kept = np.random.default_rng(seed).random((runs, gamma)) < alpha
    return _average(1 + np.cumprod(kept, axis=1).sum(axis=1))


def passes_needed(chances: Sequence[float], gamma: int) -> float:
    """Expected target passes of a text whose token i the draft would guess rightly with chance `chances[i]`.

    A pass writes the guesses up to the first wrong one, and one token of the target's own; the last token of the text
    is never guessed, as the pass writes it anyway. Exact, by the chance to be done at each place.
    """
    last = len(chances) - 1
    expected = [0.0] * (last + 2)
    for start in reversed(range(last + 1)):
        after = min(start + gamma, last)
        reached = expected[start] = 1.0
        for place in range(start, after):
            expected[start] += reached * (1 - chances[place]) * expected[place + 1]
            reached *= chances[place]
        expected[start] += reached * expected[after + 1]
    return expected[0]


def simulate_passes(chances: Sequence[float], gamma: int, runs: int, seed: int) -> Average:
    """The same, by `runs` texts written at once."""
    rng = np.random.default_rng(seed)
    table, last = np.asarray(chances, dtype=np.float64), len(chances) - 1
    at, passes = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    while (writing := np.flatnonzero(at <= last)).size:
        places = at[writing, None] + np.arange(gamma)
        right = (rng.random(places.shape) < table[np.minimum(places, last)]) & (places < last)
        at[writing] += 1 + np.cumprod(right, axis=1).sum(axis=1)
        passes[writing] += 1
    return _average(passes)


def _average(values: NDArray[np.integer]) -> Average:
    return Average(float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)))


def _draw(weights: Array, uniform: Array) -> NDArray[np.int64]:
    """Positions of positive weight at `uniform` (n,) of the cumulated `weights` (V,)."""
    cumulated = np.cumsum(weights)
    places = np.searchsorted(cumulated, uniform * cumulated[-1], side="right")
    found: NDArray[np.int64] = np.minimum(places, np.flatnonzero(weights)[-1])
    return found
