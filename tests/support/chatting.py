"""The chat screen with a fake engine behind it, to be driven by Textual's Pilot."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from textual.pilot import Pilot

from specchat.app.chats.store import Store
from specchat.app.conversation import Conversation
from specchat.app.screens.chat import ChatScreen
from specchat.app.screens.dialogs import Start
from specchat.app.tui import SpecchatApp
from specchat.app.widgets.composer import Composer
from specchat.app.widgets.notices import Notices
from specchat.app.widgets.reply import MessageView, ReplyView
from specchat.app.widgets.transcript import Transcript
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineFailure
from specchat.settings.values import Reply, Settings
from support.fake_engine import Scenario, fake_engine

SECONDS = 60
"""Longest wait for anything."""


@dataclass
class Chatting:
    """A running chat, and what a person sees of it."""

    app: SpecchatApp
    pilot: Pilot[None]
    conversation: Conversation

    async def type(self, text: str) -> None:
        """Press the keys for `text`."""
        await self.pilot.press(*text)

    async def send(self, text: str) -> None:
        """Type a prompt and press Enter."""
        await self.type(text)
        await self.pilot.press("enter")

    async def ask(self, text: str) -> ReplyView:
        """Send a prompt and wait until its reply has ended."""
        known = len(self.replies)
        await self.send(text)
        await self.until(lambda: len(self.replies) > known and self.replies[-1].message is not None)
        return self.replies[-1]

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds, and is painted."""
        deadline = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"never came: {self.text}"
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    @property
    def chat(self) -> ChatScreen:
        """The chat screen, also while something lies over it."""
        [screen] = [screen for screen in self.app.screen_stack if isinstance(screen, ChatScreen)]
        return screen

    @property
    def composer(self) -> Composer:
        """Where one types."""
        return self.chat.query_one(Composer)

    @property
    def transcript(self) -> Transcript:
        """The messages."""
        return self.chat.query_one(Transcript)

    @property
    def views(self) -> list[MessageView]:
        """The messages, as they are shown."""
        return list(self.transcript.query(MessageView))

    @property
    def replies(self) -> list[ReplyView]:
        """The replies among them."""
        return list(self.transcript.query(ReplyView))

    @property
    def notices(self) -> str:
        """The sentences above the prompt."""
        return str(self.chat.query_one(Notices).content)

    @property
    def text(self) -> str:
        """All that is on the screen, a line each."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)


@asynccontextmanager
async def chatting(
    home: Path,
    scenario: Scenario | None = None,
    *,
    size: tuple[int, int] = (120, 40),
    draft: bool = True,
    settings: Settings | None = None,
    start: Start | None = None,
) -> AsyncIterator[Chatting]:
    """A chat whose files are in `home`, once its models are loaded or failed to."""
    store = Store(home / "chats.sqlite3")
    assert await store.open() is None
    try:
        async with EngineClient(home / "engine.log", fake_engine(scenario)) as engine:
            conversation = Conversation(
                engine,
                store,
                settings or Settings(reply=Reply(max_tokens=0)),
                home / "target.gguf",
                home / "draft.gguf" if draft else None,
            )
            app = SpecchatApp(conversation, start or Start(home / "settings.toml", home / "data", home=home))
            async with app.run_test(size=size, notifications=True) as pilot:
                yield Chatting(app, pilot, conversation)
                with suppress(EngineFailure):  # a test that is quicker than the engine must not cut its start off
                    await engine.start()
    finally:
        await store.close()


async def loaded(chat: Chatting) -> None:
    """Wait until the models are loaded."""
    await chat.until(lambda: chat.conversation.loaded)
    await asyncio.sleep(0)
