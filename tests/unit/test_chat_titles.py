"""What a chat is called."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from specchat.app.chats.titles import MOST_CELLS, title_of


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Is 7 prime?", "Is 7 prime?"),
        ("\n \t\n  Is 7\t prime?  \nAnd 8?", "Is 7 prime?"),
        ("\x1b]52;c;eA==\x07\x1b[31mred\u202e [/INST] [@click=app.quit]x[/]", "red [/INST] [@click=app.quit]x[/]"),
        ("\x1b[2J\nsecond", "second"),
        (" \n\x07", ""),
        ("x" * MOST_CELLS, "x" * MOST_CELLS),
        ("x" * (MOST_CELLS + 1), "x" * (MOST_CELLS - 1) + "…"),
        ("漢" * 100_000, "漢" * 29 + "…"),
    ],
)
def test_a_title(text: str, title: str) -> None:
    assert title_of(text) == title
    assert cell_len(title) <= MOST_CELLS
