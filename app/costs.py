"""What passes of models cost on this machine: kept in the store, so that the next load need not measure it anew.

Nothing here ever fails: without kept costs the engine measures, and costs that can't be kept are measured again.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from specchat.app.chats.records import StoreError
from specchat.app.chats.store import Store
from specchat.models.decoding.cost import CostTable
from specchat.models.engine.client import EngineClient
from specchat.models.engine.messages import Event, Load, Measured, ModelFile, Ready

Role = Literal["target", "draft"]

LONGEST_WAIT = 0.5
"""Seconds for which a program that is about to end waits for what its reply has shown."""

_NOT_COSTLY = ("ctx",)
"""Options of a model that don't change what a pass costs."""


class Costs:
    """Loads models with the costs that are known of them, and keeps what the engine measures."""

    def __init__(self, engine: EngineClient, store: Store) -> None:
        self._engine = engine
        self._store = store
        self._sources: dict[tuple[Role, ModelFile], str] = {}
        self._heard = asyncio.Event()
        self.known: tuple[CostTable | None, CostTable | None] = (None, None)
        """What is known of the target and the draft that were loaded last."""
        engine.on_measured = self._keep

    async def load(self, target: ModelFile, draft: ModelFile | None) -> AsyncGenerator[Event, None]:
        """What `EngineClient.load` does, with the costs."""
        ready = await self._engine.start()
        of_target = await self._find("target", target, ready)
        of_draft = await self._find("draft", draft, ready) if draft else None
        self.known = of_target, of_draft
        events = self._engine.load(target, draft, target_costs=of_target, draft_costs=of_draft)
        async with aclosing(events):
            async for event in events:
                yield event

    @asynccontextmanager
    async def heard_out(self) -> AsyncIterator[None]:
        """Around a reply after which the engine is closed: leaves when the engine has told what the reply has shown."""
        self._heard.clear()
        yield
        with suppress(TimeoutError):
            await asyncio.wait_for(self._heard.wait(), LONGEST_WAIT)

    async def _find(self, role: Role, file: ModelFile, ready: Ready) -> CostTable | None:
        self._sources.pop((role, file), None)
        source = await asyncio.to_thread(source_of, role, file, ready)
        if source is None:
            return None
        self._sources[role, file] = source
        try:
            return await self._store.find_costs(source)
        except StoreError:
            return None

    def _keep(self, load: Load, measured: Measured) -> None:
        roles: tuple[tuple[Role, ModelFile | None, CostTable | None], ...] = (
            ("target", load.target, measured.target),
            ("draft", load.draft, measured.draft),
        )
        self.known = measured.target, measured.draft
        costs: dict[str, CostTable] = {}
        for role, file, table in roles:
            source = self._sources.get((role, file)) if file else None
            if source and table:
                costs[source] = table
        if costs:
            self._store.keep_costs(costs)
        self._heard.set()


@asynccontextmanager
async def opened_quietly(path: Path) -> AsyncIterator[Store]:
    """The store at `path`, for what nobody must be told of: one that can't be used is an empty one in memory."""
    store = Store(path)
    try:
        await store.open()
        yield store
    finally:
        await store.close()


def source_of(role: Role, file: ModelFile, ready: Ready) -> str | None:
    """All that the costs of a model depend on, as JSON; None where its file isn't there."""
    try:
        found = Path(file.path).stat()
    except (OSError, ValueError):  # a path may hold what no path can
        return None
    options = {name: value for name, value in msgspec.to_builtins(file.options).items() if name not in _NOT_COSTLY}
    devices = [[device.name, device.description] for device in ready.devices]
    source = {
        "role": role,
        "path": file.path,
        "size": found.st_size,
        "changed": found.st_mtime_ns,
        "options": options,
        "machine": [platform.node(), platform.machine(), os.cpu_count()],
        "backend": ready.backend,
        "devices": devices,
        "build": [ready.versions, ready.system],
    }
    return json.dumps(source)  # which, unlike msgspec, takes a path that isn't UTF-8
