"""What could guess for a target: lookup, the drafts it was measured with, and the models beside the present draft."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from specchat.app.bench.sides import LOOKUP
from specchat.app.history.records import Entry
from specchat.app.history.setups import file_size


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft to choose: a file's path or `LOOKUP`, and its bytes."""

    draft: str
    size: int = 0
    known: float | None = None
    """The speed-up it was measured to bring for this target, latest."""


def find_candidates(
    target: Path, present: str, entries: Iterable[Entry] = (), measured: Iterable[str] = ()
) -> tuple[Candidate, ...]:
    """The present draft and lookup first, then the files `measured` before, then those beside the draft and the target.

    A file as large as the target or larger can't make it faster, so it isn't offered. Looks at the disk.
    """
    known = _known(target, entries)
    folders = dict.fromkeys(Path(path).parent for path in (present, str(target)) if path != LOOKUP)
    files = [path for folder in folders for path in _models(folder)]
    most = file_size(target)
    drafts = [present, LOOKUP, *measured, *map(str, files)]
    found = []
    for draft in dict.fromkeys(drafts):
        size = 0 if draft == LOOKUP else file_size(draft)
        if draft in (LOOKUP, present) or 0 < size < most:
            name = "" if draft == LOOKUP else Path(draft).name
            found.append(Candidate(draft, size, known.get((name, size))))
    return tuple(found)


def _known(target: Path, entries: Iterable[Entry]) -> dict[tuple[str, int], float]:
    """The latest speed-ups for `target` by the draft's name and size."""
    known: dict[tuple[str, int], float] = {}
    for entry in entries:
        if entry.setup.target == target.name and entry.speed_up is not None:
            known.setdefault((entry.setup.draft, entry.setup.draft_size), entry.speed_up)
    return known


def _models(folder: Path) -> Sequence[Path]:
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf" and path.is_file())
    return ()
