"""Keeps what was read of model files, so that a thousand of them are listed in a moment the next time."""

from __future__ import annotations

from pathlib import Path
from threading import RLock

import msgspec

from specchat.models.errors import Params
from specchat.models.files.errors import ModelFileError
from specchat.models.files.facts import FACTS_VERSION, Facts, read_facts
from specchat.models.files.found import Found
from specchat.settings.atomic import write_atomically

_MAX_BYTES = 256 << 20
_PASSING = ("file_missing", "file_unreadable", "file_part_missing")
"""What may be mended without the file being changed, so it isn't kept."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a file can't be chatted with: a `ModelFileError`'s code and parameters."""

    code: str
    params: Params


Known = Facts | Refusal


class _Entry(msgspec.Struct, frozen=True):
    size: int
    changed: int
    facts: Facts | None = None
    refusal: Refusal | None = None


class _Document(msgspec.Struct, frozen=True):
    version: int
    files: dict[str, _Entry]


class FactsCache:
    """Facts by path, size and time of change. Its methods may be called from several threads.

    A file that isn't there, is damaged or another version's is an empty cache; nothing here raises.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._entries: dict[str, _Entry] | None = None
        self._has_changed = False
        self._lock = RLock()

    def read(self, found: Found) -> Known:
        """What is known of `found`; its file is read where nothing is, or where it has changed since."""
        if (known := self.known(found)) is not None:
            return known
        known = _read(found.path)
        if not isinstance(known, Refusal):
            entry = _Entry(found.size, found.changed, facts=known)
        elif known.code in _PASSING:
            return known
        else:
            entry = _Entry(found.size, found.changed, refusal=known)
        with self._lock:
            self._loaded()[str(found.path)] = entry
            self._has_changed = True
        return known

    def known(self, found: Found) -> Known | None:
        """What is known of `found` without reading it; None if nothing is."""
        with self._lock:
            entry = self._loaded().get(str(found.path))
        if entry is None or (entry.size, entry.changed) != (found.size, found.changed):
            return None
        return entry.facts or entry.refusal

    def forget(self, path: Path | None = None) -> int:
        """Drop what is known of the file `path`, or of all files; how many that were. `save` makes it last."""
        with self._lock:
            entries = self._loaded()
            gone = list(entries) if path is None else [str(path)] if str(path) in entries else []
            for name in gone:
                del entries[name]
            self._has_changed = self._has_changed or bool(gone)
        return len(gone)

    def save(self, seen: set[str] | None = None) -> bool:
        """Write it down if it has changed; whether that could be done.

        `seen` are the paths that a search has come upon: others are dropped if their files aren't there any more.
        """
        with self._lock:
            entries = self._loaded()
            if seen is not None:
                for name in [name for name in entries if name not in seen and not _is_there(name)]:
                    del entries[name]
                    self._has_changed = True
            if not self._has_changed:
                return True
            try:
                write_atomically(self._file, msgspec.json.encode(_Document(FACTS_VERSION, entries)))
            except (OSError, UnicodeEncodeError):
                return False
            self._has_changed = False
            return True

    def _loaded(self) -> dict[str, _Entry]:
        if self._entries is None:
            self._entries = _load(self._file)
        return self._entries


def _load(file: Path) -> dict[str, _Entry]:
    try:
        if file.stat().st_size > _MAX_BYTES:
            return {}
        document = msgspec.json.decode(file.read_bytes(), type=_Document)
    except (OSError, msgspec.DecodeError, RecursionError):
        return {}
    return document.files if document.version == FACTS_VERSION else {}


def _read(path: Path) -> Known:
    try:
        return read_facts(path)
    except ModelFileError as error:
        return Refusal(error.code, error.params)


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
