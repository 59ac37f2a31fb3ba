"""The history for programs: JSON and CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

import msgspec

from specchat.app.figures import NAMES
from specchat.app.history.records import ChatSums, Entry, History
from specchat.app.words import visible
from specchat.models.decoding.counters import Counters

VERSION = 1

_COMMON = ("source", "when", "target", "target_size", "draft", "draft_size", "machine", "guesser", "kind")
_MEASURED = ("partial", "gamma", "temperature", "speed_up", "low", "high", "pairs", "verdict")
_ESTIMATES = ("tokens_per_second_without", "speed_up")
"""Counters that say nothing where nothing was guessed."""
_COLUMNS = (*_COMMON, "replies", *_MEASURED, *(f"{side}_{name}" for side in ("on", "off") for name in NAMES))


def as_json(history: History) -> str:
    """One object: `measured` with every comparison, `chats` with the sums of ordinary chats."""
    document = {
        "schema": "specchat.history",
        "version": VERSION,
        "measured": [{**_fields(entry), "bench": entry.bench} for entry in history.entries],
        "chats": [_fields(sums) for sums in history.chats],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def as_csv(history: History) -> str:
    """A line for each; what doesn't belong to one is empty. Sums of chats have the source `chat`."""
    written = StringIO()
    writer = csv.DictWriter(written, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    rows: list[Entry | ChatSums] = [*history.entries, *history.chats]
    writer.writerows(map(_line, rows))
    return written.getvalue()


def _fields(row: Entry | ChatSums) -> dict[str, object]:
    """All fields under their names, with every counter."""
    common = {
        "source": row.source if isinstance(row, Entry) else "chat",
        "when": row.when.isoformat(timespec="seconds"),
    }
    names = _MEASURED if isinstance(row, Entry) else ("replies",)
    return {
        **common,
        **msgspec.structs.asdict(row.setup),
        "guesser": row.guesser,
        "kind": row.kind,
        **{name: getattr(row, name) for name in names},
        "on": _figures(row.on),
        "off": _figures(row.off),
    }


def _figures(counters: Counters) -> dict[str, object]:
    figures = {name: getattr(counters, name) for name in NAMES}
    return figures if counters.drafted else {**figures, **dict.fromkeys(_ESTIMATES)}


def _line(row: Entry | ChatSums) -> dict[str, object]:
    return {name: visible(value) if isinstance(value, str) else value for name, value in _flat(_fields(row))}


def _flat(fields: dict[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from ((f"{name}_{inner}", figure) for inner, figure in value.items())
        else:
            yield name, value
