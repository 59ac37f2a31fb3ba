"""Walks forward through the head of a GGUF file, within bounds that hold whatever the file says."""

from __future__ import annotations

from pathlib import Path
from struct import Struct
from typing import BinaryIO

from specchat.models.files.errors import ModelFileError
from specchat.models.files.sniff import SNIFFED

MAX_HEADER = 64 << 20
"""Bytes before the weights. The largest known, with a vocabulary of 262,144 tokens, are 16 MB."""
MAX_KEPT_BYTES = 16 << 20
"""Bytes of an array of texts that is kept."""
MAX_TEXT = 1 << 20
"""Bytes of a single text that is kept. Chat templates stay below 100 kB."""
MAX_TEXTS = 8 << 20
"""Bytes of all single texts, and lists of numbers, that are kept."""
MAX_STRINGS = 1 << 21
"""Texts in all lists together. The most known are 776,000: 262,144 tokens and the merges of Gemma 4."""

_WINDOW = 1 << 20
_U32 = Struct("<I")
_U64 = Struct("<Q")


class Walk:
    """Walks forward through a file. Every method raises `ModelFileError` past the file's end or a limit."""

    def __init__(self, file: BinaryIO, path: Path, size: int) -> None:
        self.path = path
        self.size = size
        self._file = file
        self._limit = MAX_HEADER
        self._spare = MAX_TEXTS
        self._strings = MAX_STRINGS
        self._start = 0
        """Where in the file the window starts."""
        self._window = b""
        self._at = 0
        """Position in the window, or beyond its end."""

    @property
    def position(self) -> int:
        return self._start + self._at

    def damaged(self, what: str = "header") -> ModelFileError:
        return ModelFileError("file_damaged", self.path, what=what)

    def head(self) -> bytes:
        """The file's first bytes, for telling what it is."""
        self._reach(0, 0)
        return self._window[:SNIFFED]

    def take(self, size: int) -> bytes:
        at = self._at
        if at + size > len(self._window):
            at = self._reach(at, size)
        self._at = at + size
        return self._window[at : self._at]

    def skip(self, size: int) -> None:
        self._at += size
        self._check(self.position)

    def u32(self) -> int:
        return int(_U32.unpack(self.take(4))[0])

    def u64(self) -> int:
        return int(_U64.unpack(self.take(8))[0])

    def count(self, most: int) -> int:
        """A number of things that follow, at most `most`."""
        count = self.u64()
        if count > most:
            raise self.damaged()
        return count

    def name(self, most: int) -> str:
        return self.take(self.count(most)).decode(errors="replace")

    def affords(self, length: int, most: int = MAX_TEXT) -> bool:
        """Whether a text or a list of `length` bytes may be kept; if so, it counts as kept."""
        if length > min(most, self._spare):
            return False
        self._spare -= length
        return True

    def strings(self, count: int, kept: list[bytes] | None) -> None:
        """Walk over `count` strings, adding them to `kept` if given. Vocabularies make this the hot loop."""
        self._strings -= count
        if self._strings < 0:
            raise self.damaged()
        read, window, at = _U64.unpack_from, self._window, self._at
        for _ in range(count):
            if at + 8 > len(window):
                at = self._reach(at, 8)
                window = self._window
            (length,) = read(window, at)
            at += 8
            if kept is not None:
                if at + length > len(window):
                    at = self._reach(at, length)
                    window = self._window
                kept.append(window[at : at + length])
            at += length
        self._at = at
        self._check(self.position)

    def keep_strings(self, count: int) -> tuple[bytes, ...]:
        kept: list[bytes] = []
        self._limit = min(MAX_HEADER, self.position + MAX_KEPT_BYTES)
        self.strings(count, kept)
        self._limit = MAX_HEADER
        return tuple(kept)

    def _reach(self, at: int, size: int) -> int:
        """Move the window so that the `size` bytes at position `at` lie in it, and return their new position."""
        position = self._start + at
        self._check(position + size)
        self._file.seek(position)
        self._window = self._file.read(max(_WINDOW, size))
        self._start, self._at = position, 0
        if len(self._window) < size:  # the file shrank meanwhile
            raise ModelFileError("file_truncated", self.path, have=position, need=position + size)
        return 0

    def _check(self, end: int) -> None:
        if end > self._limit:
            raise self.damaged()
        if end > self.size:
            raise ModelFileError("file_truncated", self.path, have=self.size, need=end)
