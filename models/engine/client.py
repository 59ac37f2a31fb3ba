"""The app's side of the engine: starts a process when one is needed, and asks it for models and replies."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from types import TracebackType
from typing import Self

from specchat.models.decoding.cost import CostTable
from specchat.models.engine.connection import Connection
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import (
    Change,
    ChatMessage,
    DrafterName,
    Event,
    Generate,
    Load,
    Loaded,
    Look,
    Measured,
    ModelFile,
    Position,
    Ready,
)
from specchat.models.engine.silence import Patience
from specchat.settings.values import Sampling, Speculation

# -P keeps the current folder out of the child's imports.
COMMAND = (sys.executable, "-P", "-m", "specchat.models.engine.server")


class EngineClient:
    """Talks to one engine process at a time, from one event loop.

    Use as `async with EngineClient(…) as engine:`, which leaves no process behind. Requests are served in the order
    in which they are made. A request that comes to nothing raises `EngineFailure`; one whose process is lost raises
    `EngineDied`. The next `load` then starts a new process.

    `on_measured` is called with what passes of loaded models cost, and the load that they come from. That may be at
    any time after that load, also while nothing is asked for and after another load was.
    """

    def __init__(self, log_path: Path, command: Sequence[str] = COMMAND, *, patience: Patience | None = None) -> None:
        self._log_path = log_path
        self._command = command
        self._patience = patience or Patience()
        self._numbers = itertools.count(1)
        self._connection: Connection | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self.on_measured: Callable[[Load, Measured], None] = lambda _load, _measured: None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def ready(self) -> Ready | None:
        """What the running process said of itself; None if none runs."""
        return self._connection.ready if self._connection and not self._connection.over else None

    @property
    def loaded(self) -> Loaded | None:
        """What is certainly loaded; None also after a process was lost."""
        return self._connection.loaded if self._connection and not self._connection.over else None

    async def start(self) -> Ready:
        """Start a process unless one runs, and wait until it is ready. If cancelled, it goes on starting."""
        return await (await self._started()).greeting()

    async def load(
        self,
        target: ModelFile,
        draft: ModelFile | None = None,
        *,
        target_costs: CostTable | None = None,
        draft_costs: CostTable | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Have exactly these models loaded, starting a process if none runs; the events end with `Loaded`.

        The costs are what was measured before of the same models, loaded the same way on this machine.
        Leaving the iteration early (close it, or cancel) stops the load.
        """
        connection = await self._started()
        await connection.greeting()
        request = Load(next(self._numbers), target, draft, target_costs, draft_costs)
        async with aclosing(connection.ask(request)) as events:
            async for event in events:
                yield event

    def generate(
        self,
        prompt: tuple[ChatMessage, ...] | str,
        *,
        sampling: Sampling,
        speculation: Speculation,
        drafter: DrafterName,
        max_tokens: int,
        stop: tuple[str, ...] = (),
        fresh: bool = False,
    ) -> AsyncGenerator[Event, None]:
        """Write a reply; the events end with `Done`. Raises `not_loaded` where `loaded` is None.

        One that is `fresh` reuses nothing that the models have read before. Leaving the iteration early (close it, or
        cancel) stops the reply.
        """
        if self._connection is None or self.loaded is None:
            raise EngineFailure("not_loaded")
        number = next(self._numbers)
        request = Generate(number, prompt, sampling, speculation, drafter, max_tokens, stop, fresh)
        return self._connection.ask(request)

    async def look(self, position: int) -> Position:
        """What was known where token `position` of the last reply, counted from 0, was written.

        Fails with `position_unknown` where there is none (any more), and with `not_loaded` where `loaded` is None.
        During a reply the answer comes after it, and is about it.
        """
        if self._connection is None or self.loaded is None:
            raise EngineFailure("not_loaded")
        async with aclosing(self._connection.ask(Look(next(self._numbers), position))) as events:
            async for event in events:
                if isinstance(event, Position):
                    return event
        raise EngineFailure("engine_closed")

    def change(self, change: Change) -> None:
        """Speculate differently from the next round on, in every reply asked for so far."""
        if self._connection:
            self._connection.tell(change)

    def stop(self) -> None:
        """Ask every request made so far to end early. A stopped load fails with `cancelled`."""
        if self._connection:
            self._connection.stop()

    def unload(self) -> None:
        """Free the models, once the requests made so far are answered."""
        if self._connection:
            self._connection.unload()

    async def close(self) -> None:
        """End the process, if one runs. Requests still unanswered fail with `engine_closed`.

        No process is left even if this is cancelled. The next `load` starts a new one.
        """
        self._closed = True
        if self._connection:
            await self._connection.close()

    async def _started(self) -> Connection:
        """The running process, which may not be ready yet."""
        async with self._starting:
            if self._connection is None or self._connection.over:
                self._closed = False
                connection = await Connection.open(self._command, self._log_path, self._patience, self._hear)
                if self._closed:  # by another task, which could not see the process that was just being made
                    await connection.close()
                    raise EngineFailure("engine_closed")
                self._connection = connection
            return self._connection

    def _hear(self, load: Load, measured: Measured) -> None:
        self.on_measured(load, measured)
