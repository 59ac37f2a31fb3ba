"""What a process tells without being asked: whom it is for, in whatever order it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from specchat.models.decoding.cost import CostTable, WidthCost
from specchat.models.engine.child import Child
from specchat.models.engine.connection import Connection
from specchat.models.engine.messages import (
    PROTOCOL,
    Event,
    Load,
    Loaded,
    Measured,
    Message,
    ModelFile,
    ModelInfo,
    Ready,
    encode,
)
from specchat.models.engine.silence import Patience
from specchat.settings.values import ModelOptions

FIRST, SECOND = (Load(number, ModelFile(f"{number}.gguf", ModelOptions())) for number in (1, 2))


class ScriptedChild:
    """A process that says what a test has it say."""

    log_problem = ""

    def __init__(self) -> None:
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()

    def say(self, message: Message) -> None:
        self._lines.put_nowait(encode(message))

    async def read_line(self) -> bytes:
        return await self._lines.get()

    def write(self, line: bytes) -> None:
        """Hear a request."""

    async def end(self) -> int:
        self._lines.put_nowait(b"")
        return 0

    async def last_words(self) -> str:
        return ""

    def kill(self) -> None:
        """End at once."""

    def close(self) -> None:
        """Be let go of."""


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Connection, ScriptedChild, list[tuple[str, int]]]]:
    """A connection, its process, and what was heard of measurements: the target's file and a width."""
    child, heard = ScriptedChild(), list[tuple[str, int]]()

    def hear(load: Load, measured: Measured) -> None:
        heard.append((load.target.path, measured.target.widths[0].width))

    connection = Connection(cast(Child, child), Patience(), hear)
    child.say(Ready(PROTOCOL, {}, "CPU", (), ""))
    await connection.greeting()
    yield connection, child, heard
    await connection.close()


def loaded(load: Load) -> Loaded:
    return Loaded(load.id, ModelInfo(load.target.path, "", "", 0, 0, 0, 0, (), 0, 0, True, True))


def measured(width: int) -> Measured:
    return Measured(CostTable((WidthCost(width, 0.1, 3),), ()))


async def ask(connection: Connection, load: Load) -> asyncio.Task[list[Event]]:
    """Ask for it; its events will be the task's."""

    async def events() -> list[Event]:
        return [event async for event in connection.ask(load)]

    task = asyncio.create_task(events())
    await asyncio.sleep(0)  # so that it is asked for
    return task


async def test_a_measurement_is_no_requests_event_and_never_lost() -> None:
    async with connected() as (connection, child, heard):
        asked = await ask(connection, FIRST)
        child.say(loaded(FIRST))
        child.say(measured(1))
        assert await asked == [loaded(FIRST)]
        child.say(measured(2))  # with nothing asked for
        while len(heard) < 2:
            await asyncio.sleep(0)
        assert heard == [("1.gguf", 1), ("1.gguf", 2)]


async def test_a_measurement_is_of_what_was_loaded_when_it_was_made() -> None:
    async with connected() as (connection, child, heard):
        first = await ask(connection, FIRST)
        child.say(loaded(FIRST))
        await first
        second = await ask(connection, SECOND)
        for message in (measured(1), loaded(SECOND), measured(2)):
            child.say(message)
        await second
        while len(heard) < 2:
            await asyncio.sleep(0)
        assert heard == [("1.gguf", 1), ("2.gguf", 2)]


async def test_a_measurement_of_nothing_is_left_out() -> None:
    async with connected() as (connection, child, heard):
        child.say(measured(1))
        asked = await ask(connection, FIRST)
        child.say(loaded(FIRST))
        await asked
        assert heard == []
