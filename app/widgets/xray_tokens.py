"""The tokens of a reply one by one: where each came from, and how its bytes are shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from enum import Enum, auto
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len

from specchat.app.chats.records import Step

MOST_MARKS = 4
"""How many characters without a width, such as accents, one with a width may carry before they are written out."""


class Origin(Enum):
    """Where a token came from, or why a guess isn't in the text."""

    ACCEPTED = auto()
    REJECTED = auto()
    UNUSED = auto()
    """After a rejected guess, or dropped where the reply ended."""
    REPLACEMENT = auto()
    """The target's, in the place of a rejected guess."""
    BONUS = auto()
    """The target's, after guesses that were all accepted."""
    PLAIN = auto()
    """The target's, with nothing guessed."""


class Token(NamedTuple):
    """The bytes of one token and its origin."""

    piece: bytes
    origin: Origin


def tokens_of(step: Step) -> Iterator[Token]:
    """The guesses of a round in their order, and then the target's own token if it wrote one."""
    round = step.round
    guesses = len(round.guesses)
    refused = round.accepted + round.rejected
    for piece in step.pieces[: round.accepted]:
        yield Token(piece, Origin.ACCEPTED)
    for piece in step.pieces[round.accepted : refused]:
        yield Token(piece, Origin.REJECTED)
    for piece in step.pieces[refused:guesses]:
        yield Token(piece, Origin.UNUSED)
    for piece in step.pieces[guesses:]:
        yield Token(piece, _origin_of_own(step))


def _origin_of_own(step: Step) -> Origin:
    if not step.round.guesses:
        return Origin.PLAIN
    return Origin.REPLACEMENT if step.round.rejected else Origin.BONUS


def visible_piece(piece: bytes) -> str:
    """A token's text with nothing in it that a terminal could obey, or that would change its neighbours.

    Half characters and control characters become their bytes (`⟨F0 9F⟩`), other characters that don't print their
    number (`⟨U+202E⟩`). A tab is `⇥`, no text at all `⟨⟩`, and a newline is `⏎` before a newline.
    """
    text = piece.decode("utf-8", "surrogateescape")
    if text.isascii() and text.isprintable():
        return text or "⟨⟩"
    return "".join(shown for broken, chars in groupby(text, _is_byte) for shown in _shown("".join(chars), broken))


def _is_byte(char: str) -> bool:
    """Whether `char` stands for a byte that is no UTF-8 where it stands."""
    return "\udc80" <= char <= "\udcff"


def _shown(chars: str, broken: bool) -> Iterator[str]:
    if broken:
        yield _hex(chars.encode("utf-8", "surrogateescape"))
        return
    carried = MOST_MARKS  # the first one has nothing to be carried by
    for char in chars:
        shown = _SIGNS.get(char) or (char if _prints(char) else _written_out(char))
        carried = carried + 1 if cell_len(shown) == 0 else 0
        yield _written_out(char) if carried > MOST_MARKS else shown


_SIGNS = {"\n": "⏎\n", "\t": "⇥"}


def _prints(char: str) -> bool:
    return char.isprintable() or unicodedata.category(char) == "Zs"


def _written_out(char: str) -> str:
    return _hex(char.encode()) if char < "\x80" else f"⟨U+{ord(char):04X}⟩"


def _hex(values: bytes) -> str:
    return f"⟨{values.hex(' ').upper()}⟩"
