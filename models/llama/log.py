"""llama.cpp's log, kept in memory to explain what went wrong. Needs no llama_cpp itself."""

from __future__ import annotations

import re
from collections import deque
from enum import IntEnum

KEPT = 200
"""Lines kept; the reason of a failed load is among the last few dozen."""

_BUFFER = re.compile(r"buffer size\s*=\s*([\d.]+) MiB")
_PREFIX = re.compile(r"^[\w:~]+: (?:error loading model: )?")


class Level(IntEnum):
    """ggml's log levels (`enum ggml_log_level` in ggml.h)."""

    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4
    CONT = 5
    """Goes on with the line before."""


class LogTail:
    """The last lines of a log that arrives in fragments."""

    def __init__(self, kept: int = KEPT) -> None:
        self._lines: deque[tuple[int, str]] = deque(maxlen=kept)
        self._count = 0
        self._open = b""
        self._level: int = Level.INFO

    def write(self, level: int, text: bytes) -> None:
        """Take one fragment: part of a line, a line, or several."""
        if level != Level.CONT:
            if self._open:
                self._add(self._open)
                self._open = b""
            self._level = level
        *whole, self._open = (self._open + text).split(b"\n")
        for line in whole:
            self._add(line)

    def _add(self, line: bytes) -> None:
        if self._level == Level.DEBUG:  # hundreds of lines at every load, none of which explains anything
            return
        # Decoded by the line, since a fragment may end inside a character.
        self._lines.append((self._level, line.decode(errors="replace")))
        self._count += 1

    def mark(self) -> int:
        """A position to give to `lines` later."""
        return self._count

    def lines(self, level: int = Level.WARN, since: int = 0) -> tuple[str, ...]:
        """The kept lines of at least `level` that ended after the mark `since`, oldest first."""
        fresh = self._count - since
        skipped = max(len(self._lines) - fresh, 0)
        return tuple(text for i, (grade, text) in enumerate(self._lines) if i >= skipped and grade >= level and text)

    def cause(self, since: int) -> str:
        """Why something failed after the mark `since`: the first error, without the function's name.

        llama.cpp reports a failure where it happens and then again in every caller, ever more vaguely. Empty
        if it gave no reason.
        """
        errors = self.lines(Level.ERROR, since)
        return _PREFIX.sub("", errors[0]).strip() if errors else ""

    def buffers(self, since: int) -> int:
        """Bytes of all buffers that were made after the mark `since`, as far as the kept lines tell."""
        found = (_BUFFER.search(line) for line in self.lines(Level.INFO, since))
        return round(sum(float(match[1]) for match in found if match) * 2**20)
