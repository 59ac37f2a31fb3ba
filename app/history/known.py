"""What is known of pairs from before, for those who choose one and for the Lab's curve."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from specchat.app.chats.store import Store
from specchat.app.history.archive import Archive
from specchat.app.history.records import Entry
from specchat.app.history.setups import file_name, file_size

_Key = tuple[str, int, str, int]
"""Name and size of the target, and of the draft."""


class Known:
    """What was measured. Files are known by name and size, wherever they lie, so asking waits for the disk."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        """`entries` come latest first."""
        self._entries: dict[_Key, list[Entry]] = {}
        for entry in entries:  # by pair: a thousand models are asked for
            self._entries.setdefault(_key(entry), []).append(entry)

    def speed_up(self, target: Path, draft: Path | None) -> float | None:
        """What `draft` (None: lookup) was measured to bring for `target` the last time; None where it never was.

        Over all kinds of prompts where several were measured, else of one; partial measurements only for want of
        others.
        """
        return next((ratio for _gamma, ratio in self._measured(target, draft, lambda _entry: True)), None)

    def points(self, target: Path, draft: Path | None) -> list[tuple[int, float]]:
        """The same for each fixed number of guesses a round that was measured: (γ, speed-up), by γ."""
        latest: dict[int, float] = {}
        for gamma, ratio in self._measured(target, draft, lambda entry: entry.gamma.isdecimal()):
            latest.setdefault(int(gamma), ratio)
        return sorted(latest.items())

    def _measured(
        self, target: Path, draft: Path | None, counts: Callable[[Entry], bool]
    ) -> Iterator[tuple[str, float]]:
        """γ and speed-up of the pair's measurements that count, the best to rely on first."""
        draft_key = (file_name(draft), file_size(draft)) if draft else ("", 0)
        wanted = file_name(target), file_size(target), *draft_key
        found = [entry for entry in self._entries.get(wanted, ()) if counts(entry)]
        for entry in sorted(found, key=lambda entry: (entry.partial, -entry.when.timestamp(), bool(entry.kind))):
            if entry.speed_up is not None:
                yield entry.gamma, entry.speed_up


async def read_known(store: Store) -> Known:
    """All that was measured. Raises `StoreError`."""
    return Known(await Archive(store).entries())


def _key(entry: Entry) -> _Key:
    setup = entry.setup
    return setup.target, setup.target_size, setup.draft, setup.draft_size
