"""A figure as an SVG: its rows in a fixed-width font, with its words below. Nothing in it is fetched from anywhere."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from xml.etree import ElementTree

from rich.cells import cell_len

from specchat.app.lab.rows import Row
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE

WIDTH = 78
"""Cells of a row."""
_CELL, _LINE, _MARGIN = 8.4, 17, 16
_FONTS = "DejaVu Sans Mono, Menlo, Consolas, monospace"
_GROUND, _FOREGROUND, _DIM = "#fafaf7", "#22262b", "#6b7178"
_FILLS = {ACCEPTED: "#1f7a45", PLAIN: "#2f6690", LABEL: _DIM}
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"


def as_svg(title: str, rows: Sequence[Row], words: str) -> str:
    """The picture: a title, the figure's rows, and the words wrapped."""
    lines: list[Row] = [((title, VALUE),), (), *rows, (), *(((line, ""),) for line in textwrap.wrap(words, WIDTH))]
    width, height = WIDTH * _CELL + 2 * _MARGIN, len(lines) * _LINE + 2 * _MARGIN
    picture = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width:g} {height:g}",
            "font-family": _FONTS,
            "font-size": "14",
        },
    )
    ElementTree.SubElement(picture, "title").text = title
    ElementTree.SubElement(picture, "rect", {"width": "100%", "height": "100%", "fill": _GROUND})
    for number, row in enumerate(lines):
        _draw(picture, row, _MARGIN + (number + 0.75) * _LINE)
    return ElementTree.tostring(picture, encoding="unicode") + "\n"


def _draw(picture: ElementTree.Element, row: Row, y: float) -> None:
    x = float(_MARGIN)
    for text, style in row:
        length = cell_len(text) * _CELL
        if text.strip():
            place = {"x": f"{x:g}", "y": f"{y:g}", "textLength": f"{length:g}", "lengthAdjust": "spacingAndGlyphs"}
            ElementTree.SubElement(picture, "text", {**place, _SPACE: "preserve", **_look(style)}).text = text
        x += length


def _look(style: str) -> dict[str, str]:
    words = style.split()
    look = {"fill": next((colour for name, colour in _FILLS.items() if name in words), _FOREGROUND)}
    if "bold" in words:
        look["font-weight"] = "bold"
    if "strike" in words:
        look["text-decoration"] = "line-through"
    return look
