"""Pieces of text as lines of a width, by Rich. Loaded only when there is something to lay out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from copy import copy
from functools import cache, lru_cache
from pathlib import Path
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement, TableElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax, SyntaxTheme, TokenType
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
        yield _CodeLines(str(self.text), self.lexer_name, self.theme == _CODE_THEME[True])


class _Document(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": TableElement,
    }

    @classmethod
    @cache
    def empty(cls, dark: bool) -> _Document:
        """One to copy and to put into what is parsed; making one takes Rich longer than most pieces do."""
        return cls("", code_theme=_CODE_THEME[dark], hyperlinks=False)


def lay_out(piece: Piece, width: int, dark: bool) -> list[Line]:
    """The piece's lines, each at most `width` cells, without blank ones around them.

    What the parser or Rich give up on (hundreds of quotes in quotes) is shown as it was written.
    """
    console = _CONSOLES[dark]
    options = console.options.update(width=max(width, 1), height=None)
    plain = Text(piece.source.strip("\n").expandtabs(4), overflow="fold", end="")
    renderable: Text | Markdown | _CodeLines = plain
    if piece.kind == "markdown":
        renderable = copy(_Document.empty(dark))
        renderable.parsed = parser().parse(piece.source)
    elif piece.kind == "code":
        renderable = _CodeLines(piece.source, piece.language, dark)
    try:
        lines = _trimmed(console.render_lines(renderable, options, pad=False))
    except Exception:  # whatever a text does to Rich, it must not end the program
        lines = []
    return lines or _trimmed(console.render_lines(plain, options, pad=False))


class _CodeLines:
    """Code on a ground of its own. Rich's own `Syntax` does this too, in three times the time."""

    def __init__(self, text: str, language: str, dark: bool) -> None:
        self._text = text.rstrip("\n")
        self._language = language.split()[0] if language.split() else "text"
        self._dark = dark

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Each line with a margin of one column, wrapped where it is too long."""
        ground = Style(bgcolor=_CODE_GROUND[self._dark])
        margin = [Segment(" ", ground)] if options.max_width > 2 else []
        width = options.max_width - 2 * len(margin)
        for line in self._lines():
            for row in [line] if Segment.get_line_length(line) <= width else _wrapped(line, console, width):
                yield from (*margin, *Segment.adjust_line_length(row, width, ground), *margin, Segment.line())

    def _lines(self) -> Iterable[Line]:
        tokens = _lexer(self._language)(self._text)
        return Segment.split_lines(Segment(text, _token_style(kind, self._dark)) for kind, text in tokens)


def _wrapped(line: Line, console: Console, width: int) -> Iterable[Line]:
    text = Text.assemble(*((segment.text, segment.style or "") for segment in line), end="")
    return (list(row.render(console)) for row in text.wrap(console, width, overflow="fold"))


@lru_cache(maxsize=32)
def _lexer(language: str) -> Callable[[str], Iterable[tuple[TokenType, str]]]:
    """What finds the tokens of code in a language, or in none where the name is nonsense."""
    syntax = Syntax("", language, tab_size=4)
    tokens: Callable[[str], Iterable[tuple[TokenType, str]]] = (syntax.lexer or syntax.default_lexer).get_tokens
    return tokens


@cache
def _token_style(kind: TokenType, dark: bool) -> Style:
    return _syntax_theme(dark).get_style_for_token(kind) + Style(bgcolor=_CODE_GROUND[dark])


@cache
def _syntax_theme(dark: bool) -> SyntaxTheme:
    return Syntax.get_theme(_CODE_THEME[dark])


def _trimmed(lines: list[Line]) -> list[Line]:
    """Without the blank lines at both ends that have no ground of their own."""

    def blank(line: Line) -> bool:
        return not any(segment.text.strip() or (segment.style and segment.style.bgcolor) for segment in line)

    while lines and blank(lines[0]):
        del lines[0]
    while lines and blank(lines[-1]):
        del lines[-1]
    return lines
