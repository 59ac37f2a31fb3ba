"""Text of a message that may still grow: one widget, whatever is in it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.selection import Selection
from textual.strip import Strip

from specchat.app.widgets.kept_lines import KeptLines
from specchat.app.widgets.markdown import Piece, Splitter
from specchat.app.widgets.rough_lines import RoughLines

SPARE_LINES = 3
"""Kept below a text that grows: for each line it didn't have, all on the screen would be laid out and painted anew."""

MOST_AT_ONCE = 500
"""Characters of a text that doesn't grow which are laid out at once; of a longer one, only what is looked at is."""

_SAMPLE = "# *A* `title`\n\n- **item**\n\n```python\npass\n```\n"


def load_layout() -> None:
    """Load what lays text out: a tenth of a second that the first paint needn't wait for, nor the first reply take."""
    from specchat.app.widgets.layout import lay_out

    lay_out(Piece(_SAMPLE), 80, dark=True)


class Prose(KeptLines):
    """Shows Markdown, or `plain` words with their line breaks. All text must be clean (`specchat.app.display`).

    How many lines a long text has is estimated; parts of it become exact when they, or those a page below or above
    them, are painted.
    """

    class GrownAbove(Message):
        """There are `lines` more above what is on the screen, which would move down."""

        def __init__(self, lines: int) -> None:
            super().__init__()
            self.lines = lines

    DEFAULT_CSS = """
    Prose { width: 1fr; height: auto; }
    """

    # Textual's own has all laid out a second time whenever it changes, in case scroll bars come or go.
    virtual_size = Reactive(Size(0, 0), repaint=False)

    def __init__(self, text: str = "", *, plain: bool = False) -> None:
        super().__init__()
        self._splitter = Splitter()
        self._plain = [Piece(text, "plain")] if plain else None
        self._look = (0, Style(), True)
        """The width and the colours that the lines are made for, and whether on a dark ground."""
        self._laid = 0
        """How many finished pieces are in the lines."""
        self._settled = 0
        """How many of the lines belong to them, and so stay as they are."""
        self._last: Piece | None = None
        self._is_growing = False
        self._rough: RoughLines | None = None
        """What makes the lines exact when they are looked at; None where they are."""
        self._room = 0
        """Lines that the last layout left for the text."""
        if not plain:
            self._splitter.add(text)

    def add(self, text: str) -> None:
        """Show what the text grew by."""
        self._is_growing = True
        self._splitter.add(text)
        width, before = self._look[0], len(self.lines)
        first, after = self._lay_out(width), len(self.lines)
        if self._room_needed != self._room:
            self.refresh(layout=True)
        elif first < max(before, after):
            self.refresh(Region(0, first, width, max(before, after) - first))

    def settle(self) -> None:
        """The text is whole."""
        self._is_growing = False
        self.refresh(layout=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - Textual's own
        """All the room there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """The number of lines at `width`."""
        self._lay_out(width)
        self._room = self._room_needed
        return self._room

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in `crop`, which are exact from now on, as are those around them that may be wanted soon."""
        self.prepare()
        page = self.screen.size.height
        self._read(crop.y - page, crop.bottom + page, keep=crop.y)
        return super().render_lines(crop)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that is selected, laid out as it would be shown."""
        start, end = selection.start, selection.end
        grown = self._read(start.y if start else 0, end.y if end else len(self.lines), keep=end.y if end else 0)
        return super().get_selection(Selection(start, end + Offset(0, grown) if end else None))

    def prepare(self) -> None:
        """Lay out anew where the width or the ground has changed."""
        self._lay_out(self.size.width)

    @property
    def _room_needed(self) -> int:
        lines = len(self.lines)
        if not self._is_growing:
            return lines
        return self._room if lines <= self._room <= lines + SPARE_LINES else lines + SPARE_LINES

    def _lay_out(self, width: int) -> int:
        """Bring the lines up to date; the first of them that is new.

        Only new pieces and the last one take any work, and of their lines those that look as before are kept.
        """
        look = width, self.visual_style.rich_style, self.app.current_theme.dark
        pieces = self._splitter.finished if self._plain is None else self._plain
        last = self._splitter.last
        if look != self._look:
            self._look, self.lines, self._laid, self._settled, self._last = look, [], 0, 0, None
            self._rough = None if self._is_growing else self._sketch([*pieces, *([last] if last else [])])
        if self._rough:
            return len(self.lines)
        if len(pieces) == self._laid and last == self._last:
            return len(self.lines)
        tail: list[Strip] = []
        for number, piece in enumerate(pieces[self._laid :], self._laid):
            tail += self._strips(piece, first=number == 0)
        settled = self._settled + len(tail)
        tail += self._strips(last, first=not pieces) if last else []
        same = _alike(self.lines[self._settled :], tail)
        first = self._settled + same
        self.lines[first:] = tail[same:]
        self._laid, self._settled, self._last = len(pieces), settled, last
        return first

    def _sketch(self, pieces: list[Piece]) -> RoughLines | None:
        """Leave a text that is long for later."""
        if sum(len(piece.source) for piece in pieces) <= MOST_AT_ONCE:
            return None
        rough = RoughLines(pieces, self._strips, self._look[0])
        self.lines = rough.lines
        return rough

    def _read(self, top: int, bottom: int, keep: int) -> int:
        """Make the lines in these rows exact; by how many there are more now above the row `keep`."""
        if self._rough is None:
            return 0
        look = self._rough.look(top, bottom, keep)
        if look.is_new:
            self.refresh(layout=len(self.lines) != self._room)
        if look.grown_above:
            self.post_message(self.GrownAbove(look.grown_above))
        return look.grown_above

    def _strips(self, piece: Piece, first: bool) -> list[Strip]:
        from specchat.app.widgets.layout import lay_out

        width, style, dark = self._look
        lines = lay_out(piece, width, dark)
        if piece.gap and not first:
            lines.insert(0, [])
        filled = (Segment.adjust_line_length(line, width) for line in lines)
        return [Strip(Segment.apply_style(line, style), width) for line in filled]


def _alike(before: Sequence[Strip], after: Sequence[Strip]) -> int:
    """How many strips at the beginning of both look the same."""
    pairs = zip(before, after, strict=False)
    return next((n for n, (old, new) in enumerate(pairs) if old != new), min(len(before), len(after)))
