"""What the Lab's figures are made of: rows of spans, each a text and the style it is shown in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

from specchat.app.widgets.look import LABEL, VALUE

Span = tuple[str, str]
Row = tuple[Span, ...]

EMPTY: Row = ()


def plain(text: str) -> Row:
    """A row of words."""
    return ((text, LABEL),)


def width_of(row: Row) -> int:
    """The cells a row takes."""
    return sum(cell_len(text) for text, _style in row)


def cell(text: str, width: int, *, right: bool = False) -> str:
    """`text` in exactly `width` cells, cut where it is longer."""
    while cell_len(text) > width:
        text = text[:-2] + "…" if len(text) > 1 else ""
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def bar(value: float, most: float, width: int, char: str = "█") -> str:
    """`value` of `most` as a bar that is `width` cells long at most; what isn't nothing has at least one cell."""
    if most <= 0 or value <= 0:
        return ""
    return char * max(1, min(width, round(width * value / most)))


def cut(row: Row, width: int) -> Row:
    """The beginning of a row that is too long."""
    kept: list[Span] = []
    for text, style in row:
        room = width - width_of(tuple(kept))
        if cell_len(text) > room:
            kept.append((cell(text, room), style))
            break
        kept.append((text, style))
    return tuple(kept)


def quoted(token: str) -> str:
    """A token that stands out beside marks: in quotes where it has no letter and no digit."""
    return token if any(char.isalnum() for char in token) else f"“{token}”"


def joined(parts: Sequence[Row], between: str) -> Row:
    """Rows as one, with something dim between them."""
    spans: list[Span] = []
    for number, part in enumerate(parts):
        spans += [(between, LABEL)] if number else []
        spans += part
    return tuple(spans)


def fact(label: str, value: str) -> Row:
    """A dim label and a bright value."""
    return ((f"{label} ", LABEL), (value, VALUE))


def text_of(rows: Iterable[Row]) -> str:
    """The rows without their styles, a line each."""
    return "\n".join("".join(text for text, _style in row).rstrip() for row in rows)
