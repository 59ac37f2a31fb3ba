"""Text of a message that may still grow: one widget, whatever is in it. A mouse can select it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate

from rich.segment import Segment
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from specchat.app.widgets.markdown import Piece, Splitter


@dataclass
class _Laid:
    """Pieces laid out for one width and one look; `ends` are the numbers of lines up to each piece's end."""

    width: int
    dark: bool
    pieces: list[list[Strip]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)


class Prose(Widget):
    """Shows Markdown, or `plain` words with their line breaks. All text must be clean (`specchat.app.display`)."""

    DEFAULT_CSS = """
    Prose { width: 1fr; height: auto; }
    """

    def __init__(self, text: str = "", *, plain: bool = False) -> None:
        super().__init__()
        self._splitter = Splitter()
        self._plain = [Piece(text, "plain")] if plain else None
        self._laid = _Laid(0, True)
        self._last: tuple[Piece | None, list[Strip]] = (None, [])
        if not plain:
            self._splitter.add(text)

    def add(self, text: str) -> None:
        """Show what the text grew by."""
        before = self._height(self._laid.width)
        self._splitter.add(text)
        self.refresh(layout=self._height(self._laid.width) != before)

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - Textual's own
        """All the room there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """The number of lines at `width`."""
        return self._height(width)

    def render_line(self, y: int) -> Strip:
        """One line, with the part of it marked that is selected."""
        width = self.size.width
        strip = self._line(y, width)
        if (selection := self.text_selection) and (span := selection.get_span(y)):
            strip = self._marked(strip, *span)
        style = self.rich_style
        return strip.adjust_cell_length(width, style).apply_style(style).apply_offsets(0, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that is selected, as it is laid out."""
        width = self.size.width
        lines = (self._line(y, width).text.rstrip() for y in range(self._height(width)))
        return selection.extract("\n".join(lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002
        """Show what is selected now."""
        self.refresh()

    def _height(self, width: int) -> int:
        self._lay_out(width)
        return (self._laid.ends[-1] if self._laid.ends else 0) + len(self._last[1])

    def _line(self, y: int, width: int) -> Strip:
        self._lay_out(width)
        laid = self._laid
        place = bisect_right(laid.ends, y)
        strips = laid.pieces[place] if place < len(laid.pieces) else self._last[1]
        y -= laid.ends[place - 1] if place else 0
        return strips[y] if y < len(strips) else Strip.blank(width)

    def _lay_out(self, width: int) -> None:
        """Bring what is laid out up to date; only new pieces and the last one take any work."""
        dark = self.app.current_theme.dark
        if (self._laid.width, self._laid.dark) != (width, dark):
            self._laid, self._last = _Laid(width, dark), (None, [])
        pieces = self._splitter.finished if self._plain is None else self._plain
        known = len(self._laid.pieces)
        for number, piece in enumerate(pieces[known:], known):
            self._laid.pieces.append(self._strips(piece, first=number == 0))
        if len(pieces) > known:
            self._laid.ends = list(accumulate(map(len, self._laid.pieces)))
        last = self._splitter.last
        if last != self._last[0]:
            self._last = last, self._strips(last, first=not pieces) if last else []

    def _strips(self, piece: Piece, first: bool) -> list[Strip]:
        from specchat.app.widgets.layout import lay_out

        lines = [Strip(line) for line in lay_out(piece, self._laid.width, self._laid.dark)]
        return lines if first or not piece.gap else [Strip([]), *lines]

    def _marked(self, strip: Strip, start: int, end: int) -> Strip:
        end = strip.cell_length if end == -1 else end
        style = self.screen.get_component_rich_style("screen--selection")
        before, marked, after = strip.divide([start, end, max(strip.cell_length, end)])
        return Strip.join([before, Strip(Segment.apply_style(marked, post_style=style)), after])
