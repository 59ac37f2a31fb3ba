"""What is read from a terminal: pastes hold text only, however the input is cut, and nothing ends the reading."""

from __future__ import annotations

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has a driver of its own", allow_module_level=True)

from textual.events import Key, Paste

from specchat.app.driver import KeyParser, Pastes

PASTED = "one \x1b]0;title\x07two\r\nthree\rfour\n\tfive\x1b[31m six\x1b[0m \x11\x03\x00\x9b5nseven \x1b[20 eight"
CLEAN = "one two\nthree\nfour\n\tfive six seven ight"
INPUT = f"\x1b[A ab\x1b[200~{PASTED}\x1b[201~c\x1b[200~\x1b[201~\x1bOP"
READ = f"\x1b[A ab\x1b[200~{CLEAN}\x1b[201~c\x1b[200~\x1b[201~\x1bOP"


@pytest.mark.parametrize("cut", range(len(INPUT)))
def test_only_text_is_left_in_a_paste_wherever_the_input_is_cut(cut: int) -> None:
    pastes = Pastes()
    assert pastes.feed(INPUT[:cut]) + pastes.feed(INPUT[cut:]) == READ


def test_only_text_is_left_in_a_paste_that_comes_bit_by_bit() -> None:
    pastes = Pastes()
    assert "".join(map(pastes.feed, INPUT)) == READ


def test_what_is_typed_is_never_held_back() -> None:
    pastes = Pastes()
    for typed in ("\x1b", "[", "2", "00", "x", "\x1b[20", "\x1b[D"):
        assert pastes.feed(typed) == typed


def test_the_events_are_the_keys_and_the_pasted_text() -> None:
    events = list(KeyParser().feed(INPUT))
    keys = [event.key for event in events if isinstance(event, Key)]
    assert keys == ["up", "space", "a", "b", "c", "f1"]
    assert [event.text for event in events if isinstance(event, Paste)] == [CLEAN, ""]


@pytest.mark.parametrize("sequence", ["\x1b[97:65;2u", "\x1b[99999999999;5u", "\x1b[:u"])
def test_what_the_parser_fails_at_is_passed_over(sequence: str) -> None:
    parser = KeyParser()
    events = [*parser.feed(f"a{sequence}b"), *parser.feed("c")]
    assert [event.key for event in events if isinstance(event, Key)] == ["a", "b", "c"]
