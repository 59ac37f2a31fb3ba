"""`specchat ask` cut short: by ctrl+C, by other signals, by the loss of its engine or of its reader."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import psutil
import pytest

from specchat.models.decoding.rounds import Round
from support.cli import Outcome, all_of, engine_of, gone, read_until, rest, started
from support.fake_engine import TEXT, Fault, Moment, Scenario, fake_engine
from support.specchat_with_engine import specchat_with

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither these signals nor such terminals")

COUNTING = "1, 2, 3, 4, 5, 6, 7, 8,"
"""A prompt that the bundled model would go on from for minutes."""
LONG = " ".join(map(str, range(500)))
"""A prompt that it would read for seconds."""
SEEN = {"load": b"loading the target", "prefill": b"reading the prompt", "reply": b"tok/s"}
"""What the live line says meanwhile."""

ENDLESS = Scenario(endless=True, rate=500, real_time=True)
KILLED = "specchat: The engine was ended from outside (SIGKILL), perhaps because memory ran out."


@dataclass
class Running:
    """An `ask` at work, and its engine. Its standard error is a terminal if there is one, else a pipe."""

    process: subprocess.Popen[bytes]
    engine: psutil.Process
    terminal: int | None = None

    def outcome(self) -> Outcome:
        """What it comes to, without what was read before; its engine must be gone by then."""
        outcome = rest(self.process)
        assert gone(self.engine)
        if self.terminal is not None:
            outcome = Outcome(outcome.status, outcome.stdout, all_of(self.terminal).decode())
        assert "Traceback" not in outcome.stderr
        return outcome


@contextmanager
def seen(at: Moment, home: Path, *words: str, command: list[str] | None = None) -> Iterator[Running]:
    """An `ask` whose live line, on a terminal, says what is being done at the moment; the text goes to a pipe."""
    terminal, stderr = os.openpty()
    try:
        with started(home, "ask", *words, stderr=stderr, command=command) as process:
            os.close(stderr)
            read_until(terminal, SEEN[at])
            yield Running(process, engine_of(process), terminal)
    finally:
        os.close(terminal)


@contextmanager
def real(at: Moment, home: Path) -> Iterator[Running]:
    """An `ask` of the bundled model, caught loading, reading its prompt, or writing."""
    words = ("--raw", "--temperature", "0", "--max-tokens", "0", LONG if at == "prefill" else COUNTING)
    if at != "reply":
        with seen(at, home, *words) as running:
            yield running
        return
    with started(home, "ask", *words) as process:
        assert process.stdout is not None
        read_until(process.stdout.fileno(), b"9")
        yield Running(process, engine_of(process))


@contextmanager
def endless(home: Path, *words: str, stderr: int = subprocess.PIPE) -> Iterator[Running]:
    """An `ask` whose scripted engine writes for ever, and has begun to."""
    command = specchat_with(fake_engine(ENDLESS))
    with started(home, "ask", "Hi", *words, stderr=stderr, command=command) as process:
        assert process.stdout is not None
        read_until(process.stdout.fileno(), b"A prime")
        yield Running(process, engine_of(process))


# ------------------------------------------------------------------ the engine is lost


@pytest.mark.parametrize("at", ["load", "prefill", "reply"])
def test_a_killed_engine_is_told_of(at: Moment, tmp_path: Path) -> None:
    with real(at, tmp_path) as running:
        running.engine.kill()
        outcome = running.outcome()
    assert outcome.status == 1
    assert KILLED in outcome.stderr


@pytest.mark.parametrize("at", ["start", "load", "prefill", "reply"])
def test_an_engine_that_dies_at_a_certain_moment_is_told_of(at: Moment, tmp_path: Path) -> None:
    scenario = Scenario(faults=(Fault(at, "signal", signal.SIGKILL),))
    with started(tmp_path, "ask", "Hi", command=specchat_with(fake_engine(scenario))) as process:
        outcome = rest(process)
    assert outcome.status == 1
    assert outcome.stdout == ("A" if at == "reply" else "")
    *figures, last = outcome.stderr.splitlines()
    assert last == KILLED
    assert bool(figures) is (at == "reply")


def test_json_says_that_a_reply_failed(tmp_path: Path) -> None:
    scenario = Scenario(faults=(Fault("reply", "signal", signal.SIGKILL),))
    with started(tmp_path, "ask", "Hi", "--json", command=specchat_with(fake_engine(scenario))) as process:
        outcome = rest(process)
    reply = json.loads(outcome.stdout)
    assert (outcome.status, reply["text"], reply["stop_reason"], reply["target_passes"]) == (1, "A", "failed", 1)


# ------------------------------------------------------------------ ctrl+C


@pytest.mark.parametrize("at", ["load", "prefill", "reply"])
def test_ctrl_c_ends_it(at: Moment, tmp_path: Path) -> None:
    with real(at, tmp_path) as running:
        running.process.send_signal(signal.SIGINT)
        outcome = running.outcome()
    assert outcome.status == 130
    assert "specchat:" not in outcome.stderr
    assert ("target passes" in outcome.stderr) is (at == "reply")


def test_ctrl_c_keeps_the_text_and_its_figures(tmp_path: Path) -> None:
    with seen("reply", tmp_path, "Hi", "--json", command=specchat_with(fake_engine(ENDLESS))) as running:
        running.process.send_signal(signal.SIGINT)
        outcome = running.outcome()
    reply = json.loads(outcome.stdout)
    assert (outcome.status, reply["stop_reason"]) == (130, "cancelled")
    assert (TEXT * 99).startswith(reply["text"])
    assert len(reply["text"]) > 0


def test_an_impatient_ctrl_c_ends_it_too(tmp_path: Path) -> None:
    with endless(tmp_path) as running:
        running.process.send_signal(signal.SIGINT)
        running.process.send_signal(signal.SIGINT)
        # The second one may find Python on its way out already. A shell reports both as 130.
        assert running.outcome().status in (130, -signal.SIGINT)


# ------------------------------------------------------------------ other signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_takes_the_engine_along_and_leaves_the_rounds(number: int, tmp_path: Path) -> None:
    with endless(tmp_path, "--rounds", "rounds.jsonl") as running:
        running.process.send_signal(number)
        assert running.outcome().status == -number
    first, *_ = (tmp_path / "rounds.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(first, type=Round).tokens == 1


def test_an_engine_in_the_middle_of_a_pass_goes_along(tmp_path: Path) -> None:
    with real("prefill", tmp_path) as running:
        running.process.kill()
        assert running.outcome().status == -signal.SIGKILL


# ------------------------------------------------------------------ nobody reads


def test_a_reader_that_goes_away_ends_it(tmp_path: Path) -> None:
    with real("reply", tmp_path) as running:
        close_output(running)
        assert running.outcome().status == 141


def test_a_reader_of_both_streams_that_goes_away_ends_it(tmp_path: Path) -> None:
    with endless(tmp_path, stderr=subprocess.STDOUT) as running:
        close_output(running)
        assert running.outcome().status == 141


def test_a_reply_goes_on_without_a_reader_of_its_figures(tmp_path: Path) -> None:
    with started(tmp_path, "ask", "Hi", command=specchat_with(fake_engine())) as process:
        assert process.stderr is not None
        process.stderr.close()
        process.stderr = None
        outcome = rest(process)
    assert (outcome.status, outcome.stdout) == (0, TEXT)


def close_output(running: Running) -> None:
    """Close our end of the pipe that an `ask` writes to."""
    assert running.process.stdout is not None
    running.process.stdout.close()
    running.process.stdout = None
