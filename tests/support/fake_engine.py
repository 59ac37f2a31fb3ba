"""An engine process without models: the real server around a session that plays a scenario.

`fake_engine(Scenario(…))` is the command to give to `EngineClient`.
"""

from __future__ import annotations

import codecs
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from specchat.models.decoding.rounds import Reason
from specchat.models.engine.control import Control
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import (
    PROTOCOL,
    Device,
    Done,
    Generate,
    Load,
    Loaded,
    Look,
    Measured,
    ModelFile,
    ModelInfo,
    Notice,
    Position,
    Prefilled,
    Progress,
    Ready,
    Stage,
    StopReason,
    Written,
)
from specchat.models.engine.server import Send, Server, take_over
from support.fake_rounds import fake_round, pieces_in, pieces_of, positions_in

TEXT = "A prime number has exactly two divisors, so it is enough to try the numbers up to its root. Café, 漢字, 🙂!"

_START = (
    f"import sys; sys.path.append({str(Path(__file__).parents[1])!r}); from support.fake_engine import main; main()"
)

AUTO_GUESSES = 3
"""Guesses a round under auto, where it guesses at all."""

Moment = Literal["start", "load", "prefill", "reply"]


class Fault(msgspec.Struct, frozen=True):
    """Something that goes wrong at a moment: in the middle of the load or the prefill, after a reply's first round.

    `value` is the signal's number, the exit code, the line to write, the failure's code or the exception's text.
    """

    at: Moment
    kind: Literal["signal", "exit", "silence", "garbage", "failure", "exception"]
    value: int | str = 0
    log: str = ""
    """Written to the log before."""
    once: str = ""
    """A file that marks that it has happened already: it is made the first time, and then prevents a second."""
    path: str = ""
    """The name of the target's file with which it happens; empty: with any."""


class Scenario(msgspec.Struct, frozen=True):
    """What the engine does. Every number it reports is the same on every run."""

    text: str = TEXT
    raw: bytes = b""
    """What is written in the text's place: bytes that needn't be one, each line a token."""
    endless: bool = False
    """Begin the text anew whenever it ends."""
    rate: float = 30.0
    """Tokens per second, as the rounds report it."""
    plain_rate: float = 0.0
    """Tokens per second in rounds without guesses; 0 is `rate`."""
    real_time: bool = False
    """Take as long as reported; else go on at once."""
    start_seconds: float = 0.0
    load_seconds: float = 0.0
    """Real ones, whatever `real_time` says."""
    accepted: tuple[int, ...] = (3, 2, 0, 1, 3)
    """Guesses kept in each round, over and over; never more than were made."""
    pause_after: int = 0
    """Rounds after which a reply goes no further until it is stopped; 0 is none."""
    reasons: tuple[Reason, ...] = ("costly",)
    """Why auto guesses no more in each round, over and over. With `plain` and `measuring` it guesses nothing."""
    measured: Measured | None = None
    """Sent while nothing is asked for after a load, and after each reply."""
    notices: tuple[Notice, ...] = ()
    """Sent before a load is done."""
    misfits: tuple[str, ...] = ()
    """Names of drafts' files that are left out, after a notice that they differ."""
    can_roll_back: bool = True
    """Whether the target can."""
    stalls: tuple[int, ...] = ()
    """Replies, from 0, whose second round takes an hour more, as it says."""
    dies_after: int = 0
    """Replies after which the process ends; 0 is never."""
    faults: tuple[Fault, ...] = ()
    protocol: int = PROTOCOL


def fake_engine(scenario: Scenario | None = None) -> list[str]:
    """The command of an engine that plays `scenario`."""
    return [sys.executable, "-P", "-c", _START, msgspec.json.encode(scenario or Scenario()).decode()]


