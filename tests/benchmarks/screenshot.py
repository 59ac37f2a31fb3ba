"""Take the README's picture: the chat with the pair of `specchat demo`, in the middle of a reply.

    uv run specchat demo        # once, to make the stand-in
    COLORTERM=truecolor uv run python tests/benchmarks/screenshot.py .github/chat.svg

Needs no terminal. What is on the picture was written and counted on the machine that takes it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from specchat.app.chats.store import Store
from specchat.app.conversation import Conversation
from specchat.app.demo import standin_path
from specchat.app.screens.dialogs import Start
from specchat.app.tui import SpecchatApp
from specchat.models.engine.client import EngineClient
from specchat.models.files.bundled import bundled_model
from specchat.settings.paths import find_paths
from specchat.settings.values import Sampling, Settings

PROMPT = "Write a Python function that checks whether a number is prime, and explain it."
SIZE = (120, 34)
TOKENS = 110


async def take(picture: Path) -> None:
    """Write one reply up to TOKENS tokens, switching speculation off and on in it, and save the screen."""
    standin = standin_path(find_paths(os.environ).cache)
    if not standin.exists():
        sys.exit("There is no stand-in yet: run `uv run specchat demo` once.")
    folder = Path(tempfile.mkdtemp())
    store = Store(folder / "chats.sqlite3")
    await store.open()
    async with EngineClient(folder / "engine.log") as engine:
        settings = Settings(sampling=Sampling(temperature=0))
        conversation = Conversation(engine, store, settings, standin, bundled_model())
        conversation.change(drafter="model", gamma=3)
        app = SpecchatApp(conversation, Start(folder / "settings.toml", folder))
        async with app.run_test(size=SIZE) as pilot:
            while conversation.loaded is None:
                await pilot.pause(0.1)
            await pilot.press(*PROMPT, "enter")
            for after, toggles in ((TOKENS // 3, True), (TOKENS // 2, True), (TOKENS, False)):
                while conversation.on.counters().tokens + conversation.off.counters().tokens < after:
                    await pilot.pause(0.05)
                if toggles:
                    await pilot.press("f2")
            picture.write_text(app.export_screenshot(title="specchat demo"), encoding="utf-8")
    await store.close()


if __name__ == "__main__":
    asyncio.run(take(Path(sys.argv[1])))
