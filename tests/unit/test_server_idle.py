"""What the engine's server does while nobody asks for anything."""

from __future__ import annotations

import io
import queue
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from specchat.models.engine.control import Control
from specchat.models.engine.messages import PROTOCOL, Generate, Load, Look, ModelFile, Ready, Unload, encode
from specchat.models.engine.server import Server
from specchat.settings.values import ModelOptions

LOAD = encode(Load(1, ModelFile("target.gguf", ModelOptions())))
UNLOAD = encode(Unload())


class Over(BaseException):
    """Ends the server's loop, which no error does."""


class Requests:
    """A pipe that never ends."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def send(self, line: bytes) -> None:
        self._lines.put(line)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            yield self._lines.get()


class Session:
    """Does nothing but to note what it is told to do; each time it may wait, it acts as the script says."""

    def __init__(self, script: list[Callable[[Callable[[], bool]], bool]]) -> None:
        self._script = iter(script)
        self.log: list[str] = []

    def ready(self) -> Ready:
        return Ready(PROTOCOL, {}, "CPU", (), "")

    def load(self, request: Load, cancelled: Callable[[], bool]) -> None:  # noqa: ARG002
        self.log.append("load")

    def generate(self, request: Generate, control: Control) -> None:
        raise AssertionError((request, control))

    def look(self, request: Look) -> None:
        raise AssertionError(request)

    def unload(self) -> None:
        self.log.append("unload")
        raise Over

    def wait(self, is_idle: Callable[[], bool]) -> bool:
        self.log.append("wait")
        return next(self._script)(is_idle)


def serve(requests: Requests, script: list[Callable[[Callable[[], bool]], bool]]) -> list[str]:
    """What the session did until it was told to unload."""
    session = Session(script)
    server: Any = Server(requests, io.BytesIO())  # type: ignore[arg-type]
    with pytest.raises(Over):
        server.run(lambda _send: session)
    return session.log


def test_a_request_is_served_before_anything_else_that_can_wait() -> None:
    requests = Requests()

    def asked_meanwhile(is_idle: Callable[[], bool]) -> bool:
        assert is_idle()
        requests.send(UNLOAD)
        while is_idle():
            pass  # until the other thread has read it
        return True

    assert serve(requests, [lambda _is_idle: True, asked_meanwhile]) == ["wait", "wait", "unload"]


def test_once_nothing_is_left_to_do_it_waits_for_a_request() -> None:
    requests = Requests()

    def ask(line: bytes) -> Callable[[Callable[[], bool]], bool]:
        def done(_is_idle: Callable[[], bool]) -> bool:
            requests.send(line)
            return False

        return done

    assert serve(requests, [ask(LOAD), ask(UNLOAD)]) == ["wait", "load", "wait", "unload"]


def test_what_goes_wrong_meanwhile_is_logged_and_is_nobodys_failure(capsys: pytest.CaptureFixture[str]) -> None:
    requests = Requests()

    def fail(_is_idle: Callable[[], bool]) -> bool:
        requests.send(UNLOAD)
        raise ValueError("no such pass")

    assert serve(requests, [fail]) == ["wait", "unload"]
    assert "ValueError: no such pass" in capsys.readouterr().err
