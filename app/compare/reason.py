"""Why a draft pays or doesn't, taken apart: what a round brings and what it costs, and what would have to be otherwise.

After Leviathan et al. 2022 (2211.17192), Theorem 3.8 and Corollary 3.9, with a pass that costs what it was measured to
cost: a round with γ guesses brings (1 − α^(γ+1)) / (1 − α) tokens and takes γ·c·V(1) + V(γ+1) + o seconds; o is what is
left (sampling, catching up, handing on). It pays if the target alone would have taken longer for as many tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round

_MOST = 16
"""Most guesses a round for which a speed-up is foretold."""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """What the rounds with guesses were like. Ratios are to V(1), the target's pass over one token.

    `alpha_needed`, `c_needed` and `verify_needed` are what each would have to be, the others as they are, for a round
    to take as long as the plain tokens it brings; None where no value could do it.
    """

    gamma: float
    """Guesses a round, on average over the rounds with any."""
    share: float = 1.0
    """Which part of the rounds had any guesses, 0 … 1. All else here is of those alone."""
    alpha: float
    c: float
    """0 where no model ran."""
    verify: float
    """V(γ+1) ÷ V(1)."""
    rest: float
    """What else a round takes ÷ V(1)."""
    tokens: float
    """Tokens that a round brought."""
    plain: float
    """Seconds of plain decoding for one token ÷ V(1)."""
    alpha_needed: float | None
    c_needed: float | None
    verify_needed: float | None

    @property
    def cost(self) -> float:
        """Seconds of a round ÷ V(1)."""
        return self.gamma * self.c + self.verify + self.rest

    @property
    def speed_up(self) -> float:
        """Of the rounds with guesses alone."""
        return self.tokens * self.plain / self.cost


def reason_of(on: Iterable[Round], off: Iterable[Round]) -> Reason | None:
    """What is to be said of the rounds `on`, against the plain rounds `off`; None where nothing was guessed."""
    rounds = tuple(on)
    guessed, plain = count(round for round in rounds if round.guesses), count(off)
    if not guessed.drafted or not plain.tokens or not plain.seconds_verify or guessed.alpha is None:
        return None
    one = plain.seconds_verify / plain.target_passes
    passes = guessed.target_passes
    gamma, c = guessed.drafted / passes, guessed.c or 0.0
    verify = guessed.seconds_verify / passes / one
    rest = guessed.seconds / passes / one - gamma * c - verify
    tokens, per_token = guessed.tokens / passes, plain.seconds / plain.tokens / one
    worth = tokens * per_token
    return Reason(
        gamma=gamma,
        share=passes / len(rounds),
        alpha=guessed.alpha,
        c=c,
        verify=verify,
        rest=rest,
        tokens=tokens,
        plain=per_token,
        alpha_needed=alpha_for((gamma * c + verify + rest) / per_token, gamma),
        c_needed=_positive((worth - verify - rest) / gamma),
        verify_needed=_positive(worth - gamma * c - rest),
    )


def tokens_a_round(alpha: float, gamma: float) -> float:
    """Tokens that a round of `gamma` guesses brings if each is accepted with `alpha`, whatever came before (eq. 1)."""
    return gamma + 1 if alpha >= 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)


def alpha_for(tokens: float, gamma: float) -> float | None:
    """The α with which a round brings so many tokens; None where it can't, all accepted."""
    if tokens > gamma + 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tokens_a_round(middle, gamma) < tokens else (low, middle)
    return high


def best_gamma(reason: Reason, costs: Mapping[int, float]) -> tuple[int, float] | None:
    """The number of guesses a round that promises most, and the speed-up it promises, from a pass's costs by width.

    Only widths that were measured are considered; None where there is none but one token.
    """
    one = costs.get(1)
    if not one:
        return None
    promised = {
        gamma: tokens_a_round(reason.alpha, gamma)
        * reason.plain
        / (gamma * reason.c + costs[gamma + 1] / one + reason.rest)
        for gamma in range(1, _MOST + 1)
        if gamma + 1 in costs
    }
    best = max(promised, key=promised.__getitem__, default=None)
    return None if best is None else (best, promised[best])


def _positive(value: float) -> float | None:
    return value if value > 0 else None
