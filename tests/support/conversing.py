"""A conversation without a screen, what it asks its engine for, and what another specchat finds in its file."""

from __future__ import annotations

import asyncio
import codecs
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from specchat.app.chats.records import Message
from specchat.app.chats.store import Store
from specchat.app.conversation import Conversation
from specchat.models.decoding.cost import CostTable
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import ChatMessage, Event, ModelFile, Written
from specchat.settings.values import Settings
from support.fake_engine import Scenario, fake_engine

SECONDS = 60
QUESTION = "Is 7 prime?"


class Recorder(EngineClient):
    """An engine's client that keeps what it was asked for. `before` is called just before it asks its process."""

    def __init__(self, log_path: Path, command: Sequence[str]) -> None:
        super().__init__(log_path, command)
        self.before: Callable[[], object] = lambda: None
        self.loads: list[tuple[ModelFile, ModelFile | None]] = []
        self.costs: list[dict[str, CostTable | None]] = []
        """Those that came with each load."""
        self.prompts: list[list[str]] = []
        """Each message as `role: content`."""

    async def load(
        self, target: ModelFile, draft: ModelFile | None = None, **costs: CostTable | None
    ) -> AsyncGenerator[Event, None]:
        self.before()
        self.loads.append((target, draft))
        self.costs.append(costs)
        async with aclosing(super().load(target, draft, **costs)) as events:
            async for event in events:
                yield event

    def generate(self, prompt: tuple[ChatMessage, ...] | str, **asked: Any) -> AsyncGenerator[Event, None]:
        self.before()
        assert not isinstance(prompt, str)
        self.prompts.append([f"{message.role}: {message.content}" for message in prompt])
        return super().generate(prompt, **asked)


@dataclass
class Scene:
    """A conversation and what is around it."""

    conversation: Conversation
    engine: Recorder
    path: Path
    """The file of its chats."""

    @property
    def messages(self) -> list[Message]:
        return self.conversation.messages

    async def say(self, text: str = QUESTION) -> list[Event]:
        """Everything that came of saying `text`."""
        return [event async for event in self.conversation.send(text)]

    async def say_in_vain(self, text: str = QUESTION) -> EngineFailure:
        """Why the reply failed."""
        with pytest.raises(EngineFailure) as caught:
            await self.say(text)
        return caught.value

    async def kept(self) -> list[Message]:
        """The open chat's messages as another specchat finds them."""
        assert self.conversation.chat is not None
        return await kept(self.path, self.conversation.chat.id)

    def rows(self, question: str) -> list[Any]:
        """What the file has to say to `question`."""
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(question).fetchall()


async def kept(path: Path, chat: int) -> list[Message]:
    """A chat's messages as they are in the file."""
    store = Store(path)
    assert await store.open() is None
    try:
        return (await store.read_chat(chat))[1]
    finally:
        await store.close()


@asynccontextmanager
async def conversing(
    folder: Path,
    scenario: Scenario | None = None,
    *,
    settings: Settings | None = None,
    models: tuple[Path, Path | None] = (Path("target.gguf"), Path("draft.gguf")),
    command: Sequence[str] | None = None,
) -> AsyncIterator[Scene]:
    """A conversation whose files are in `folder`. Its engine plays `scenario`, unless `command` starts another."""
    path = folder / "data" / "chats.db"
    store = Store(path)
    assert await store.open() is None
    try:
        engine = Recorder(folder / "engine.log", command or fake_engine(scenario))
        async with asyncio.timeout(SECONDS), engine:
            yield Scene(Conversation(engine, store, settings or Settings(), *models), engine, path)
    finally:
        await store.close()


async def until_written(events: AsyncIterator[Event]) -> Written:
    """The first round among `events`."""
    async for event in events:
        if isinstance(event, Written):
            return event
    raise AssertionError("nothing was written")


def written_by(message: Message) -> str:
    """The text that a reply's steps tell of. Half a character at its end shows only where the engine ended it."""
    kept = (piece for step in message.steps for piece in (*step.pieces[: step.round.accepted], step.pieces[-1]))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(b"".join(kept), final=message.state in ("whole", "stopped"))
