"""`specchat` in a real terminal, over a scripted engine: what a person sees, and what the terminal is left with."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import psutil
import pytest

from support.cli import engine_of, gone
from support.fake_engine import TEXT, Scenario, fake_engine
from support.specchat_with_engine import specchat_with

if sys.platform == "win32":
    pytest.skip("Windows has no such terminals", allow_module_level=True)

from support.breaking_specchat import BREAKING_KEYS, breaking_specchat
from support.pseudo_terminal import Program, text_of
from support.pty_chat import (
    CTRL_C,
    CTRL_L,
    CTRL_Q,
    CTRL_R,
    CTRL_T,
    ENDLESS,
    ENTER,
    ESC,
    F2,
    F3,
    F4,
    chat,
    kept,
    replying,
)
from support.window import SEQUENCE

HOSTILE = (
    "first \x1b]52;c;c3RvbGVu\x07 second \x1b]0;stolen\x1b\\ third \x1b[6n\x1b[?1049l\x1b[12;34H fourth "
    "\x9b5n \x90stolen\x9c \x1bc fifth [/INST] [@click=app.quit]link[/] sixth \u202ehtxis\u202c end"
)

IN_XRAY = "end of a round"
"""Words that only the X-ray has."""

SWITCHES = {1000: "clicks", 1003: "moves", 1004: "focus", 1006: "mouse", 1049: "second screen", 2004: "pastes"}
"""Modes of a terminal that are off in a shell."""
CURSOR = 25
"""The mode that shows it."""


def leave_xray(program: Program) -> None:
    """Go back from the X-ray to the chat."""
    program.send(ESC)
    program.wait_until(lambda text: IN_XRAY not in text)


def check_restored(program: Program, engine: psutil.Process) -> None:
    """The terminal is as it was before, and nothing is left running."""
    assert program.attributes_after == program.attributes_before
    on = modes(program.written)
    assert [what for number, what in SWITCHES.items() if on.get(number)] == []
    assert on[CURSOR]
    assert gone(engine)


def modes(output: bytes) -> dict[int, bool]:
    """The private modes that were set and reset, as they are in the end."""
    on: dict[int, bool] = {}
    for sequence in SEQUENCE.findall(output.decode()):
        if change := re.fullmatch(r"\x1b\[\?([0-9;]+)([hl])", sequence):
            on |= dict.fromkeys(map(int, change[1].split(";")), change[2] == "h")
    return on


# ------------------------------------------------------------------ a whole visit


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["wide", "narrow"])
def test_a_visit(tmp_path: Path, size: tuple[int, int]) -> None:
    with chat(tmp_path, size=size) as program:
        engine = engine_of(program.process)
        program.send("What is a prime?" + ENTER)
        program.shows("A prime number has exactly two divisors", "15 of 30 accepted · 10 passes")
        program.send(F3)
        program.shows(IN_XRAY)
        leave_xray(program)
        program.send(CTRL_Q)
        assert program.end() == 0
        check_restored(program, engine)
    assert kept(tmp_path) == [("user", "What is a prime?", "whole"), ("assistant", TEXT, "whole")]


@pytest.mark.parametrize(("toggle", "stop"), [(F2, ESC), (CTRL_T, CTRL_C)], ids=["F2, Esc", "ctrl+t, ctrl+c"])
def test_speculation_is_toggled_in_a_reply_and_the_reply_stopped(tmp_path: Path, toggle: str, stop: str) -> None:
    with chat(tmp_path, ENDLESS) as program:
        engine = engine_of(program.process)
        replying(program)
        program.send(toggle)
        program.shows("Speculation is off from the next round on", "DRAFT off")
        program.send(stop)
        program.shows("stopped by you")
        program.send(CTRL_R)
        program.shows(IN_XRAY)
        program.send(CTRL_Q)
        assert program.end() == 0
        check_restored(program, engine)
    [_said, (role, content, state)] = kept(tmp_path)
    assert (role, state) == ("assistant", "stopped")
    assert content.startswith("A prime number")


def test_a_prompt_is_compared_and_the_chat_goes_on(tmp_path: Path) -> None:
    with chat(tmp_path, Scenario(rate=30, plain_rate=20), size=(80, 24)) as program:
        engine = engine_of(program.process)
        program.send("What is a prime?" + F4)
        program.shows("Enter or 3 compares it")
        program.send(ENTER)
        program.shows("helps: 1.50× (1.50–1.50)", "Done.")
        program.send(ESC)
        program.shows("F1 help", "What is a prime?")  # the chat, whose prompt the comparison shows, too
        program.send(ENTER)
        program.shows("A prime number")
        program.send(CTRL_Q)
        assert program.end() == 0
        check_restored(program, engine)
    assert kept(tmp_path)[0] == ("user", "What is a prime?", "whole")


# ------------------------------------------------------------------ other ends


@pytest.mark.parametrize("place", BREAKING_KEYS)
def test_a_mistake_inside_leaves_the_terminal_as_it_was(tmp_path: Path, place: str) -> None:
    with chat(tmp_path, command=breaking_specchat(fake_engine(ENDLESS))) as program:
        engine = engine_of(program.process)
        replying(program)
        program.send(BREAKING_KEYS[place])
        assert program.end() == 1
        check_restored(program, engine)
        _screen, _left, after = program.written.rpartition(b"\x1b[?1049l")
        assert "Something went wrong inside specchat" in text_of(after)
        assert "Traceback" not in text_of(after)
    [log] = tmp_path.rglob("error.log")
    assert "RuntimeError: a mistake in specchat" in log.read_text()
    assert kept(tmp_path)[1][1].startswith("A prime number")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(tmp_path: Path, number: signal.Signals) -> None:
    with chat(tmp_path, ENDLESS) as program:
        engine = engine_of(program.process)
        replying(program)
        program.process.send_signal(number)
        assert program.end() == 128 + number
        check_restored(program, engine)
    assert kept(tmp_path)[1][1].startswith("A prime number")


def test_a_killed_engine_is_told_of_and_the_chat_goes_on(tmp_path: Path) -> None:
    with chat(tmp_path, ENDLESS) as program:
        replying(program)
        engine_of(program.process).kill()
        program.shows("The engine was ended from outside", "cut off")
        program.send("Hi" + ENTER)
        program.wait_until(lambda text: "A prime number" in text.rpartition("cut off")[2])


# ------------------------------------------------------------------ hostile text


def test_nothing_that_a_model_or_a_file_says_is_obeyed_by_the_terminal(tmp_path: Path) -> None:
    harmless = commands_of(visit(tmp_path / "harmless", "target.gguf", TEXT))
    output = visit(tmp_path / "hostile", "x\x1b]0;taken\x07\x1b[777;777H.gguf", HOSTILE)
    assert commands_of(output) <= harmless
    assert output.count(b"\x1b[?1049l") == 1
    text = text_of(output)
    assert not {char for char in text if char in "\x1b\u202e\u202c" or "\x7f" <= char < "\xa0"}
    assert "[/INST] [@click=app.quit]link[/]" in text


def visit(home: Path, target: str, said: str) -> bytes:
    """What the terminal gets while a model is loaded and writes, and its reply is looked into."""
    home.mkdir()
    command = [*specchat_with(fake_engine(Scenario(text=said))), "--target", target]
    with Program(command, home) as program:
        program.shows("CPU")
        program.send("Hi" + ENTER)
        program.shows("accepted · ")
        program.send(F3)
        program.shows(IN_XRAY)
        leave_xray(program)
        program.send(CTRL_L)
        program.shows("Earlier chats")
        program.send(CTRL_Q)
        assert program.end() == 0
        return program.written


def commands_of(output: bytes) -> set[str]:
    """The escape sequences; moves inside the screen and colours are each taken for one."""
    return {_kind(sequence) for sequence in SEQUENCE.findall(output.decode())}


def _kind(sequence: str) -> str:
    if place := re.fullmatch(r"\x1b\[(\d+);(\d+)H", sequence):
        return "move" if int(place[1]) <= 40 and int(place[2]) <= 120 else sequence
    return "colour" if re.fullmatch(r"\x1b\[[0-9;]*m", sequence) else sequence
