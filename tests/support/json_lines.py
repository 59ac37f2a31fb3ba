"""Records kept as lines of JSON, one as soon as it is made, so that a long measurement can go on where it stopped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")


def read(file: Path, kind: type[T]) -> list[T]:
    """The records so far; a line that was cut off is left out."""
    records = []
    for line in filter(None, file.read_bytes().splitlines()) if file.exists() else ():
        try:
            records.append(msgspec.json.decode(line, type=kind))
        except msgspec.DecodeError:
            print(f"left out: {line[:60]!r}", file=sys.stderr)
    return records
