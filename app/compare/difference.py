"""Where two replies part, and how nearly the target's choice was a tie there."""

from __future__ import annotations

import msgspec

from specchat.app.bench.runner import Run

NEAR_TIE = 0.5
"""Difference of two logits below which they count as nearly tied. A pass over several tokens adds up in another order
than a pass over one, and quantised models then differ by some tenths."""


class Word(msgspec.Struct, frozen=True):
    """A token that could have been written, and the target's logit of it."""

    text: str
    logit: float


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The first token in which two replies differ. Texts are raw."""

    position: int
    """From 0."""
    shared: str
    """The end of what both wrote before."""
    without: str
    """The words from there on in the plain reply; empty where it had ended."""
    with_draft: str
    words: tuple[Word, ...] = ()
    """The likeliest tokens there, the likeliest first, by the target itself; empty where they weren't looked up."""

    @property
    def gap(self) -> float | None:
        """By how much the first two of the target's logits differ; None where that isn't known."""
        if len(self.words) < 2:
            return None
        return self.words[0].logit - self.words[1].logit

    @property
    def is_near_tie(self) -> bool:
        """Whether rounding may have decided."""
        return self.gap is not None and self.gap < NEAR_TIE


def tokens_of(run: Run) -> list[int]:
    """The ids of what a reply wrote."""
    return [
        token
        for round in run.rounds
        for token in (*round.guesses[: round.accepted], *([] if round.token is None else [round.token]))
    ]


def first_difference(one: Run, other: Run) -> int | None:
    """The number of the first token in which two replies differ, from 0; None where they are alike."""
    left, right = tokens_of(one), tokens_of(other)
    pairs = zip(left, right, strict=False)
    place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
    return None if place == len(left) == len(right) else place


def describe(plain: Run, other: Run, position: int, words: tuple[Word, ...] = ()) -> Difference:
    """The difference at `position`, with as much of the texts as tells where it is."""
    shared = _common(plain.text, other.text)
    cut = len(shared)
    return Difference(
        position=position,
        shared=shared[-40:],
        without=plain.text[cut : cut + 30],
        with_draft=other.text[cut : cut + 30],
        words=words,
    )


def _common(one: str, other: str) -> str:
    """What both begin with, up to the last whole word."""
    pairs = zip(one, other, strict=False)
    place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    return one[: one.rfind(" ", 0, place) + 1] if place < len(one) and place < len(other) else one[:place]
