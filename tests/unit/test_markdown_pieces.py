"""Markdown that grows: the pieces it is cut into, and that nothing of it is lost."""

from __future__ import annotations

import random

import pytest

from specchat.app.widgets.layout import lay_out
from specchat.app.widgets.markdown import MOST_CODE_LINES, MOST_OPEN, Piece, Splitter

TEXT = """# Title

Some words, *em* and **strong**,
on two lines.

- one
- two
   - nested
- three

1. first

2. second

```python
x = 1

y = 2
```

> quoted
> more

| a | b |
|---|---|
| 1 | 2 |

The end.
"""


def pieces(splitter: Splitter) -> list[Piece]:
    return [*splitter.finished, *([splitter.last] if splitter.last else [])]


def split(text: str, sizes: list[int] | None = None) -> list[Piece]:
    splitter = Splitter()
    for size in sizes or [len(text)]:
        splitter.add(text[:size])
        text = text[size:]
    splitter.add(text)
    return pieces(splitter)


def lines(found: list[Piece], width: int = 60) -> list[str]:
    """What is shown."""
    rows: list[str] = []
    for piece in found:
        rows += [""] if piece.gap and rows else []
        rows += ["".join(segment.text for segment in line).rstrip() for line in lay_out(piece, width, dark=True)]
    return rows


def test_each_block_is_a_piece() -> None:
    starts = [piece.source.split("\n")[0] for piece in split(TEXT)]
    assert starts == [
        "# Title",
        "Some words, *em* and **strong**,",
        "- one",
        "1. first",
        "```python",
        "> quoted",
        "| a | b |",
        "The end.",
    ]


@pytest.mark.parametrize("seed", range(20))
def test_however_it_comes_it_looks_the_same(seed: int) -> None:
    dice = random.Random(seed)
    assert lines(split(TEXT, [dice.randint(1, 12) for _ in range(200)])) == lines(split(TEXT))


def test_finished_pieces_never_change() -> None:
    splitter = Splitter()
    before: list[Piece] = []
    for char in TEXT:
        splitter.add(char)
        assert splitter.finished[: len(before)] == before
        before = list(splitter.finished)


def test_a_long_list_has_only_its_last_item_open() -> None:
    splitter = Splitter()
    for number in range(300):
        splitter.add(f"- item {number}\n")
    assert splitter.last == Piece("- item 299\n", gap=False)
    assert lines(pieces(splitter)) == [f" • item {number}" for number in range(300)]


def test_long_code_is_cut_without_a_seam() -> None:
    code = [f"line {number}" for number in range(5 * MOST_CODE_LINES)]
    splitter = Splitter()
    for line in ("```text", *code, "```", "", "after"):
        splitter.add(f"{line}\n")
    found = pieces(splitter)
    assert len(found) > 3
    assert lines(found) == [*(f" {line}" for line in code), "", "after"]


@pytest.mark.parametrize("separator", list("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), ids=ascii)
def test_only_newlines_end_lines(separator: str) -> None:
    code = [f"line{separator}{number}" for number in range(3 * MOST_CODE_LINES)]
    said = [f"one{separator}two", f"> three{separator}four", "```text", *code, "```"]
    shown = "".join(piece.source for piece in split("\n".join(said)))
    assert [line for line in shown.split("\n") if "```" not in line] == [line for line in said if "```" not in line]


@pytest.mark.parametrize("word", ["lorem ", "x"])
def test_a_huge_line_is_shown_whole_and_only_its_end_stays_open(word: str) -> None:
    splitter = Splitter()
    text = word * (100_000 // len(word))
    for start in range(0, len(text), 997):
        splitter.add(text[start : start + 997])
    splitter.add("\n\n**after**\n")
    found = pieces(splitter)
    shown = lines(found)
    assert "".join("".join(shown[:-1]).split()) == "".join(text.split())
    assert shown[-1] == "after"
    assert max(len(piece.source) for piece in found) <= MOST_OPEN + 997


@pytest.mark.parametrize(
    "text",
    [
        "<b>bold</b> and <script>alert(1)</script>",
        "<div>\nblock\n</div>",
        "&#8238;evil &amp; &lt;b&gt;",
        "![a picture](https://example.org/x.png)",
        "[name]: https://example.org",
        "[/INST] [@click=app.quit]x[/]",
        "[red]not red[/red]",
    ],
)
def test_what_is_no_markdown_here_is_shown_as_it_was_written(text: str) -> None:
    shown = " ".join(lines(split(text)))
    for word in text.replace("\n", " ").replace("![a", "").replace("](", " ").rstrip(")").split():
        assert word.strip("]") in shown


def test_a_link_shows_its_target_and_is_none() -> None:
    [piece] = split("See [the docs](https://example.org/x).")
    [line] = lay_out(piece, 60, dark=True)
    assert "".join(segment.text for segment in line).rstrip() == "See the docs (https://example.org/x)."
    assert not any(segment.style and (segment.style.link or segment.style.meta) for segment in line)


def test_nesting_beyond_all_measure_is_shown_as_it_was_written() -> None:
    assert "".join("".join(lines(split("> " * 300 + "deep"))).split()) == ">" * 300 + "deep"


def test_in_a_single_column_everything_is_still_laid_out() -> None:
    assert lines(split(TEXT), width=1)
