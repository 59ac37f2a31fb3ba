"""What target and draft thought at each token of a reply: the likeliest words of both, to be looked at afterwards.

Kept for every round while it is written, so it must cost next to nothing: per token a few numbers of a dozen words,
found through the maxima of groups of logits, and never a copy of a row. What can wait is done when it is looked at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specchat.models.decoding.distribution import Distribution, Ids
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model import Logits

WORDS = 12
"""Words kept of a position."""
KEPT = 4096
"""Latest tokens of a reply whose positions are kept: one to three kilobytes each."""
SMALL = 64
"""Words of a law that is kept whole."""
_GROUPS = 64


@dataclass(frozen=True, slots=True)
class Position:
    """What was known where one token was written.

    `ids` (n,) are the words kept, of which `p` (n,) is the target's law and `q` (n,) the draft's, both after the
    sampling chain; `logits` (n,) are the target's before it. The token and the guess are always among them. `q`,
    `guess` and `overlap`, Σₓ min(p, q) over the whole vocabulary, are None where nothing was guessed.
    """

    token: int
    guess: int | None
    accepted: bool
    """Whether the token is the guess, kept; under the block rule a replacement can be the same word."""
    drafter: str
    ids: Ids
    p: NDArray[np.float64]
    q: NDArray[np.float64] | None
    logits: NDArray[np.float32]
    overlap: float | None


class Positions:
    """The positions of one reply's latest tokens, numbered from the reply's first, 0."""

    def __init__(self, kept: int = KEPT) -> None:
        self._latest: deque[Position | _Sketch] = deque(maxlen=kept)
        self._count = 0

    def add(
        self,
        rows: Logits,
        laws: Sequence[Distribution],
        proposal: Proposal,
        overlaps: Sequence[float],
        accepted: int,
        written: Sequence[int],
    ) -> None:
        """Keep what a round of these logits (γ+1, V), laws p and guesses knew of the tokens that it has `written`."""
        if not written:  # the round ended the reply
            return
        tops = _likeliest(rows[: len(written)], WORDS)
        for place, token in enumerate(written):
            guessed = place < len(proposal.tokens)
            told = _Told(
                token,
                proposal.tokens[place] if guessed else None,
                place < accepted,
                proposal.drafter if guessed else "",
                overlaps[place] if guessed else None,
            )
            both = (laws[place], proposal.laws[place]) if guessed else (laws[place],)
            self._latest.append(_sketch(rows[place], tops[place], both, told))
        self._count += len(written)

    def cut(self, count: int) -> None:
        """The reply has only `count` tokens: a stop string ended it inside a round."""
        for _ in range(min(self._count - count, len(self._latest))):
            self._latest.pop()
        self._count = min(self._count, count)

    def at(self, number: int) -> Position | None:
        """The position of the reply's token `number`, from 0; None if there is none, or none any more."""
        place = number - (self._count - len(self._latest))
        if not 0 <= place < len(self._latest):
            return None
        known = self._latest[place]
        return known.position() if isinstance(known, _Sketch) else known


@dataclass(frozen=True, slots=True)
class _Told:
    """What is said of a token beside its laws, as in `Position`."""

    token: int
    guess: int | None
    accepted: bool
    drafter: str
    overlap: float | None

    @property
    def named(self) -> list[int]:
        """The words that must be among those kept."""
        return [self.token] if self.guess is None else [self.token, self.guess]


@dataclass(frozen=True, slots=True)
class _Sketch:
    """All that a position can be made of, so that the work is done for those alone that are looked at."""

    ids: Ids
    """Candidates, of which some may be there twice."""
    logits: NDArray[np.float32]
    laws: tuple[Distribution, ...]
    """p, and q where a guess was made."""
    told: _Told

    def position(self) -> Position:
        """Of the candidates those with the most of either law, then by logit; the token and the guess first."""
        told = self.told
        ids, first = np.unique(self.ids, return_index=True)
        chances = [law.probabilities_of(ids) for law in self.laws]
        weights = np.maximum.reduce(chances)
        weights[np.searchsorted(ids, told.named)] = 2
        logits = self.logits[first]
        best = np.lexsort((-logits, -weights))[:WORDS]
        p, q = chances[0][best], chances[1][best] if len(chances) > 1 else None
        return Position(
            told.token, told.guess, told.accepted, told.drafter, ids[best], p, q, logits[best], told.overlap
        )


def _sketch(row: NDArray[np.float32], top: Ids, laws: tuple[Distribution, ...], told: _Told) -> Position | _Sketch:
    """The position, made now where its laws are large, and later where they can be kept."""
    small = all(law.ids is not None and law.ids.size <= SMALL for law in laws)
    ids = np.concatenate([top, *(_all(law) if small else _top(law) for law in laws), told.named])
    sketch = _Sketch(ids, row[ids], tuple(map(_copied, laws)) if small else laws, told)
    return sketch if small else sketch.position()


def _all(law: Distribution) -> Ids:
    return _top(law) if law.ids is None else law.ids


def _copied(law: Distribution) -> Distribution:
    """The same, without the larger arrays that its own may be parts of."""
    return law if law.ids is None else Distribution(law.ids.copy(), law.probabilities.copy())


def _top(law: Distribution) -> Ids:
    """The likeliest tokens of a law, in no order."""
    if law.ids is None:
        dense: Ids = _likeliest(law.probabilities[None], WORDS)[0]
        return dense
    if law.ids.size <= WORDS:
        return law.ids
    most = law.ids.size - WORDS
    return law.ids[np.argpartition(law.probabilities, most)[most:]]


def _likeliest(rows: NDArray[np.floating], count: int) -> Ids:
    """Columns of the `count` largest of each of `rows` (n, V), largest first; shape (n, min(count, V)).

    They lie in the groups of the `count` largest maxima, so only those groups are sorted.
    """
    number, width = rows.shape
    groups = width // _GROUPS
    if groups <= count:
        few: Ids = np.argsort(-rows, axis=1, kind="stable")[:, :count]
        return few
    whole = groups * _GROUPS
    maxima = rows[:, :whole].reshape(number, _GROUPS, groups).max(axis=1)
    best = np.argpartition(maxima, groups - count, axis=1)[:, groups - count :]
    grouped = (best[:, None, :] + groups * np.arange(_GROUPS)[None, :, None]).reshape(number, -1)
    rest = np.broadcast_to(np.arange(whole, width), (number, width - whole))
    columns = np.concatenate([grouped, rest], axis=1)
    order = np.argsort(-np.take_along_axis(rows, columns, 1), axis=1)[:, :count]
    found: Ids = np.take_along_axis(columns, order, 1)
    return found
