"""A specchat that ends without a word in the middle of a reply, as a test's victim.

Arguments: the file of its chats and its engine's command as a JSON list.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from specchat.app.chats.store import Store
from specchat.app.conversation import Conversation
from specchat.models.engine.client import EngineClient
from specchat.settings.values import Settings


def characters_saved(path: Path) -> int:
    """The length of the reply as another process sees it."""
    with closing(sqlite3.connect(path)) as connection:
        [length] = connection.execute("SELECT sum(length(content)) FROM messages WHERE role = 'assistant'").fetchone()
        return length or 0


async def chat(path: Path, command: list[str]) -> None:
    """Let the engine write until some of it is saved, then end as if the power had gone."""
    store = Store(path)
    await store.open()
    engine = EngineClient(path.with_name("engine.log"), command)
    conversation = Conversation(engine, store, Settings(), Path("target.gguf"))
    async for _ in conversation.send("Is 7 prime?"):
        if characters_saved(path) > 100:
            os._exit(9)


if __name__ == "__main__":
    asyncio.run(chat(Path(sys.argv[1]), json.loads(sys.argv[2])))
