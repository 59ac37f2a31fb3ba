"""A figure as an SVG: its rows in a fixed-width font, with its words below. Nothing in it is fetched from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from rich.cells import cell_len

from specchat.app.lab.rows import Row
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE

WIDTH = 78
"""Cells of a row."""
_CELL, _LINE, _MARGIN = 8.4, 19, 16
_GROUND, _FOREGROUND, _DIM = "#fafaf7", "#22262b", "#6b7178"
_FILLS = {ACCEPTED: "#1f7a45", PLAIN: "#2f6690", LABEL: _DIM}


def as_svg(title: str, rows: Sequence[Row], words: str) -> str:
    """The picture: a title, the figure's rows, and the words wrapped."""
    import textwrap

    lines: list[Row] = [((title, VALUE),), (), *rows, (), *(((line, ""),) for line in textwrap.wrap(words, WIDTH))]
    width, height = WIDTH * _CELL + 2 * _MARGIN, len(lines) * _LINE + 2 * _MARGIN
    drawn = "\n".join(_line(row, _MARGIN + (number + 0.75) * _LINE) for number, row in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="100%" height="100%" fill="{_GROUND}"/>\n{drawn}\n</svg>\n'
    )


def _line(row: Row, y: float) -> str:
    spans, x = [], float(_MARGIN)
    for text, style in row:
        length = cell_len(text) * _CELL
        if text.strip():
            spans.append(
                f'<text x="{x:g}" y="{y:g}" textLength="{length:g}" lengthAdjust="spacingAndGlyphs" '
                f'xml:space="preserve"{_look(style)}>{escape(text)}</text>'
            )
        x += length
    return "".join(spans)


def _look(style: str) -> str:
    words = style.split()
    fill = next((colour for name, colour in _FILLS.items() if name in words), _FOREGROUND)
    look = f' fill="{fill}"'
    if "bold" in words:
        look += ' font-weight="bold"'
    if "strike" in words:
        look += ' text-decoration="line-through"'
    return look
