"""The `specchat` command as a process of its own, run from a folder that isn't the checkout's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any

import psutil

from specchat.settings.paths import HOME_VARIABLE
from specchat.settings.sources import PREFIX

SECONDS = 60
"""Longest wait for anything."""

SPECCHAT = (sys.executable, "-P", "-m", "specchat.app.main")

_DEFAULT_SIGINT: dict[str, Any] = (
    # A test runner that was started in the background ignores ctrl+C, and so would all that it starts.
    {} if sys.platform == "win32" else {"preexec_fn": partial(signal.signal, signal.SIGINT, signal.SIG_DFL)}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command came to."""

    status: int
    stdout: str
    stderr: str


def run(
    home: Path,
    *words: str,
    stdin: str = "",
    stdout: int | IO[bytes] = PIPE,
    command: Sequence[str] | None = None,
) -> Outcome:
    """Run the command with these words, in and with the folder `home`, until it ends."""
    done = subprocess.run(
        [*(command or SPECCHAT), *words],
        input=stdin.encode(),
        stdout=stdout,
        stderr=PIPE,
        cwd=home,
        env=environment(home),
        timeout=SECONDS,
        check=False,
    )
    return Outcome(done.returncode, _text(done.stdout or b""), _text(done.stderr))


@contextmanager
def started(
    home: Path, *words: str, stdout: int = PIPE, stderr: int = PIPE, command: Sequence[str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """The running command. Whatever becomes of it, it doesn't outlive this."""
    with subprocess.Popen(
        [*(command or SPECCHAT), *words],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        cwd=home,
        env=environment(home),
        bufsize=0,
        **_DEFAULT_SIGINT,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def environment(home: Path) -> dict[str, str]:
    """The process's own, but in English, with all of specchat's files in `home` and one thread for each model.

    Threads of llama.cpp that wait for each other are slow where other programs want the same cores.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    threads = {f"{PREFIX}TARGET_THREADS": "1", f"{PREFIX}DRAFT_THREADS": "1"}
    return inherited | threads | {HOME_VARIABLE: str(home), "LANGUAGE": "en"}


def rest(process: subprocess.Popen[bytes]) -> Outcome:
    """Wait for the end of a started command; what it wrote since it was last read."""
    stdout, stderr = process.communicate(timeout=SECONDS)
    return Outcome(process.returncode, _text(stdout or b""), _text(stderr or b""))


def read_until(stream: int, wanted: bytes) -> bytes:
    """What comes from a file descriptor up to `wanted`, perhaps with more behind it."""
    got = b""
    while wanted not in got:
        more = os.read(stream, 4096)
        assert more, f"{wanted!r} never came after {got!r}"
        got += more
    return got


def all_of(terminal: int) -> bytes:
    """What comes from a pseudo-terminal until nobody can write to it any more."""
    got = b""
    try:
        while more := os.read(terminal, 4096):
            got += more
    except OSError:  # how Linux tells of the end
        pass
    return got


def engine_of(process: subprocess.Popen[bytes]) -> psutil.Process:
    """The one child that a command has once it has said anything of a model."""
    (engine,) = psutil.Process(process.pid).children(recursive=True)
    return engine


def gone(process: psutil.Process) -> bool:
    """Whether a process ends in time. One that nobody has reaped yet counts as gone."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    return False


def _text(output: bytes) -> str:
    return output.decode().replace(os.linesep, "\n")
