"""Keeps what was measured, in the chats' database, and reads it again."""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast, get_args

import msgspec

from specchat.app.bench.document import Comparison, Document, SideResult
from specchat.app.bench.intervals import Verdict
from specchat.app.bench.results import of_side
from specchat.app.bench.runner import Run
from specchat.app.bench.sides import LOOKUP, Side
from specchat.app.chats.records import Setup, StoreError
from specchat.app.chats.schema import transaction
from specchat.app.chats.store import Store, read_setup
from specchat.app.history.records import Entry, Guesser, Source
from specchat.app.history.setups import file_name, machine_name
from specchat.models.decoding.counters import Counters, count
from specchat.models.engine.messages import Ready

_counters: msgspec.json.Decoder[Counters] = msgspec.json.Decoder(Counters)

_ENTRIES = """SELECT id, source, created, partial, setup, drafter, gamma, kind, temperature, speed_up, low, high, pairs,
    verdict, counters_on, counters_off FROM comparisons JOIN benches ON bench = id
    ORDER BY created DESC, id DESC, comparisons.rowid"""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is to be kept: the document, its runs with all their rounds, and the machine in the history's words.

    `whole` is the document as it is to be found again, which may hold more than `document`.
    """

    source: Source
    document: Document
    runs: Sequence[Run]
    machine: str
    whole: msgspec.Struct | None = None


def measurement(
    source: Source, document: Document, runs: Sequence[Run], ready: Ready, whole: msgspec.Struct | None = None
) -> Measurement:
    """What is to be kept of a measurement on this machine."""
    return Measurement(source, document, runs, machine_name(ready), whole)


class Archive:
    """The measurements in a store. Every method may raise `StoreError`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def keep(self, measured: Measurement) -> int:
        """Add a measurement, all of it or nothing; its number."""
        return await self._store.work(lambda database: _keep(database, measured))

    async def entries(self, target: str | None = None) -> tuple[Entry, ...]:
        """All that was measured, the latest first; of one target's file (its name) where one is given."""
        return await self._store.work(lambda database: tuple(_entries(database, target)))

    async def drafts(self, target: str) -> tuple[str, ...]:
        """The paths of all draft files that were measured for a target's file (its name), the latest first."""
        return await self._store.work(lambda database: tuple(_drafts(database, target)))

    async def document(self, bench: int) -> bytes | None:
        """The JSON of a measurement; None where there is none, or it can't be read."""
        return await self._store.work(lambda database: _document(database, bench))


async def keep_in(path: Path, measured: Measurement) -> StoreError | None:
    """Add a measurement to the store in a file. Returns why that can't be done."""
    store = Store(path)
    try:
        problem = await store.open()
        if problem is None:
            await Archive(store).keep(measured)
    except StoreError as error:
        problem = error
    finally:
        await store.close()
    return problem


def _keep(database: sqlite3.Connection, measured: Measurement) -> int:
    document = measured.document
    packed = zlib.compress(msgspec.json.encode(measured.whole or document))
    with transaction(database):
        bench = database.execute(
            "INSERT INTO benches (source, created, partial, document) VALUES (?, ?, ?, ?)",
            (measured.source, time.time(), document.partial, packed),
        ).lastrowid
        assert bench is not None
        for side in document.sides:
            for kind, comparison in _kinds(side):
                _insert(database, "comparisons", _comparison(bench, measured, side, kind, comparison))
        for number, run in enumerate(measured.runs):
            _insert(database, "runs", _run(bench, number, run))
    return bench


def _kinds(side: SideResult) -> Iterator[tuple[str, Comparison]]:
    """Each kind, and all of them together where there are several."""
    yield from side.kinds.items()
    if len(side.kinds) > 1:
        yield "", side.overall


