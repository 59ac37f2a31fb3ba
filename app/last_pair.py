"""A chosen pair of models, and remembering the last ones for the next start."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from specchat.models.engine.messages import DrafterName
from specchat.models.errors import Params
from specchat.settings.atomic import write_atomically


class PairChoice(msgspec.Struct, frozen=True):
    """A target, the draft model that is loaded beside it (None: none is), and what guesses. Paths are absolute."""

    target: Path
    draft: Path | None
    drafter: DrafterName


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is left of the last pair (None: nothing), and the code of one quiet sentence if something is gone."""

    pair: PairChoice | None
    code: str = ""
    params: Params = field(default_factory=dict)


MOST_RECENT = 8
"""Pairs that are remembered beside the last one."""


def remember(data: Path, pair: PairChoice) -> None:
    """Keep `pair` in the data folder. Raises `OSError`. Waits for the disk: not for the screen's own loop."""
    write_atomically(_file(data), msgspec.json.encode(pair, enc_hook=str))
    if pair.draft is not None:
        others = [other for other in _recent(data) if (other.target, other.draft) != (pair.target, pair.draft)]
        _write_recent(data, [pair, *others][:MOST_RECENT])


def recent(data: Path) -> list[PairChoice]:
    """The pairs of two models that were loaded lately, the last one first, as far as their files are there."""
    return [pair for pair in _recent(data) if _is_file(pair.target) and pair.draft and _is_file(pair.draft)]


def forget(data: Path, model: Path | None = None) -> int:
    """Remember no pair with `model` in it any more, or none at all; how many that were. Raises `OSError`."""
    known = _recent(data)
    last = _last(data)
    left = [] if model is None else [pair for pair in known if model not in (pair.target, pair.draft)]
    gone = {(pair.target, pair.draft) for pair in known if pair not in left}
    if last and (model is None or model in (last.target, last.draft)):
        gone.add((last.target, last.draft))
        _file(data).unlink(missing_ok=True)
    if len(left) < len(known):
        _write_recent(data, left)
    return len(gone)


def recall(data: Path) -> Recalled:
    """The pair of last time, without what has vanished since. A record that can't be read is none. Never raises.

    Codes: `last_target_gone` (path); `last_draft_gone` (path): prompt lookup takes the place of a draft that guessed.
    """
    pair = _last(data)
    if pair is None:
        return Recalled(None)
    if not _is_file(pair.target):
        return Recalled(None, "last_target_gone", {"path": str(pair.target)})
    if pair.draft is not None and not _is_file(pair.draft):
        drafter: DrafterName = "none" if pair.drafter == "none" else "lookup"
        return Recalled(PairChoice(pair.target, None, drafter), "last_draft_gone", {"path": str(pair.draft)})
    return Recalled(pair)


def _file(data: Path) -> Path:
    return data / "last-pair.json"


def _recent_file(data: Path) -> Path:
    return data / "recent-pairs.json"


def _last(data: Path) -> PairChoice | None:
    try:
        return msgspec.json.decode(_file(data).read_bytes(), type=PairChoice, dec_hook=_path)
    except (OSError, msgspec.DecodeError):
        return None


def _recent(data: Path) -> list[PairChoice]:
    try:
        return msgspec.json.decode(_recent_file(data).read_bytes(), type=list[PairChoice], dec_hook=_path)
    except (OSError, msgspec.DecodeError):
        return []


def _write_recent(data: Path, pairs: list[PairChoice]) -> None:
    write_atomically(_recent_file(data), msgspec.json.encode(pairs, enc_hook=str))


def _path(_kind: type, text: Any) -> Path:
    return Path(text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # in a folder that can't be looked into any more
        return False
