"""What is known of a pair from before, for those who choose one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from specchat.app.bench.intervals import Verdict
from specchat.app.chats.store import Store
from specchat.app.history.archive import Archive
from specchat.app.history.records import Entry
from specchat.app.history.setups import file_name, file_size


@dataclass(frozen=True, slots=True)
class KnownSpeedUp:
    """The latest measured speed-up of a pair: over all kinds of prompts where several were measured, else of one."""

    ratio: float
    low: float | None
    high: float | None
    """Ends of the 95 % interval; None where nothing was repeated."""
    verdict: Verdict
    kind: str
    """Empty for all kinds of a benchmark together."""
    gamma: str
    when: datetime


async def known_speedup(
    store: Store, target: Path, draft: Path | None, machine: str | None = None
) -> KnownSpeedUp | None:
    """What `draft` (None: lookup) was measured to bring for `target` on this `machine` (None: on any).

    Files are known by name and size, wherever they lie. None where nothing was measured. Raises `StoreError`.
    """
    wanted = await asyncio.to_thread(_key, target, draft)
    return best_known(await Archive(store).entries(wanted[0]), wanted, machine)


Key = tuple[str, int, str, int]
"""Names and sizes of a target's and a draft's file; lookup has an empty name and no size."""


def best_known(entries: Iterable[Entry], wanted: Key, machine: str | None = None) -> KnownSpeedUp | None:
    """The first of `entries`, which come latest first, that is about `wanted`; whole ones before partial ones."""
    found = [entry for entry in entries if key_of(entry) == wanted and machine in (None, entry.setup.machine)]
    measured = [entry for entry in found if entry.speed_up is not None]
    for entry in sorted(measured, key=lambda entry: (entry.partial, -entry.when.timestamp(), bool(entry.kind))):
        assert entry.speed_up is not None
        return KnownSpeedUp(entry.speed_up, entry.low, entry.high, entry.verdict, entry.kind, entry.gamma, entry.when)
    return None


def key_of(entry: Entry) -> Key:
    """What `entry` is about."""
    setup = entry.setup
    return setup.target, setup.target_size, setup.draft, setup.draft_size


def _key(target: Path, draft: Path | None) -> Key:
    return (
        file_name(target),
        file_size(target),
        file_name(draft) if draft else "",
        file_size(draft) if draft else 0,
    )
