"""The SHA-256 of model files, computed beside the event loop."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

_CHUNK = 2**20

Progress = Callable[[int, int], None]
"""Called, from another thread, with (bytes done, bytes in all)."""


async def hash_files(paths: Sequence[str], progress: Progress) -> dict[str, str]:
    """The SHA-256 of each file, in hexadecimal, by path; without those that can't be read.

    If this is cancelled, the reading ends soon.
    """
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(_hash_files, paths, progress, cancelled)
    finally:
        cancelled.set()


def _hash_files(paths: Sequence[str], progress: Progress, cancelled: threading.Event) -> dict[str, str]:
    hashes: dict[str, str] = {}
    done, total = 0, sum(Path(path).stat().st_size for path in paths if Path(path).is_file())
    for path in paths:
        digest = hashlib.sha256()
        with suppress(OSError), Path(path).open("rb") as file:
            while not cancelled.is_set() and (chunk := file.read(_CHUNK)):
                digest.update(chunk)
                done += len(chunk)
                progress(done, total)
            hashes[path] = digest.hexdigest()
    return hashes
