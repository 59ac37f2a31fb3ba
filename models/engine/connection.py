"""One engine process from its start to its end: who waits for which events, and why it ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

import msgspec

from specchat.models.engine import messages
from specchat.models.engine.child import GRACE, Child
from specchat.models.engine.death import died, useful_lines
from specchat.models.engine.errors import EngineDied, EngineFailure
from specchat.models.engine.messages import PROTOCOL, Event
from specchat.models.engine.silence import Patience, Silence
from specchat.models.errors import Params

_SLICES = 10

Inbox = asyncio.Queue[Event | EngineFailure]
Hear = Callable[[messages.Load, messages.Measured], None]
"""Takes what was measured of the models that a load was about."""


class Connection:
    """A process, and the requests it has not yet answered. Made by `open`; `close` it in the end.

    What the process measures is for `hear`, whenever that comes, and is no request's event.
    """

    def __init__(self, child: Child, patience: Patience, hear: Hear) -> None:
        self.ready: messages.Ready | None = None
        self.loaded: messages.Loaded | None = None
        """What is certainly loaded."""
        self.over = False
        """Whether the process is gone, or going."""
        self._child = child
        self._hear = hear
        self._loads: dict[int, messages.Load] = {}
        """Those asked for and not yet answered."""
        self._measuring: messages.Load | None = None
        """What was loaded last: the process may go on measuring that until the next load is done."""
        self._silence = Silence(patience)
        self._greeting: asyncio.Future[messages.Ready] = asyncio.get_running_loop().create_future()
        self._inboxes: dict[int, Inbox] = {}
        self._unheard: list[Event] = []
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def open(cls, command: Sequence[str], log_path: Path, patience: Patience, hear: Hear) -> Connection:
        """Start a process. Raises `EngineFailure` (`engine_start`) if the system can't."""
        try:
            child = await Child.spawn(command, log_path)
        except OSError as error:
            raise EngineFailure("engine_start", {"error": error.strerror or str(error)}) from error
        connection = cls(child, patience, hear)
        if child.log_problem:
            params: Params = {"path": str(log_path), "error": child.log_problem}
            connection._unheard.append(messages.Notice("log_unwritable", params))
        return connection

    async def greeting(self) -> messages.Ready:
        """Wait until the process is ready. Several may wait."""
        return await asyncio.shield(self._greeting)

    def tell(self, message: messages.Message) -> None:
        """Send a message; one sent to a process that is gone is lost."""
        self._child.write(messages.encode(message))

    def stop(self) -> None:
        """Ask every unanswered request to end early."""
        for number in self._inboxes:
            self.tell(messages.Stop(number))

    async def ask(self, request: messages.Load | messages.Generate | messages.Look) -> AsyncGenerator[Event, None]:
        """Send `request` and give its events, up to its answer."""
        if self.over:
            raise EngineFailure("engine_closed")
        try:
            self.tell(request)
        except UnicodeEncodeError as error:
            raise EngineFailure("not_unicode", {"text": ascii(error.object)[:100]}) from None
        if isinstance(request, messages.Load):
            self.loaded = None
            self._loads[request.id] = request
        inbox: Inbox = asyncio.Queue()
        for event in self._unheard:
            inbox.put_nowait(event)
        self._unheard.clear()
        self._inboxes[request.id] = inbox
        try:
            while True:
                answer = await inbox.get()
                if isinstance(answer, EngineFailure):
                    raise answer
                if isinstance(answer, messages.Failed):
                    raise EngineFailure(answer.code, answer.params)
                yield answer
                if isinstance(answer, messages.Loaded | messages.Done | messages.Position):
                    return
        finally:
            if request.id in self._inboxes:
                self.tell(messages.Stop(request.id))

    def unload(self) -> None:
        """Free the models, once the requests made so far are answered."""
        self.loaded = None
        self.tell(messages.Unload())

    async def close(self) -> None:
        """End the process. What still waits fails with `engine_closed`.

        No process is left even if this is cancelled.
        """
        self.over = True
        self.tell(messages.Quit())
        try:
            await self._child.end()
        finally:
            self._child.kill()
            await asyncio.wait({self._listener}, timeout=GRACE)
            self._listener.cancel()  # for a process that can't be killed, such as one that waits for a broken driver
            await asyncio.wait({self._listener})

    # ---------------------------------------------------------------- listening

    async def _listen(self) -> None:
        """Pass on what the process says until it ends, then tell everyone who waits why it did."""
        failure = EngineFailure("engine_closed")
        try:
            try:
                await self._pass_on()
                reason = None
            except EngineFailure as broken:
                self._child.kill()
                reason = broken
            exit_code = await self._child.end()
            log = await self._child.last_words()
            if not self.over:
                failure = reason or died(exit_code, log)
                failure.params.setdefault("log", "\n".join(useful_lines(log)))
        finally:
            self.over = True
            self.loaded = None
            self._child.close()
            self._fail(failure)

    def _fail(self, failure: EngineFailure) -> None:
        if not self._greeting.done():
            self._greeting.set_exception(failure)
            self._greeting.exception()  # nobody may be waiting any more, and that is no news for the event loop
        for inbox in self._inboxes.values():
            inbox.put_nowait(failure)
        self._inboxes.clear()

    async def _pass_on(self) -> None:
        """Pass on events until there are no more. Raises `EngineFailure` if the process must be given up."""
        while line := await self._next_line():
            try:
                self._dispatch(messages.decode_event(line))
            except msgspec.DecodeError:
                raise _misread(line) from None

    async def _next_line(self) -> bytes:
        """The next line; empty at the end. Raises `EngineDied` if it doesn't come in time although it should."""
        silence = self._silence
        while silence.seconds <= silence.limit:
            # Counted in slices: after a pause of the whole machine, or of this process, only the last one counts.
            slice_seconds = silence.limit / _SLICES
            try:
                async with asyncio.timeout(slice_seconds):
                    return await self._child.read_line()
            except TimeoutError:
                silence.lasted(slice_seconds, is_busy=bool(self._inboxes) or not self._greeting.done())
            except ValueError as error:
                raise EngineDied("engine_garbled", {"line": str(error)}) from None
        raise EngineDied("engine_silent", {"seconds": round(silence.seconds)})

    def _dispatch(self, event: Event) -> None:
        self._silence.broken(event)
        if not self._greeting.done():
            self._greet(event)
            return
        match event:
            case messages.Measured():
                if self._measuring:
                    self._hear(self._measuring, event)
                return
            case messages.Loaded():
                self.loaded = event
                self._measuring = self._loads.get(event.id)
        # What has no number belongs to the oldest request, which is the one being worked on.
        number = getattr(event, "id", 0) or next(iter(self._inboxes), 0)
        if inbox := self._inboxes.get(number):
            inbox.put_nowait(event)
        else:
            self._keep(event)
        if isinstance(event, messages.Loaded | messages.Done | messages.Position | messages.Failed):
            self._inboxes.pop(number, None)
            self._loads.pop(number, None)

    def _greet(self, event: Event) -> None:
        """Take an event that came before the process was ready, or the one that says it is."""
        match event:
            case messages.Ready(protocol=protocol) if protocol == PROTOCOL:
                self.ready = event
                self._greeting.set_result(event)
            case messages.Ready(protocol=protocol):
                raise _other_protocol(protocol)
            case messages.Failed():
                raise EngineFailure(event.code, event.params)
            case _:
                self._keep(event)

    def _keep(self, event: Event) -> None:
        """Keep what a person should still hear of for the next request."""
        if isinstance(event, messages.Notice):
            self._unheard.append(event)


class _Greeting(msgspec.Struct):
    """What a greeting of any protocol is expected to hold."""

    protocol: int


def _other_protocol(protocol: int) -> EngineFailure:
    return EngineFailure("protocol_version", {"app": PROTOCOL, "engine": protocol})


def _misread(line: bytes) -> EngineFailure:
    """Why `line` can't be read: the greeting of another protocol, or no message at all."""
    try:
        protocol = msgspec.json.decode(line, type=_Greeting).protocol
    except msgspec.DecodeError:
        protocol = PROTOCOL
    if protocol != PROTOCOL:
        return _other_protocol(protocol)
    return EngineDied("engine_garbled", {"line": line.decode(errors="replace").strip()[:100]})
