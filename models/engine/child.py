"""One engine process as its parent sees it: lines to it, lines from it, its log and its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

LONGEST_LINE = 2**26
"""Bytes of the longest event that is read."""
LARGEST_LOG = 2**20
"""Bytes of log from which a new engine begins a new file."""
LOG_TAIL = 2**16
"""Bytes of log looked at for the reason of a death."""
GRACE = 2.0
"""Seconds that each step of ending a process is given."""

# Of its own group or session, so that the terminal's ctrl+C doesn't reach it.
_APART: dict[str, Any]
if sys.platform == "win32":
    _APART = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    _APART = {"start_new_session": True}


class Log:
    """The file that a process writes its stderr to. One path serves all processes, one after the other."""

    def __init__(self, path: Path) -> None:
        self.problem = ""
        """Why the log is kept nowhere but in a temporary file; empty if it is at its path."""
        try:
            self.file = self._open(path)
        except OSError as error:
            self.problem = error.strerror or str(error)
            self.file = tempfile.TemporaryFile()  # noqa: SIM115 - a child process writes to it
        self._start = self.file.seek(0, os.SEEK_END)

    @staticmethod
    def _open(path: Path) -> BinaryIO:
        """Open the log at `path`, after a large one has been renamed to `….old`. Raises `OSError`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):  # there is none yet, or Windows has another process write to it
            if path.stat().st_size > LARGEST_LOG:
                path.replace(path.with_name(path.name + ".old"))
        return path.open("a+b")

    def tail(self) -> str:
        """The end of what was written since this log was opened."""
        # From the open file, not the path: another engine's start may have moved it.
        self.file.seek(max(self._start, self.file.seek(0, os.SEEK_END) - LOG_TAIL))
        return self.file.read().decode(errors="replace")


class Child:
    """A running process. Made by `spawn`; `close` must be called in the end."""

    def __init__(self, process: asyncio.subprocess.Process, log: Log) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._requests = process.stdin
        self._events = process.stdout
        self._log = log

    @classmethod
    async def spawn(cls, command: Sequence[str], log_path: Path) -> Child:
        """Start `command`. Raises `OSError` if it can't be started."""
        log = await asyncio.to_thread(Log, log_path)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log.file,
                limit=LONGEST_LINE,
                **_APART,
            )
        except BaseException:
            log.file.close()
            raise
        return cls(process, log)

    @property
    def log_problem(self) -> str:
        """Why the log could not be kept at its path; empty if it is."""
        return self._log.problem

    async def read_line(self) -> bytes:
        """The next whole line, or nothing once there are no more. Raises `ValueError` for too long a line.

        May be cancelled without losing anything.
        """
        line = await self._events.readline()
        return line if line.endswith(b"\n") else b""

    def write(self, line: bytes) -> None:
        """Send a line, in the background. Does nothing if the process is gone: `read_line` tells of that."""
        if not self._requests.is_closing():
            self._requests.write(line)

    def kill(self) -> None:
        """End the process at once, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> int | None:
        """Have the process end, ever less politely, and return its exit code; None if it can't even be killed."""
        self._requests.close()
        for insist in (None, self._process.terminate, self._process.kill):
            if insist:
                with contextlib.suppress(ProcessLookupError):
                    insist()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    return await self._process.wait()
        return None

    async def last_words(self) -> str:
        """The end of the process's log."""
        return await asyncio.to_thread(self._log.tail)

    def close(self) -> None:
        """Let go of the process, ending it at once if it still runs."""
        self.kill()
        self._requests.close()
        self._log.file.close()
