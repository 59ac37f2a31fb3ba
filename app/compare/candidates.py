"""What could guess for a target: lookup, the drafts it was measured with, and the models beside the present draft."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from specchat.app.bench.sides import LOOKUP
from specchat.app.history.known import Known
from specchat.app.history.setups import file_size


@dataclass(frozen=True, slots=True)
class Candidate:
    """A draft to choose: a file's path or `LOOKUP`, and its bytes."""

    draft: str
    size: int = 0
    known: float | None = None
    """The speed-up it was measured to bring for this target (see `Known.speed_up`)."""


def find_candidates(
    target: Path, present: str, known: Known | None = None, measured: Iterable[str] = ()
) -> tuple[Candidate, ...]:
    """The present draft and lookup first, then the files `measured` before, then those beside the draft and the target.

    A file as large as the target or larger can't make it faster, so it isn't offered. Looks at the disk.
    """
    known = known or Known(())
    folders = dict.fromkeys(Path(path).parent for path in (present, str(target)) if path != LOOKUP)
    files = [path for folder in folders for path in _models(folder)]
    most = file_size(target)
    drafts = [present, LOOKUP, *measured, *map(str, files)]
    found = []
    for draft in dict.fromkeys(drafts):
        size = 0 if draft == LOOKUP else file_size(draft)
        if draft in (LOOKUP, present) or 0 < size < most:
            file = None if draft == LOOKUP else Path(draft)
            found.append(Candidate(draft, size, known.speed_up(target, file)))
    return tuple(found)


def _models(folder: Path) -> Sequence[Path]:
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf" and path.is_file())
    return ()
