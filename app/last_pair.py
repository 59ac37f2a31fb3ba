"""A chosen pair of models, and remembering the last one for the next start."""

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


def remember(data: Path, pair: PairChoice) -> None:
    """Keep `pair` in the data folder. Raises `OSError`. Waits for the disk: not for the screen's own loop."""
    write_atomically(_file(data), msgspec.json.encode(pair, enc_hook=str))


def recall(data: Path) -> Recalled:
    """The pair of last time, without what has vanished since. A record that can't be read is none. Never raises.

    Codes: `last_target_gone` (path); `last_draft_gone` (path): prompt lookup takes the place of a draft that guessed.
    """
    try:
        pair = msgspec.json.decode(_file(data).read_bytes(), type=PairChoice, dec_hook=_path)
    except (OSError, msgspec.DecodeError):
        return Recalled(None)
    if not _is_file(pair.target):
        return Recalled(None, "last_target_gone", {"path": str(pair.target)})
    if pair.draft is not None and not _is_file(pair.draft):
        drafter: DrafterName = "none" if pair.drafter == "none" else "lookup"
        return Recalled(PairChoice(pair.target, None, drafter), "last_draft_gone", {"path": str(pair.draft)})
    return Recalled(pair)


def _file(data: Path) -> Path:
    return data / "last-pair.json"


def _path(_kind: type, text: Any) -> Path:
    return Path(text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # in a folder that can't be looked into any more
        return False
