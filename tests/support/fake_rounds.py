"""The rounds of a reply that no model writes: every number in them is the same on every run."""

from __future__ import annotations

import re

from specchat.models.decoding.rounds import Reason, Round
from specchat.models.engine.messages import Position, Word


def pieces_of(text: str) -> list[bytes]:
    """The text's tokens: words with the space before them, cut inside their first character beyond ASCII."""
    pieces: list[bytes] = []
    for word in re.findall(r"\s*\S+|\s+", text):
        whole = word.encode()
        cut = next((i + 1 for i, byte in enumerate(whole) if byte > 127), len(whole))
        pieces += [piece for piece in (whole[:cut], whole[cut:]) if piece]
    return pieces


def fake_round(number: int, written: list[bytes], guesses: int, why: Reason, drafter: str, rate: float) -> Round:
    """A round that wrote `written`, the last piece of it the target's own. Of both drafters the model guesses."""
    runs = 0 if drafter == "lookup" else guesses
    seconds = len(written) / rate
    return Round(
        guesses=tuple(range(100 * number, 100 * number + guesses)),
        accepted=len(written) - 1,
        token=100 * number + 99,
        speculating=guesses > 0 or why in ("plain", "measuring"),
        drafter=("model" if runs else "lookup") if guesses else "",
        width=guesses + 1,
        stopped=False,
        draft_runs=runs,
        caught_up=0,
        run_seconds=0.15 / rate if runs else None,
        alpha_sum=0.7 * guesses,
        alpha_weight=float(guesses),
        seconds_draft=0.2 * seconds if guesses else 0.0,
        seconds_verify=0.7 * seconds,
        seconds_sampling=0.05 * seconds,
        seconds=seconds,
        plain_seconds=1.5 / rate,
        pass_seconds=1.4 / rate,
        reason=why,
    )


def pieces_in(this: Round, written: list[bytes]) -> tuple[bytes, ...]:
    """The pieces of the round's guesses, those that were refused included, and of the target's token."""
    refused = [f" no{i}".encode() for i in range(len(this.guesses) - this.accepted)]
    return (*written[:-1], *refused, written[-1])


def positions_in(this: Round, written: list[bytes]) -> list[Position]:
    """What was known at each piece written: the target finds it likely, and the draft does where it guessed it."""
    pieces = pieces_in(this, written)
    return [_position(this, place, piece, pieces) for place, piece in enumerate(written)]


def _position(this: Round, place: int, piece: bytes, pieces: tuple[bytes, ...]) -> Position:
    if place >= len(this.guesses):
        words = (Word(_own(this), piece, 0.6, logit=9.0), Word(7, b" OR", 0.3, logit=8.3))
        return Position(0, _own(this), words, 0.1)
    guess, kept = this.guesses[place], place < this.accepted
    if kept:
        words = (Word(guess, piece, 0.6, 0.5, 9.0), Word(7, b" OR", 0.3, 0.4, 8.3))
        return Position(0, guess, words, 0.1, 0.1, guess, True, this.drafter, 0.9)
    words = (Word(_own(this), piece, 0.7, 0.2, 9.0), Word(guess, pieces[place], 0.2, 0.7, 7.75))
    return Position(0, _own(this), words, 0.1, 0.1, guess, False, this.drafter, 0.5)


def _own(this: Round) -> int:
    assert this.token is not None
    return this.token
