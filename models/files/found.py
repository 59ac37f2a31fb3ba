"""What a search for models comes upon, as plain values."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from specchat.models.errors import Params
from specchat.models.files.names import PART, called
from specchat.models.files.places import Place, Source


@dataclass(frozen=True, slots=True)
class Found:
    """A model on disk, of which nothing has been read. `path` is absolute and what is to be loaded.

    `size` (bytes) and `changed` (ns, the latest) are those of all its `parts` (files; 1 for most). `name` is what
    people call it: the file's name without its ending, Ollama's name, or that of Jan's folder; `origin` is the
    repository or the folder it came from, where that says more. `is_whole` is False while a part of it is still being
    downloaded.
    """

    path: Path
    name: str
    source: Source
    size: int
    changed: int
    parts: int = 1
    origin: str = ""
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a place was not looked through: `folder_gone` (path), `folder_unreadable` (path, reason),
    `folder_too_big` (path, count: the folders that were looked into)."""

    code: str
    params: Params


@dataclass(frozen=True, slots=True)
class Looked:
    """One folder has been looked into: its models, and at most one trouble."""

    place: Place
    folder: Path
    models: tuple[Found, ...] = ()
    trouble: Trouble | None = None


@dataclass(slots=True)
class Seen:
    """A folder's models, each with what tells its files from others however they are reached."""

    folder: Path
    models: list[tuple[Found, list[object]]] = field(default_factory=list)
    trouble: Trouble | None = None


def identity(path: str, status: os.stat_result) -> object:
    """What a file or folder is, by whatever path it is reached."""
    return (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(path)


def begins_as_gguf(path: str) -> bool:
    """Whether the file's first bytes are a GGUF's. What can't be read doesn't."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # it comes as text
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def unreadable(folder: Path, error: OSError) -> Trouble:
    """Why `folder` was not looked into."""
    return Trouble("folder_unreadable", {"path": str(folder), "reason": error.strerror or str(error)})


def whole_file(path: Path, name: str = "", source: Source = "folder") -> Found | None:
    """The model in the file `path` and, of a split one, in those beside it; None if there is none. Never raises."""
    part = PART.match(path.name)
    names = [path.name]
    if part:
        names = [f"{part['stem']}-{number + 1:05d}-of-{part['count']}.gguf" for number in range(int(part["count"]))]
    try:
        path.stat()
        files = [path.with_name(name) for name in names]
        statuses = [file.stat() for file in files if file.exists()] or [path.stat()]
    except (OSError, ValueError):
        return None
    size, changed = sum(status.st_size for status in statuses), max(status.st_mtime_ns for status in statuses)
    return Found(path, name or called(path), source, size, changed, parts=len(statuses))