class FakeSession:
    """Plays a scenario."""

    def __init__(self, scenario: Scenario, events: BinaryIO, send: Send) -> None:
        self._scenario = scenario
        self._events = events
        self._send = send
        self._loaded: Loaded | None = None
        self._target = ""
        """The name of the file that was loaded last, or was to be."""
        self._replies = 0
        self._must_look = False
        self._positions: list[Position] = []

    def ready(self) -> Ready:
        self._go_wrong("start")
        _pause(self._scenario.start_seconds, lambda: False)
        device = Device("CPU", "A processor", "cpu", 8 * 2**30, 16 * 2**30)
        return Ready(self._scenario.protocol, {"llama-cpp-python": "0.3.36"}, "CPU", (device,), "FAKE = 1")

    def load(self, request: Load, cancelled: Callable[[], bool]) -> None:
        self._loaded = None
        self._target = Path(request.target.path).name
        self._progress(request.id, "target", 1000, cancelled, self._scenario.load_seconds)
        self._go_wrong("load")
        if request.draft:
            self._progress(request.id, "draft", 1000, cancelled, self._scenario.load_seconds / 10)
        for notice in self._scenario.notices:
            self._send(notice)
        draft = self._draft(request)
        if request.target_costs:
            print(f"known costs: {request.target_costs} {request.draft_costs}", flush=True)
        target = msgspec.structs.replace(
            _info(request.target, "Fake Target", 32), can_roll_back=self._scenario.can_roll_back
        )
        self._loaded = Loaded(request.id, target, draft)
        self._send(self._loaded)
        self._must_look = True

    def generate(self, request: Generate, control: Control) -> None:
        if self._loaded is None:
            raise EngineFailure("not_loaded")
        words = request.prompt if isinstance(request.prompt, str) else " ".join(m.content for m in request.prompt)
        tokens = len(words.split())
        try:
            self._progress(request.id, "prefill", tokens, lambda: control.cancelled, 0.0)
        except EngineFailure:
            self._send(Done(request.id, "cancelled"))
            return
        self._go_wrong("prefill")
        self._send(Prefilled(request.id, tokens, reused=0, seconds=tokens / 200, seed=max(request.sampling.seed, 0)))
        self._reply(request, control)

    def look(self, request: Look) -> None:
        if request.position not in range(len(self._positions)):
            raise EngineFailure("position_unknown", {"position": request.position + 1})
        self._send(msgspec.structs.replace(self._positions[request.position], id=request.id))

    def unload(self) -> None:
        self._loaded = None

    def wait(self, is_idle: Callable[[], bool]) -> bool:
        if self._must_look and is_idle():
            self._measure()
        self._must_look = False
        return False

    def _draft(self, request: Load) -> ModelInfo | None:
        """The draft, if it fits."""
        if request.draft is None:
            return None
        path = request.draft.path
        if not self._scenario.can_roll_back or Path(path).name in self._scenario.misfits:
            self._send(Notice("pair_size_differs", {"target_size": 5, "draft_size": 6}))
            self._send(Notice("draft_left_out", {"path": path}))
            return None
        return _info(request.draft, "Fake Draft", 16)

    def _reply(self, request: Generate, control: Control) -> None:
        tokens = self._tokens(request.max_tokens)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        reason: StopReason = "end"
        self._positions.clear()
        for number, kept in enumerate(cycle(self._scenario.accepted)):
            if number and number == self._scenario.pause_after:
                _pause(math.inf, lambda: control.cancelled)
            if control.cancelled:
                reason = "cancelled"
                break
            guesses, why = self._pace(number, control)
            written = _take(tokens, 1 + min(kept, guesses))
            if not written:
                break
            rate = self._scenario.rate if guesses else self._scenario.plain_rate or self._scenario.rate
            this = fake_round(number, written, guesses, why, control.drafter, rate)
            if number == 1 and self._replies in self._scenario.stalls:
                this = replace(this, seconds=this.seconds + 3600)
            if self._scenario.real_time:
                _pause(this.seconds, lambda: control.cancelled)
            text = decoder.decode(b"".join(written))
            self._positions += positions_in(this, written)
            self._send(Written(request.id, this, pieces_in(this, written), text))
            if number == 0:
                self._go_wrong("reply")
        self._send(Done(request.id, reason, decoder.decode(b"", final=True)))
        self._measure()
        self._replies += 1
        if self._replies == self._scenario.dies_after:
            os._exit(3)

    def _pace(self, number: int, control: Control) -> tuple[int, Reason]:
        """How much is guessed in a round, and why not more."""
        gamma, reasons = control.speculation.gamma, self._scenario.reasons
        if not control.speculation.enabled:
            return 0, "off"
        if control.drafter == "none":
            return 0, "no_drafter"
        if gamma != "auto":
            return gamma, "fixed"
        reason = reasons[number % len(reasons)]
        return 0 if reason in ("plain", "measuring") else AUTO_GUESSES, reason

    def _measure(self) -> None:
        if self._scenario.measured:
            self._send(self._scenario.measured)

    def _tokens(self, most: int) -> Iterator[bytes]:
        pieces = self._scenario.raw.splitlines(keepends=True) or pieces_of(self._scenario.text)
        for position, piece in enumerate(cycle(pieces) if self._scenario.endless else pieces):
            if most and position == most:
                return
            yield piece

    def _progress(
        self, request: int, stage: Stage, total: int, cancelled: Callable[[], bool], seconds: float, steps: int = 10
    ) -> None:
        for step in range(steps + 1):
            if cancelled():
                raise EngineFailure("cancelled")
            self._send(Progress(request, stage, total * step // steps, total))
            _pause(seconds / steps, cancelled)

    def _go_wrong(self, at: Moment) -> None:
        for fault in self._scenario.faults:
            fits = fault.at == at and fault.path in ("", self._target)
            if fits and not (fault.once and Path(fault.once).exists()):
                if fault.once:
                    Path(fault.once).touch()
                self._commit(fault)

    def _commit(self, fault: Fault) -> None:
        if fault.log:
            print(fault.log, flush=True)
        match fault.kind:
            case "signal":
                os.kill(os.getpid(), int(fault.value))
            case "exit":
                os._exit(int(fault.value))
            case "silence":
                threading.Event().wait()
            case "garbage":
                self._events.write(f"{fault.value}\n".encode())
                self._events.flush()
            case "failure":
                raise EngineFailure(str(fault.value), {"path": "model.gguf"})
            case "exception":
                raise ValueError(fault.value)


def _pause(seconds: float, cancelled: Callable[[], bool]) -> None:
    """Let time pass, unless it is cut short."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not cancelled():
        time.sleep(min(left, 0.01))


def _take(tokens: Iterator[bytes], most: int) -> list[bytes]:
    return [piece for _, piece in zip(range(most), tokens, strict=False)]


def _info(file: ModelFile, name: str, layers: int) -> ModelInfo:
    return ModelInfo(
        path=file.path,
        name=name,
        description=f"fake {layers / 4:.0f}B Q4_0",
        size=layers * 2**27,
        parameters=layers * 250_000_000,
        layers=layers,
        gpu_layers=0,
        devices=("CPU",),
        ctx=file.options.ctx or 4096,
        ctx_trained=8192,
        has_template=True,
        can_roll_back=True,
    )


def main() -> None:
    scenario = msgspec.json.decode(sys.argv[1], type=Scenario)
    requests, events = take_over()
    Server(requests, events).run(lambda send: FakeSession(scenario, events, send))
