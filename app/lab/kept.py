"""What was measured and written on this machine before, for a Lab that is opened without a chat."""

from __future__ import annotations

import json
import os
import platform
from contextlib import suppress
from pathlib import Path

from specchat.app.chats.records import StoreError
from specchat.app.chats.store import Store
from specchat.app.costs import Role, opened_quietly
from specchat.app.history.known import read_known
from specchat.app.lab.mine import MeasuredPoint, Mine, replies_of
from specchat.models.decoding.cost import CostTable


async def kept_measurements(path: Path) -> Mine:
    """The costs kept last on this machine, what their pair was measured to bring, and the replies of the latest chat.

    What can't be read is left out.
    """
    async with opened_quietly(path) as store:
        with suppress(StoreError):
            chats = await store.list_chats()
            messages = (await store.read_chat(chats[0].id))[1] if chats else []
            target, draft = await _costs(store, "target"), await _costs(store, "draft")
            points = await _points(store, target[1], draft[1])
            return Mine(target[0], draft[0], replies_of(messages), points)
    return Mine()


async def _points(store: Store, target: Path | None, draft: Path | None) -> list[MeasuredPoint]:
    if target is None or draft is None:
        return []
    return [MeasuredPoint(gamma, speed_up) for gamma, speed_up in (await read_known(store)).points(target, draft)]


async def _costs(store: Store, role: Role) -> tuple[CostTable | None, Path | None]:
    """The costs kept last of a model in this role, and its file."""
    here = [platform.node(), platform.machine(), os.cpu_count()]
    for source, table in await store.all_costs():
        with suppress(ValueError):
            known = json.loads(source)
            if isinstance(known, dict) and (known.get("role"), known.get("machine")) == (role, here):
                return table, Path(known["path"]) if isinstance(known.get("path"), str) else None
    return None, None
