"""One record per target pass: the only source of every figure anyone sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StopReason = Literal["end", "stop", "length", "context", "cancelled"]
"""Why a reply ended: an end-of-generation token, a stop string, the token limit, a full context, a person."""

Reason = Literal[
    "",
    "off",
    "no_drafter",
    "no_rollback",
    "fixed",
    "costly",
    "unsure",
    "no_match",
    "most",
    "room",
    "plain",
    "measuring",
]
"""Why a round guessed as many tokens as it did, and not more.

Speculation was off; nobody can guess (`no_drafter`), or the target can't forget guesses (`no_rollback`); γ was given
(`fixed`). Under `auto`: one more guess would have cost more than it brings (`costly`); the draft was not sure enough of
its next one (`unsure`); the text held no more that was alike (`no_match`); the most guesses a round may hold (`most`);
the room left in the context or the reply (`room`); guessing doesn't pay now (`plain`); a plain round to measure what
one costs (`measuring`). Empty in rounds from before there were reasons.
"""


@dataclass(frozen=True, slots=True)
class Round:
    """What happened around one target pass. Times are seconds.

    `guesses` were sent to verification, the first `accepted` of them were written to the text, and `token` is
    what the target added (None if the text ended before it: end of generation, or a stop string). `stopped`
    says that the text ended in this round by such a token or string, so nothing in it counts as rejected.
    """

    guesses: tuple[int, ...]
    accepted: int
    token: int | None
    speculating: bool
    """Whether speculation was on, also where nothing was guessed."""
    drafter: str
    """`model`, `lookup`, or empty in a plain round."""
    width: int
    """Tokens in the target pass (guesses and the one before them)."""
    stopped: bool
    draft_runs: int
    """One-guess evaluations of the draft model."""
    caught_up: int
    """Tokens the draft model evaluated to catch up with the text, beyond the one that gives the first guess."""
    run_seconds: float | None
    """What a draft run that evaluates exactly one token takes, as measured by now; None before any was."""
    alpha_sum: float
    """Σ s·Σₓmin(p, q) over guessed positions, s = Π min(1, p(x)/q(x)) of the guesses before it."""
    alpha_weight: float
    """Σ s over the same positions."""
    seconds_draft: float
    seconds_verify: float
    seconds_sampling: float
    """The target's side of sampling: its distributions, α, the rule. The draft's own is part of drafting."""
    seconds: float
    """From the end of the round before (or of the prefill) to this one's end."""
    plain_seconds: float | None
    """What a plain round costs at this depth: V(1) and its sampling; None while unknown."""
    pass_seconds: float | None
    """V(1) at this depth; None while unknown."""
    reason: Reason = ""
    """Why it guessed no more than it did."""
    padding: int = 0
    """Tokens of no meaning that widened the pass, beyond `width`, where that makes it cheaper."""

    @property
    def tokens(self) -> int:
        """Tokens this round wrote."""
        return self.accepted + (self.token is not None)

    @property
    def rejected(self) -> int:
        """1 if the rule did not keep a guess of this round, unless a stop ended it."""
        return int(not self.stopped and self.accepted < len(self.guesses))