def _comparison(
    bench: int, measured: Measurement, side: SideResult, kind: str, comparison: Comparison
) -> dict[str, object]:
    document = measured.document
    kinds = (kind,) if kind else tuple(side.kinds)
    on, off = of_side(measured.runs, Side(side.draft, side.gamma), kinds)
    return {
        "bench": bench,
        "setup": _json(_setup(measured, side)),
        "drafter": side.drafter,
        "gamma": str(side.gamma),
        "kind": kind,
        "temperature": document.conditions.sampling.temperature,
        "speed_up": comparison.speed_up,
        "low": comparison.low,
        "high": comparison.high,
        "pairs": comparison.pairs,
        "verdict": comparison.verdict,
        "counters_on": _json(_count(on)),
        "counters_off": _json(_count(off)),
    }


def _setup(measured: Measurement, side: SideResult) -> Setup:
    document = measured.document
    sizes = {file.path: file.size for file in (document.target, *document.drafts)}
    draft = "" if side.draft == LOOKUP else side.draft
    target = document.target.path
    return Setup(
        target=file_name(target),
        target_size=sizes[target],
        draft=file_name(draft) if draft else "",
        draft_size=sizes.get(draft, 0),
        machine=measured.machine,
    )


def _run(bench: int, number: int, run: Run) -> dict[str, object]:
    step = run.step
    return {
        "bench": bench,
        "number": number,
        "draft": step.side.draft,
        "gamma": str(step.side.gamma),
        "kind": step.prompt.kind,
        "repeat": step.repeat,
        "seed": run.seed,
        "stop_reason": run.stop_reason,
        "counters": _json(count(run.rounds)),
    }


def _insert(database: sqlite3.Connection, table: str, row: dict[str, object]) -> None:
    statement = "INSERT INTO {table} ({names}) VALUES ({marks})"
    marks = ", ".join("?" * len(row))
    database.execute(statement.format(table=table, names=", ".join(row), marks=marks), tuple(row.values()))


def _entries(database: sqlite3.Connection, target: str | None) -> Iterator[Entry]:
    """What can be read of them."""
    for row in database.execute(_ENTRIES).fetchall():
        entry = _entry(row)
        if entry is not None and target in (None, entry.setup.target):
            yield entry


def _drafts(database: sqlite3.Connection, target: str) -> Iterator[str]:
    benches = {entry.bench for entry in _entries(database, target)}
    rows = database.execute("SELECT bench, draft FROM runs GROUP BY bench, draft ORDER BY bench DESC").fetchall()
    yield from dict.fromkeys(draft for bench, draft in rows if bench in benches and draft not in ("", LOOKUP))


def _entry(row: Sequence[Any]) -> Entry | None:
    bench, source, created, partial, kept, drafter, gamma, kind, temperature, *figures = row
    speed_up, low, high, pairs, verdict, on, off = figures
    setup = read_setup(kept)
    if setup is None or source not in get_args(Source) or verdict not in get_args(Verdict):
        return None
    with suppress(msgspec.DecodeError, TypeError, ValueError, OverflowError, OSError):
        return Entry(
            bench=bench,
            source=cast(Source, source),
            when=datetime.fromtimestamp(created, UTC),
            partial=bool(partial),
            setup=setup,
            guesser=cast(Guesser, drafter if drafter in get_args(Guesser) else "none"),
            gamma=str(gamma),
            kind=str(kind),
            temperature=float(temperature),
            speed_up=speed_up,
            low=low,
            high=high,
            pairs=int(pairs),
            verdict=cast(Verdict, verdict),
            on=_counters.decode(on),
            off=_counters.decode(off),
        )
    return None


def _document(database: sqlite3.Connection, bench: int) -> bytes | None:
    for (packed,) in database.execute("SELECT document FROM benches WHERE id = ?", (bench,)).fetchall():
        with suppress(TypeError, zlib.error):
            return zlib.decompress(packed)
    return None


def _count(runs: Sequence[Run]) -> Counters:
    return count(round for run in runs for round in run.rounds)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
