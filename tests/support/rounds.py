"""Rounds and steps, described by what matters to a test."""

from __future__ import annotations

from specchat.app.chats.records import Step
from specchat.models.decoding.rounds import Round


def make_round(
    drafted: int = 3, accepted: int = 3, *, own: bool = True, on: bool = True, seconds: float = 0.1
) -> Round:
    """A round of the draft model's guesses; one without the target's `own` token was ended by a stop.

    A fifth of its time is drafting, seven tenths verifying, a twentieth sampling. Plain decoding takes 0.05 s a token.
    """
    return Round(
        guesses=tuple(range(drafted)),
        accepted=accepted,
        token=99 if own else None,
        speculating=on,
        drafter="model" if drafted else "",
        width=drafted + 1,
        stopped=not own,
        draft_runs=drafted,
        caught_up=0,
        run_seconds=0.005 if drafted else None,
        alpha_sum=0.7 * drafted,
        alpha_weight=float(drafted),
        seconds_draft=0.2 * seconds,
        seconds_verify=0.7 * seconds,
        seconds_sampling=0.05 * seconds,
        seconds=seconds,
        plain_seconds=0.05,
        pass_seconds=0.05,
    )


def make_step(accepted: str = "", rejected: str = "", own: str = "", *, on: bool = True) -> Step:
    """A step from its tokens, each in `|`: accepted guesses, those that weren't, and the target's own, if any."""
    kept, dropped = [[token.encode() for token in tokens.split("|") if token] for tokens in (accepted, rejected)]
    round = make_round(len(kept) + len(dropped), len(kept), own=bool(own), on=on)
    return Step(round, (*kept, *dropped, *([own.encode()] if own else [])))
