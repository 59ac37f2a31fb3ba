"""The process the models live in: it serves one parent until the parent goes.

Run as `python -m specchat.models.engine.server`; requests come on stdin, events go to stdout, and stderr is the log.
The main thread does the work, one request after the other. A second thread reads, so that a change or a stop acts
at once, and so that the process ends with its parent whatever the main thread is computing.
"""

from __future__ import annotations

import faulthandler
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn, Protocol

import msgspec

from specchat.models.engine.control import Control, Stoppable
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import (
    Change,
    Event,
    Failed,
    Generate,
    Load,
    Look,
    Quit,
    Ready,
    Stop,
    Unload,
    decode_request,
    encode,
)

Send = Callable[[Event], None]


class Session(Protocol):
    """What does the work. It sends its events itself, answers included, and raises `EngineFailure` for a failure."""

    def ready(self) -> Ready:
        """What this engine is."""

    def load(self, request: Load, cancelled: Callable[[], bool]) -> None:
        """Load, and send `Loaded`. A cancelled load is a failure with the code `cancelled`."""

    def generate(self, request: Generate, control: Control) -> None:
        """Write a reply as `control` says from round to round, and send `Done`."""

    def look(self, request: Look) -> None:
        """Send the `Position` that was asked for."""

    def unload(self) -> None:
        """Free everything."""

    def wait(self, is_idle: Callable[[], bool]) -> bool:
        """Do a little of what can wait while there is nothing else to do; whether there is more of it."""


@dataclass(frozen=True, slots=True)
class _Job:
    id: int
    work: Callable[[Session], None]
    control: Stoppable = field(default_factory=Stoppable)


class Server:
    """Serves the requests of one pipe and sends events to another."""

    def __init__(self, requests: BinaryIO, events: BinaryIO) -> None:
        self._requests = requests
        self._events = events
        self._sending = threading.Lock()
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._controls: dict[int, Stoppable] = {}
        self._controls_lock = threading.Lock()

    def send(self, event: Event) -> None:
        """Send one event, from any thread. Ends the process if the parent no longer listens."""
        line = encode(event)
        with self._sending:
            try:
                self._events.write(line)
                self._events.flush()
            except OSError:
                os._exit(0)

    def run(self, make_session: Callable[[Send], Session]) -> NoReturn:
        """Make the session, then serve until the parent goes."""
        threading.Thread(target=self._listen, name="requests", daemon=True).start()
        try:
            session = make_session(self.send)
            self.send(session.ready())
        except Exception as error:
            self._fail(0, error, "engine_start")
            os._exit(1)
        while True:
            self._do(self._next_job(session), session)

    def _next_job(self, session: Session) -> _Job:
        """The next request; until there is one, the session does what can wait."""
        try:
            while self._jobs.empty() and session.wait(self._jobs.empty):
                pass
        except Exception:  # whatever it is, it was nobody's request
            traceback.print_exc()
        return self._jobs.get()

    def _do(self, job: _Job, session: Session) -> None:
        try:
            job.work(session)
        except Exception as error:
            self._fail(job.id, error, "internal")
        finally:
            with self._controls_lock:
                self._controls.pop(job.id, None)

    def _fail(self, request: int, error: Exception, code: str) -> None:
        """Send the failure of `request`; `code` is for errors that nobody foresaw, which the log tells of in full."""
        if isinstance(error, EngineFailure):
            self.send(Failed(request, error.code, error.params))
            return
        traceback.print_exception(error)
        self.send(Failed(request, code, {"error": f"{type(error).__name__}: {error}"}))

    def _listen(self) -> None:
        """Read until the parent goes, then end the process at once: nothing in it needs tidying up."""
        try:
            for line in self._requests:
                self._take(line)
        except OSError:
            pass  # how Windows tells of a parent that has gone
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _take(self, line: bytes) -> None:
        try:
            request = decode_request(line)
        except msgspec.DecodeError as error:
            self._refuse(line, str(error))
            return
        match request:
            case Quit():
                os._exit(0)
            case Stop(id=wanted):
                self._stop(wanted)
            case Change():
                self._change(request)
            case Load():
                control = Stoppable()
                self._accept(
                    _Job(request.id, lambda session: session.load(request, lambda: control.cancelled), control)
                )
            case Generate():
                reply = Control(request.speculation, request.drafter)
                self._accept(_Job(request.id, lambda session: session.generate(request, reply), reply))
            case Look():
                self._accept(_Job(request.id, lambda session: session.look(request)))
            case Unload():
                self._jobs.put(_Job(0, lambda session: session.unload()))

    def _accept(self, job: _Job) -> None:
        with self._controls_lock:
            self._controls[job.id] = job.control
        self._jobs.put(job)

    def _refuse(self, line: bytes, reason: str) -> None:
        """Answer a line that is no request, in its turn. Its sender may still be told by id which one it was."""

        def work(_: Session) -> None:
            raise EngineFailure("protocol", {"error": reason})

        try:
            request = msgspec.json.decode(line, type=_Numbered).id
        except msgspec.DecodeError:
            request = 0
        self._jobs.put(_Job(request, work))

    def _stop(self, request: int) -> None:
        with self._controls_lock:
            if control := self._controls.get(request):
                control.stop()

    def _change(self, change: Change) -> None:
        """Change the reply being written and those asked for before the change."""
        with self._controls_lock:
            for control in self._controls.values():
                if isinstance(control, Control):
                    control.change(change)


class _Numbered(msgspec.Struct):
    id: int = 0


def take_over() -> tuple[BinaryIO, BinaryIO]:
    """Make this process an engine's and return its pipes, (requests, events), out of the reach of native code.

    From then on whatever writes to stdout writes to the log, and whatever reads stdin finds nothing.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's ctrl+C is the parent's business
    os.environ["GGML_NO_BACKTRACE"] = "1"  # else ggml forks a debugger when it aborts
    faulthandler.enable()
    requests, events = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr  # which is flushed line by line
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(requests, os.O_BINARY)
        msvcrt.setmode(events, os.O_BINARY)
    return os.fdopen(requests, "rb"), os.fdopen(events, "wb")


def _make_session(send: Send) -> Session:
    # Here and not above: importing llama_cpp runs native code, and the pipes must be safe by then.
    from specchat.models.engine.session import Session as RealSession

    return RealSession(send)


if __name__ == "__main__":
    Server(*take_over()).run(_make_session)
