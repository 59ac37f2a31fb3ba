"""Reads the whole history of a store."""

from __future__ import annotations

from specchat.app.chats.store import Store
from specchat.app.history.archive import Archive
from specchat.app.history.chat_sums import chat_sums
from specchat.app.history.records import History


async def read_history(store: Store) -> History:
    """What was measured, and the sums of ordinary chats. Raises `StoreError`."""
    return History(await Archive(store).entries(), await chat_sums(store))
