"""The standard streams: always there, in UTF-8, and standard error never in the way of the work."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import TextIO


def prepare() -> None:
    """Make all three usable: UTF-8 whatever the locale, never failing over a character, and none of them missing.

    Python has None for a stream that was closed when it started. A file opened later would get the stream's number
    then, and whatever writes to that number would write into the file; so the null device takes the place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 - it stays open like any of them
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")


def complain(said: str) -> None:
    """Say on standard error that something is wrong or not as asked."""
    tell(f"specchat: {said}")


def tell(*lines: str) -> None:
    """Write whole lines to standard error. If nobody can read them, the work goes on all the same."""
    try:
        print(*lines, sep="\n", file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Send what a broken stream still holds to nowhere: Python would complain of it on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError):  # of a stream that is no file
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
