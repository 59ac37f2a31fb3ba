"""No escape sequence, however it is cut, reaches a terminal."""

from __future__ import annotations

import pytest

from specchat.app.display import Cleaner, clean

CASES = [
    ("plain\ttext\nand Ünïcödé 🐦 你好", "plain\ttext\nand Ünïcödé 🐦 你好"),
    ("a\x1b[31mred\x1b[0mb", "aredb"),
    ("a\x1b]52;c;aGk=\x07b", "ab"),
    ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
    ("a\x1bP1$r0m\x1b\\b", "ab"),
    ("a\x1b_apc\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd"),
    ("a\x9b31mb\x9d0;title\x9cc\x90q\x9cd", "abcd"),
    ("a\x1b(0b\x1bcc\x1b#8d", "abcd"),
    ("a\x1b\x1b[31mb", "ab"),
    ("a\x1b[3\x1b[1mb", "ab"),
    ("a\rb\x08c\x7fd\x00e\x85f", "abcdef"),
    ("a\u202eb\u2066c\u2069d", "abcd"),
    ("a\ud800b", "ab"),
    ("a\x1b]never ended\nnext line", "a\nnext line"),
    ("ends in \x1b", "ends in "),
    ("[/INST] [@click=app.quit]x[/]", "[/INST] [@click=app.quit]x[/]"),
]


@pytest.mark.parametrize(("hostile", "shown"), CASES)
def test_whole(hostile: str, shown: str) -> None:
    assert clean(hostile) == shown


@pytest.mark.parametrize(("hostile", "shown"), CASES)
def test_split_at_every_point(hostile: str, shown: str) -> None:
    for cut in range(len(hostile) + 1):
        cleaner = Cleaner()
        assert cleaner.feed(hostile[:cut]) + cleaner.feed(hostile[cut:]) == shown
    cleaner = Cleaner()
    assert "".join(map(cleaner.feed, hostile)) == shown


def test_nothing_below_space_gets_through() -> None:
    every = "".join(map(chr, range(0x100)))
    assert {char for char in clean(every) if char < " " or "\x7f" <= char < "\xa0"} <= {"\t", "\n"}
