"""A report's parts, and how they look in a terminal and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import TextWrapper

from rich.cells import cell_len, set_cell_size

from specchat.app.cells import filled

WIDTH = 80
_GAP = "  "
_LONGEST_LABEL = 14
_MARKED = re.compile(r"([\\`*_{}\[\]<>|#~])")
"""Characters that Markdown may take for its own."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What follows is about this."""

    text: str


@dataclass(frozen=True, slots=True)
class Sentences:
    """Something said in words."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels and what belongs to them."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under a row of headings. The first column is text, and so are the last `words`."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 0


Block = Heading | Sentences | Facts | Table


def as_text(blocks: Iterable[Block], width: int = WIDTH) -> str:
    """The blocks for a terminal of `width` columns. Tables aren't cut."""
    return "\n\n".join(_text(block, width) for block in blocks) + "\n"


def as_markdown(blocks: Iterable[Block]) -> str:
    """The blocks as GitHub's Markdown."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def _text(block: Block, width: int) -> str:
    match block:
        case Heading(text):
            return f"{_wrapped(text, '', width)}\n{'─' * min(cell_len(text), width)}"
        case Sentences(lines):
            return "\n".join(_wrapped(line, "", width) for line in lines)
        case Facts(rows):
            labels = max(cell_len(label) for label, _ in rows)
            return "\n".join(_wrapped(text, set_cell_size(label, labels) + _GAP, width) for label, text in rows)
        case Table():
            return _text_table(block)


def _wrapped(text: str, first: str, width: int) -> str:
    """`text` after `first`, its further lines below its own beginning."""
    wrapper = TextWrapper(width, initial_indent=first, subsequent_indent=" " * cell_len(first), break_on_hyphens=False)
    return wrapper.fill(text)


def _text_table(table: Table) -> str:
    rows = [(filled(row[0], _LONGEST_LABEL).rstrip(), *row[1:]) for row in (table.header, *table.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_text_row(row, widths, table.words) for row in rows)


def _text_row(row: Sequence[str], widths: Sequence[int], words: int) -> str:
    cells = []
    for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
        room = " " * (width - cell_len(cell))
        is_text = place == 0 or place >= len(row) - words
        cells.append(cell + room if is_text else room + cell)
    return _GAP.join(cells).rstrip()


def _markdown(block: Block) -> str:
    match block:
        case Heading(text):
            return f"### {_plain(text)}"
        case Sentences(lines):
            return "\n\n".join(map(_plain, lines))
        case Facts(rows):
            return "\n".join(f"- {_plain(label)}: {_plain(text)}" for label, text in rows)
        case Table():
            return _markdown_table(block)


def _markdown_table(table: Table) -> str:
    numbers = len(table.header) - 1 - table.words
    marks = ("---", *["---:"] * numbers, *["---"] * table.words)
    lines = [_markdown_row(table.header), _markdown_row(marks), *map(_markdown_row, table.rows)]
    return "\n".join(lines)


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell if set(cell) <= set('-:') else _plain(cell.strip()) for cell in cells)} |"


def _plain(text: str) -> str:
    return _MARKED.sub(r"\\\1", text)
