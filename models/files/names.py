"""What model files are called."""

from __future__ import annotations

import re
from pathlib import Path

PART = re.compile(r"(?i)^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$")
"""The name of one file of a model that is split, as llama.cpp names them."""


def called(path: Path) -> str:
    """What people call the model in the file `path`: all its parts alike, and as Jan's folder where the file is one
    of those that Jan calls `model.gguf`."""
    part = PART.match(path.name)
    stem = part["stem"] if part else path.stem
    return path.parent.name or stem if stem.lower() == "model" else stem
