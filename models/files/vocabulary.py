"""A model's vocabulary as a plain value: what it takes to tell whether two models speak with the same tokens."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class TokenKind(IntEnum):
    """What a token is for: the bits of llama.cpp's token attributes that say so."""

    UNDEFINED = 0
    UNKNOWN = 1
    UNUSED = 2
    NORMAL = 4
    CONTROL = 8
    USER_DEFINED = 16
    BYTE = 32


KIND_BITS = 63
"""The other attribute bits say how text around a token is stripped."""

WITHOUT_TEXT = frozenset({TokenKind.UNKNOWN, TokenKind.UNUSED, TokenKind.CONTROL})
"""Kinds whose tokens write nothing that a person reads."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tokens of a model, by id.

    `kind` is llama.cpp's name of the type: SPM, BPE, WPM, UGM, RWKV, PLAMO2 or none. `tokens` are the texts as
    the vocabulary stores them, `attributes` their `TokenKind` values (llama.cpp's attributes & `KIND_BITS`); both
    are as long as the vocabulary. `add_bos` and `add_eos` say what the tokenizer puts around a text by itself.
    """

    kind: str
    tokens: tuple[bytes, ...]
    attributes: tuple[int, ...]
    bos: int | None
    eos: int | None
    add_bos: bool
    add_eos: bool
