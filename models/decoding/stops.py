"""Where a reply's text ends: stop strings that straddle tokens and rounds.

Rounds are held back while their text may still turn out to be the beginning of a stop string, so that a round
that is out counts only tokens that stay in the text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from specchat.models.decoding.rounds import Round


@dataclass(frozen=True, slots=True)
class Step:
    """A round and the bytes it added to the text."""

    round: Round
    data: bytes


@dataclass(slots=True)
class _Held:
    round: Round
    pieces: list[bytes]


class StopFinder:
    """Watches the text for stop strings, which end it and are not part of it."""

    def __init__(self, stops: Sequence[bytes]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held: list[_Held] = []
        self.found = False

    def feed(self, round: Round, pieces: Sequence[bytes]) -> list[Step]:
        """Take in a round whose written tokens are `pieces`; return the rounds that are certain now."""
        self._held.append(_Held(round, list(pieces)))
        text = self._text()
        found = [(at + len(stop), at) for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            self.found = True
            _end, start = min(found)  # the first to be complete, so that the text doesn't depend on the rounds' length
            return self._cut(start)
        return self._release(len(text) - self._undecided(text))

    def flush(self) -> list[Step]:
        """The text ended otherwise: everything held back belongs to it."""
        return self._release(len(self._text()))

    def _text(self) -> bytes:
        return b"".join(piece for held in self._held for piece in held.pieces)

    def _undecided(self, text: bytes) -> int:
        """Length of the longest end of `text` that begins a stop string."""
        longest = max((len(stop) - 1 for stop in self._stops), default=0)
        return next(
            (
                n
                for n in range(min(longest, len(text)), 0, -1)
                if any(stop.startswith(text[-n:]) for stop in self._stops)
            ),
            0,
        )

    def _release(self, certain: int) -> list[Step]:
        """The rounds that lie wholly in the first `certain` bytes."""
        steps: list[Step] = []
        while self._held:
            data = b"".join(self._held[0].pieces)
            if len(data) > certain:
                break
            certain -= len(data)
            steps.append(Step(self._held.pop(0).round, data))
        return steps

    def _cut(self, end: int) -> list[Step]:
        """All rounds held, without the tokens that begin at or after byte `end`."""
        steps: list[Step] = []
        for held in self._held:
            kept = 0
            at = 0
            for piece in held.pieces:
                kept += at < end
                at += len(piece)
            steps.append(Step(shorten(held.round, kept), b"".join(held.pieces)[: max(end, 0)]))
            end -= at
        self._held.clear()
        return steps


def shorten(round: Round, tokens: int) -> Round:
    """The round with only its first `tokens` tokens written, because the text ended there."""
    if tokens == round.tokens:
        return round
    accepted = min(round.accepted, tokens)
    return dataclasses.replace(round, accepted=accepted, token=round.token if tokens > accepted else None, stopped=True)
