"""Files that overwrite nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path


def new_files(folder: Path, stem: str, endings: Sequence[str]) -> tuple[Path, ...]:
    """New, empty files in `folder`, one for each ending: called `stem`, or with the first free number behind it.

    Raises `OSError`.
    """
    for number in count(1):
        name = stem if number == 1 else f"{stem}-{number}"
        paths = tuple(folder / f"{name}{ending}" for ending in endings)
        if not any(path.exists() for path in paths):
            for path in paths:
                path.touch(exist_ok=False)
            return paths
    raise AssertionError  # there is always another number
