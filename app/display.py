"""What comes from models and files, made safe to show on a terminal."""

from __future__ import annotations

import re

_STRINGS = frozenset("]PX^_")
"""After ESC: the beginnings of OSC, DCS, SOS, PM and APC, which run up to a terminator."""
_C1_STRINGS = frozenset("\x9d\x90\x98\x9e\x9f")
_HIDDEN = frozenset(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]))
"""Bidi embeddings, overrides and isolates, with which a text can show itself in another order; half characters."""

_SUSPECT = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""All that may not be shown, or begins what may not."""

_TEXT, _ESCAPE, _CSI, _STRING, _STRING_ESCAPE = range(5)


class Cleaner:
    """Takes control characters and whole escape sequences out of a text that comes in fragments.

    Newlines and tabs stay. A sequence may be split over any fragments; a string sequence that isn't ended is
    dropped up to the end of its line, so that no text can swallow all that follows it.
    """

    def __init__(self) -> None:
        self._state = _TEXT

    def feed(self, fragment: str) -> str:
        """What may be shown of the next `fragment`."""
        if self._state == _TEXT and not _SUSPECT.search(fragment):  # a hundred times as fast
            return fragment
        return "".join(char for char in fragment if self._shows(char))

    def _shows(self, char: str) -> bool:
        if self._state != _TEXT and char != "\n":
            self._state = self._next(char)
            return False
        self._state = _TEXT
        if char == "\x1b":
            self._state = _ESCAPE
        elif char == "\x9b":
            self._state = _CSI
        elif char in _C1_STRINGS:
            self._state = _STRING
        else:
            return char in "\n\t" or not (char < " " or "\x7f" <= char < "\xa0" or char in _HIDDEN)
        return False

    def _next(self, char: str) -> int:
        """The state after `char` inside a sequence (ECMA-48, §5.4 and §5.6)."""
        if char == "\x1b":
            return _STRING_ESCAPE if self._state == _STRING else _ESCAPE
        if self._state == _STRING:
            return _TEXT if char in "\x07\x9c" else _STRING
        if self._state == _CSI:
            return _TEXT if "@" <= char <= "~" else _CSI
        if self._state == _STRING_ESCAPE and char == "\\":
            return _TEXT
        if char == "[":
            return _CSI
        if char in _STRINGS:
            return _STRING
        return _ESCAPE if " " <= char <= "/" else _TEXT


def clean(text: str) -> str:
    """What may be shown of a whole text."""
    return Cleaner().feed(text)
