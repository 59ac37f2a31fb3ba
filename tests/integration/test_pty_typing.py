"""What a terminal sends, byte by byte and all at once: it arrives in its order, and nothing in it does harm."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no such terminals", allow_module_level=True)

from support.pseudo_terminal import Program
from support.pty_chat import (
    BACKSPACE,
    CTRL_A,
    CTRL_L,
    CTRL_N,
    CTRL_P,
    CTRL_Q,
    CTRL_W,
    DOWN,
    ENTER,
    ESC,
    F8,
    HOME,
    LEFT,
    PASTE,
    PASTED,
    TAB,
    UP,
    chat,
    kept,
)


def prompts(home: Path) -> list[str]:
    """The prompts that were sent."""
    return [content for role, content, _state in kept(home) if role == "user"]


def send_and_quit(program: Program) -> None:
    """Send what is typed, wait for the reply's end, and leave."""
    program.send(ENTER)
    program.shows("accepted · ")
    program.send(CTRL_Q)
    assert program.end() == 0


# ------------------------------------------------------------------ bytes that are no keys


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        (b"caf\xe9s", "caf\ufffds"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xed\xa0\x80x", "\ufffd\ufffd\ufffdx"),
        (b"abc\x1b[97:65;2udef", "abcdef"),
        (b"abc\x1b[99999999999;5udef", "abcdef"),
    ],
    ids=["Latin-1", "no UTF-8", "half a surrogate pair", "keys in another form", "a number too large"],
)
def test_bytes_that_nothing_can_be_made_of_end_nothing(tmp_path: Path, sent: bytes, typed: str) -> None:
    with chat(tmp_path) as program:
        program.send(sent)
        program.shows(typed)
        program.send("!")
        program.shows(typed + "!")
        send_and_quit(program)
    assert prompts(tmp_path) == [typed + "!"]


def test_a_character_may_come_in_parts(tmp_path: Path) -> None:
    with chat(tmp_path) as program:
        for byte in "é漢🙂".encode():
            program.send(bytes([byte]))
        program.shows("é漢🙂")


# ------------------------------------------------------------------ pastes


def test_a_paste_presses_no_keys(tmp_path: Path) -> None:
    pasted = "one \x1b]0;PWNED\x07two\rthree \x1b[31mred\x1b[0m\x11\x03 \x1bOQ four\x1b[6~ five"
    with chat(tmp_path) as program:
        program.send(PASTE + pasted + PASTED + " six")
        program.shows("three red", "four five six")
        assert "Go to the messages" not in program.window
        send_and_quit(program)
    assert prompts(tmp_path) == ["one two\nthree red Q four five six"]


def test_a_paste_into_a_line_presses_no_keys(tmp_path: Path) -> None:
    with chat(tmp_path) as program:
        program.send(CTRL_L)
        program.shows("type to find one")
        program.send(f"{PASTE}lost\x1b]0;PWNED\x07\x1b[Z and \x11found{PASTED}!")
        program.shows("lost and found!")


def test_a_paste_among_the_messages_goes_to_the_prompt(tmp_path: Path) -> None:
    with chat(tmp_path) as program:
        program.send("one" + ENTER)
        program.shows("accepted · ")
        program.send(TAB + UP)
        program.send(f"{PASTE}pasted{PASTED} and typed")
        program.shows("pasted and typed")
        program.send(ENTER)
        program.wait_until(lambda text: text.count("accepted · ") == 2)
        program.send(CTRL_Q)
        assert program.end() == 0
    assert prompts(tmp_path) == ["one", "pasted and typed"]


# ------------------------------------------------------------------ many keys at once


@pytest.mark.parametrize(
    ("sent", "typed"),
    [
        ("abcdef" + 3 * BACKSPACE + "xyz", "abcxyz"),
        ("abcdef" + 2 * LEFT + "Z", "abcdZef"),
        ("one two" + CTRL_W + "three", "one three"),
        ("two" + CTRL_A + "one ", "one two"),
        ("two" + HOME + "one ", "one two"),
        ("one\ntwo" + UP + "X" + DOWN + "Y", "oneX\ntwoY"),
        ("typed" + TAB + UP + UP + " on", "typed on"),
    ],
)
def test_keys_that_come_at_once_keep_their_order(tmp_path: Path, sent: str, typed: str) -> None:
    with chat(tmp_path) as program:
        program.send(sent)
        program.shows(*typed.splitlines())
        send_and_quit(program)
    assert prompts(tmp_path) == [typed]


def test_keys_that_come_at_once_keep_their_order_in_a_line(tmp_path: Path) -> None:
    with chat(tmp_path) as program:
        program.send("first" + ENTER)
        program.shows("accepted · ")
        program.send(CTRL_N)
        program.wait_until(lambda text: "accepted · " not in text)
        program.send("second" + ENTER)
        program.shows("accepted · ")
        program.send(CTRL_L)
        program.shows("type to find one")
        program.send("fixxx" + 3 * BACKSPACE + "t" + LEFT + "rs" + ENTER)
        program.wait_until(lambda text: "type to find one" not in text and "first" in text)


def test_keys_that_come_at_once_keep_their_order_among_settings(tmp_path: Path) -> None:
    with chat(tmp_path) as program:
        program.send(F8)
        program.shows("temperature")
        program.send("0.99" + BACKSPACE + "8" + TAB + "12" + BACKSPACE + "7" + DOWN + "0.5")
        program.shows("0.98", "17", "0.5")
        program.send(ESC)
        program.wait_until(lambda text: "temperature" not in text)
    [file] = tmp_path.rglob("settings.toml")
    assert sorted(tomllib.loads(file.read_text())["sampling"].values()) == [0.5, 0.98, 17]


def test_keys_that_come_at_once_keep_their_order_in_the_command_palette(tmp_path: Path) -> None:
    with chat(tmp_path) as program:
        program.send(CTRL_P)
        program.shows("type what you want to do")
        program.send("dirk" + 3 * BACKSPACE + "ark")
        program.shows("dark", "Light or dark")
