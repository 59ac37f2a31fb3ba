"""Markdown that grows, cut into pieces of which only the last one changes, and laid out for a width.

Textual's own Markdown widget makes some widgets for every list item and makes all of a list anew for each addition,
which takes seconds once a list is long. Here a finished piece is parsed once and laid out once for each width.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

MOST_OPEN = 12_000
"""Characters of a piece that is still growing; a longer one is shown as it was written."""
MOST_CODE_LINES = 24
"""Lines of code that still grow; earlier ones are a piece of their own."""

Kind = Literal["markdown", "code", "plain"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: Markdown of one block, lines of code, or words to be shown as they are."""

    source: str
    kind: Kind = "markdown"
    gap: bool = True
    """Whether a blank line belongs before it."""
    language: str = ""
    """Of code; may be empty or nonsense."""


@cache
def parser() -> MarkdownIt:
    """The parser for what models write.

    HTML, entities, images and definitions of links stay as they were written: there is nothing here to show them with,
    and an entity could name a control character. A line break in the source is one on the screen.
    """
    made = _commonmark()
    made.core.ruler.push("keep_line_breaks", _keep_line_breaks)
    return made


@cache
def _block_parser() -> MarkdownIt:
    """The same for who wants to know no more than where blocks begin, which takes half the time."""
    made = _commonmark()
    made.core.ruler.disable(["inline", "text_join"])
    return made


def _commonmark() -> MarkdownIt:
    from markdown_it import MarkdownIt  # takes a tenth of the time up to the first paint, which needs no parser

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return made.disable(["entity", "image", "reference"])


def _keep_line_breaks(state: StateCore) -> None:
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"


class Splitter:
    """Takes a text as it comes and gives it out in pieces. `finished` only ever gets longer."""

    def __init__(self) -> None:
        self.finished: list[Piece] = []
        self._open = ""
        self._gap = True
        self._in_long_line = False

    def add(self, text: str) -> None:
        """Take in what the text grew by."""
        self._open += text
        if self._in_long_line and not self._leave_long_line():
            return
        end = self._open.rfind("\n") + 1
        if "\n" in text and end:
            self._finish_blocks(end)
        if len(self._open) > MOST_OPEN:
            self._give_up()

    @property
    def last(self) -> Piece | None:
        """The piece that may still change, if there is one."""
        if not self._open.strip():
            return None
        return Piece(self._open, "plain" if self._in_long_line else "markdown", self._gap)

    def _finish_blocks(self, end: int) -> None:
        """Finish all blocks but the last of those that begin before `end`.

        A block is closed for good once another one has begun. Whether one has, only whole lines can tell.
        """
        blocks = [token for token in _block_parser().parse(self._open[:end]) if token.level <= 1 and token.map]
        tops = [token for token in blocks if token.level == 0]
        if not tops:
            return
        lines = _lines(self._open)
        starts = [_start(token) for token in tops]
        for start, stop in pairwise(starts):
            self._finish("".join(lines[start:stop]))
        rest = starts[-1]
        match tops[-1].type:
            case "bullet_list_open" | "ordered_list_open":
                items = [t for t in blocks if t.type == "list_item_open" and _start(t) >= rest]
                rest = self._finish_items(lines, items)
            case "fence":
                self._finish_code(lines, tops[-1])
                return
        self._open = "".join(lines[rest:])

    def _finish_items(self, lines: list[str], items: Iterable[Token]) -> int:
        """Finish all `items` of a list but the last, each on its own; where that last one begins."""
        starts = [_start(item) for item in items]
        for start, stop in pairwise(starts):
            self._finish("".join(lines[start:stop]))
            self._gap = False
        return starts[-1]

    def _finish_code(self, lines: list[str], fence: Token) -> None:
        """Finish the first lines of a long piece of code, and open its fence anew for the others."""
        start = _start(fence)
        if fence.content.count("\n") <= MOST_CODE_LINES:
            self._open = "".join(lines[start:])
            return
        body = _lines(fence.content)
        keep = MOST_CODE_LINES // 2
        self.finished.append(Piece("".join(body[:-keep]), "code", self._gap, fence.info.strip()))
        self._gap = False
        rest = lines[start + 1 + len(body) - keep :]
        self._open = "".join([lines[start], *rest])

    def _finish(self, source: str, kind: Kind = "markdown") -> None:
        if source.strip():
            self.finished.append(Piece(source, kind, self._gap))
            self._gap = True

    def _give_up(self) -> None:
        """Finish what is too long to be laid out again and again, as it was written."""
        end = self._open.rfind("\n") + 1
        self._in_long_line = not end
        self._finish_plain(end or self._open.rfind(" ") + 1 or len(self._open))

    def _leave_long_line(self) -> bool:
        """Go on with a line that is too long; whether it has ended."""
        end = self._open.find("\n") + 1
        if end or len(self._open) > MOST_OPEN:
            self._finish_plain(end or self._open.rfind(" ") + 1 or len(self._open))
        self._in_long_line = not end
        return bool(end)

    def _finish_plain(self, end: int) -> None:
        source, self._open = self._open[:end], self._open[end:]
        self._finish(source, "plain")
        self._gap = False


def _lines(text: str) -> list[str]:
    """The lines as the parser counts them, each with its end: a newline alone ends one, none of Unicode's others."""
    return list(StringIO(text, newline="\n"))


def _start(token: Token) -> int:
    assert token.map is not None
    return token.map[0]
