"""An engine process without models: the real server around a session that plays a scenario.

`fake_engine(Scenario(…))` is the command to give to `EngineClient`.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from specchat.models.decoding.rounds import Round
from specchat.models.engine.control import Control
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import (
    PROTOCOL,
    Device,
    Done,
    DrafterName,
    Generate,
    Load,
    Loaded,
    ModelFile,
    ModelInfo,
    Notice,
    Prefilled,
    Progress,
    Ready,
    Stage,
    StopReason,
    Written,
)
from specchat.models.engine.server import Send, Server, take_over

TEXT = "A prime number has exactly two divisors, so it is enough to try the numbers up to its root. Café, 漢字, 🙂!"

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


class Scenario(msgspec.Struct, frozen=True):
    """What the engine does. Every number it reports is the same on every run."""

    text: str = TEXT
    endless: bool = False
    """Begin the text anew whenever it ends."""
    rate: float = 30.0
    """Tokens per second, as the rounds report it."""
    real_time: bool = False
    """Take as long as reported; else go on at once."""
    load_seconds: float = 0.0
    """Real ones, whatever `real_time` says."""
    accepted: tuple[int, ...] = (3, 2, 0, 1, 3)
    """Guesses kept in each round, over and over; never more than were made."""
    notices: tuple[Notice, ...] = ()
    """Sent before a load is done."""
    faults: tuple[Fault, ...] = ()
    protocol: int = PROTOCOL


def fake_engine(scenario: Scenario | None = None) -> list[str]:
    """The command of an engine that plays `scenario`."""
    return [sys.executable, "-P", __file__, msgspec.json.encode(scenario or Scenario()).decode()]


def pieces_of(text: str) -> list[bytes]:
    """The text's tokens: words with the space before them, cut inside their first character beyond ASCII."""
    pieces: list[bytes] = []
    for word in re.findall(r"\s*\S+|\s+", text):
        whole = word.encode()
        cut = next((i + 1 for i, byte in enumerate(whole) if byte > 127), len(whole))
        pieces += [piece for piece in (whole[:cut], whole[cut:]) if piece]
    return pieces


class FakeSession:
    """Plays a scenario."""

    def __init__(self, scenario: Scenario, events: BinaryIO, send: Send) -> None:
        self._scenario = scenario
        self._events = events
        self._send = send
        self._loaded: Loaded | None = None

    def ready(self) -> Ready:
        self._go_wrong("start")
        device = Device("CPU", "A processor", "cpu", 8 * 2**30, 16 * 2**30)
        return Ready(self._scenario.protocol, {"llama-cpp-python": "0.3.36"}, "CPU", (device,), "FAKE = 1")

    def load(self, request: Load, cancelled: Callable[[], bool]) -> None:
        self._loaded = None
        self._progress(request.id, "target", 1000, cancelled, self._scenario.load_seconds)
        self._go_wrong("load")
        if request.draft:
            self._progress(request.id, "draft", 1000, cancelled, self._scenario.load_seconds / 10)
        for notice in self._scenario.notices:
            self._send(notice)
        draft = _info(request.draft, "Fake Draft", 16) if request.draft else None
        self._loaded = Loaded(request.id, _info(request.target, "Fake Target", 32), draft)
        self._send(self._loaded)

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

    def unload(self) -> None:
        self._loaded = None

    def _reply(self, request: Generate, control: Control) -> None:
        tokens = self._tokens(request.max_tokens)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        reason: StopReason = "end"
        for number, kept in enumerate(cycle(self._scenario.accepted)):
            if control.cancelled:
                reason = "cancelled"
                break
            written = _take(tokens, 1 + min(kept, _gamma(control)))
            if not written:
                break
            this = _round(number, written, control, self._scenario.rate)
            if self._scenario.real_time:
                _pause(this.seconds, lambda: control.cancelled)
            text = decoder.decode(b"".join(written))
            self._send(Written(request.id, this, _pieces(this, written), text))
            if number == 0:
                self._go_wrong("reply")
        self._send(Done(request.id, reason, decoder.decode(b"", final=True)))

    def _tokens(self, most: int) -> Iterator[bytes]:
        pieces = pieces_of(self._scenario.text)
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
            if fault.at == at and not (fault.once and Path(fault.once).exists()):
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


def _gamma(control: Control) -> int:
    return control.speculation.gamma if control.speculation.enabled and control.drafter != "none" else 0


def _round(number: int, written: list[bytes], control: Control, rate: float) -> Round:
    """A round that wrote `written`, the last piece of it the target's own."""
    gamma = _gamma(control)
    drafter: DrafterName = control.drafter
    seconds = len(written) / rate
    return Round(
        guesses=tuple(range(100 * number, 100 * number + gamma)),
        accepted=len(written) - 1,
        token=100 * number + 99,
        speculating=gamma > 0,
        drafter=drafter if gamma else "",
        width=gamma + 1,
        stopped=False,
        draft_runs=gamma if drafter == "model" else 0,
        caught_up=0,
        run_seconds=0.15 / rate if gamma and drafter == "model" else None,
        alpha_sum=0.7 * gamma,
        alpha_weight=float(gamma),
        seconds_draft=0.2 * seconds if gamma else 0.0,
        seconds_verify=0.7 * seconds,
        seconds_sampling=0.05 * seconds,
        seconds=seconds,
        plain_seconds=1.5 / rate,
        pass_seconds=1.4 / rate,
    )


def _pieces(this: Round, written: list[bytes]) -> tuple[bytes, ...]:
    """The pieces of the round's guesses, those that were refused included, and of the target's token."""
    refused = [f" no{i}".encode() for i in range(len(this.guesses) - this.accepted)]
    return (*written[:-1], *refused, written[-1])


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


if __name__ == "__main__":
    main()
