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
from specchat.app.lab.mine import Mine, replies_of
from specchat.models.decoding.cost import CostTable


async def kept_measurements(path: Path) -> Mine:
    """The costs kept last on this machine, and the replies of the latest chat; what can't be read is left out."""
    async with opened_quietly(path) as store:
        with suppress(StoreError):
            chats = await store.list_chats()
            messages = (await store.read_chat(chats[0].id))[1] if chats else []
            target, draft = await _costs(store, "target"), await _costs(store, "draft")
            return Mine(target, draft, replies_of(messages))
    return Mine()


async def _costs(store: Store, role: Role) -> CostTable | None:
    here = [platform.node(), platform.machine(), os.cpu_count()]
    for source, table in await store.all_costs():
        with suppress(ValueError):
            known = json.loads(source)
            if isinstance(known, dict) and (known.get("role"), known.get("machine")) == (role, here):
                return table
    return None
