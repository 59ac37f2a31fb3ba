"""A program on a pseudo-terminal, as in a terminal's window: what it writes, what it is sent, how it leaves things."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from support.cli import SECONDS, environment
from support.window import SEQUENCE, Window


class Program:
    """A running program. Whatever becomes of it, it doesn't outlive `with Program(…) as program`.

    All that it writes is read at once, so that it never waits for a reader.
    """

    def __init__(
        self,
        command: Sequence[str],
        home: Path,
        *,
        size: tuple[int, int] = (120, 40),
        environ: Mapping[str, str] | None = None,
        seconds: float = SECONDS,
    ) -> None:
        """`seconds` is the longest that anything is waited for."""
        self._terminal, self._inside = pty.openpty()
        columns, rows = size
        fcntl.ioctl(self._inside, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.attributes_before = self.attributes()
        self.attributes_after: list[object] = []
        """The terminal's settings once the program has ended."""
        self._written = bytearray()
        self._seconds = seconds
        self._seen = 0
        """How much of it `read_until` has gone past."""
        self._window = Window(columns, rows)
        self._painted = 0
        """How much of it is in the window."""
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self.process = subprocess.Popen(
            command,
            stdin=self._inside,
            stdout=self._inside,
            stderr=self._inside,
            cwd=home,
            env=_environment(home) | dict(environ or {}),
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.end()
        os.close(self._terminal)

    def attributes(self) -> list[object]:
        """The terminal's settings: modes, speeds, control characters."""
        return list(termios.tcgetattr(self._inside))

    def send(self, keys: str | bytes) -> None:
        """Press keys, as the bytes that a terminal sends for them."""
        os.write(self._terminal, keys.encode() if isinstance(keys, str) else keys)

    def read_until(self, wanted: str) -> None:
        """Wait until the program writes `wanted`, as it is, after what was waited for last."""
        sought = wanted.encode()
        deadline = time.monotonic() + self._seconds
        with self._more:
            start = self._seen
            while (place := self._written.find(sought, start)) < 0:
                start = max(start, len(self._written) - len(sought) + 1)
                self._wait(deadline, f"{wanted!r} never came after {self._written[self._seen :][-2000:]!r}")
            self._seen = place + len(sought)

    def wait_until(self, holds: Callable[[str], object]) -> None:
        """Wait until something holds for the text of the whole window, for a program that paints that."""
        deadline = time.monotonic() + self._seconds
        with self._more:
            while True:
                self._window.feed(bytes(self._written[self._painted :]))
                self._painted = len(self._written)
                if holds(self._window.text):
                    return
                self._wait(deadline, f"it never came to this:\n{self._window.text}")

    def shows(self, *wanted: str) -> None:
        """Wait until all of these are in the window."""
        self.wait_until(lambda text: all(words in text for words in wanted))

    @property
    def written(self) -> bytes:
        """All that it has written so far."""
        with self._more:
            return bytes(self._written)

    def has_written(self, sought: str) -> bool:
        """Whether it has ever written this, as it is."""
        with self._more:
            return sought.encode() in self._written

    @property
    def window(self) -> str:
        """The text of the window, as it was when something was last waited for."""
        return self._window.text

    def _wait(self, deadline: float, problem: str) -> None:
        left = deadline - time.monotonic()
        assert self._reader.is_alive() and self._more.wait(left), problem

    def end(self) -> int:
        """Wait until it has ended by itself and all it wrote is read; its exit status."""
        status = self.process.wait(SECONDS)
        if self._reader.is_alive():
            self.attributes_after = self.attributes()
            os.close(self._inside)  # which ends the reading, as the last one that holds the terminal open
            self._reader.join(SECONDS)
        return status

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._terminal, 65536)
            except OSError:  # how Linux tells that the terminal is closed
                chunk = b""
            with self._more:
                self._written += chunk
                self._more.notify_all()
            if not chunk:
                return


def text_of(output: bytes | bytearray) -> str:
    """What a program wrote, without escape sequences."""
    return SEQUENCE.sub("", output.decode("utf-8", "replace"))


def _environment(home: Path) -> dict[str, str]:
    """A terminal's environment, which says nothing of colours or sizes that would be this test runner's own."""
    others = {"COLUMNS", "LINES", "NO_COLOR", "COLORTERM", "TERM_PROGRAM", "TEXTUAL"}
    return {name: value for name, value in environment(home).items() if name not in others} | {"TERM": "xterm-256color"}


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
