"""Pieces of text as lines of a width, by Rich. Loaded only when there is something to lay out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from specchat.app.widgets.markdown import Piece, parser

Line = list[Segment]

_CODE_STYLE = {True: "#8fb8de on #20242b", False: "#1f4e79 on #e4e8ee"}
_CODE_GROUND = {True: "#20242b", False: "#e4e8ee"}
_CODE_THEME = {True: "github-dark", False: "default"}


def _theme(dark: bool) -> Theme:
    return Theme(
        {
            "markdown.code": _CODE_STYLE[dark],
            "markdown.h1": "bold underline",
            "markdown.h2": "bold",
            "markdown.h3": "bold",
            "markdown.h4": "bold italic",
            "markdown.h5": "italic",
            "markdown.h6": "italic",
            "markdown.block_quote": "italic",
            "markdown.item.bullet": "dim",
            "markdown.item.number": "dim",
            "markdown.link": "underline",
            "markdown.link_url": "dim",
            "markdown.table.border": "dim",
            "markdown.table.header": "bold",
        }
    )


_NOWHERE = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the consoles' own for as long as they live
_CONSOLES = {
    dark: Console(
        file=_NOWHERE,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        theme=_theme(dark),
        _environ={},
    )
    for dark in (True, False)
}


class _Heading(Heading):
    """A heading on the left, without the box that Rich draws around the greatest."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Code(CodeBlock):
    """Code that can be cut in two without a seam."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _code(str(self.text), self.lexer_name, self.theme == _CODE_THEME[True])


class _Document(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": TableElement,
    }

    def __init__(self, source: str, dark: bool) -> None:
        super().__init__("", code_theme=_CODE_THEME[dark], hyperlinks=False)
        self.parsed = parser().parse(source)


def lay_out(piece: Piece, width: int, dark: bool) -> list[Line]:
    """The piece's lines, each at most `width` cells, without blank ones around them.

    What the parser or Rich give up on (hundreds of quotes in quotes) is shown as it was written.
    """
    console = _CONSOLES[dark]
    options = console.options.update(width=max(width, 1), height=None)
    plain = Text(piece.source.strip("\n").expandtabs(4), overflow="fold", end="")
    renderable: Text | Markdown | Padding = plain
    if piece.kind == "markdown":
        renderable = _Document(piece.source, dark)
    elif piece.kind == "code":
        renderable = _code(piece.source, piece.language, dark)
    try:
        lines = _trimmed(console.render_lines(renderable, options, pad=False))
    except Exception:  # whatever a text does to Rich, it must not end the program
        lines = []
    return lines or _trimmed(console.render_lines(plain, options, pad=False))


def _code(text: str, language: str, dark: bool) -> Padding:
    syntax = Syntax(
        text.rstrip("\n"),
        language.split()[0] if language.split() else "text",
        theme=_CODE_THEME[dark],
        word_wrap=True,
        background_color=_CODE_GROUND[dark],
    )
    return Padding(syntax, (0, 1), style=Style(bgcolor=_CODE_GROUND[dark]))


def _trimmed(lines: list[Line]) -> list[Line]:
    """Without the blank lines at both ends that have no ground of their own."""

    def blank(line: Line) -> bool:
        return not any(segment.text.strip() or (segment.style and segment.style.bgcolor) for segment in line)

    while lines and blank(lines[0]):
        del lines[0]
    while lines and blank(lines[-1]):
        del lines[-1]
    return lines
