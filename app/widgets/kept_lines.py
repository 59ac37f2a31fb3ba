"""Widgets whose lines stay what they are until they change, so that painting them again costs next to nothing."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget


class KeptLines(Widget):
    """Shows `lines`, which a mouse can select. It has no padding and no border: those are its container's.

    A strip keeps what cutting, filtering and encoding it came to. Textual makes all strips of a widget anew when it
    grows; here a line that stays the same strip is painted from what that keeps, also after it has moved.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Strip] = []
        """As wide as the widget and in its colours. Who changes them calls `refresh`."""

    def prepare(self) -> None:
        """Called before lines are painted, for what may have changed meanwhile: the width or the colours."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in `crop`, as the terminal can show them."""
        self.prepare()
        selection, background = self.text_selection, self.visual_style.background
        assert background is not None  # a widget's always has one
        strips = [self._line(y, selection) for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return [strip.crop(*crop.column_span) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """One line that knows the places of its characters, for the mouse."""
        return self._line(y, None).apply_offsets(0, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that is selected, as it is shown."""
        return selection.extract("\n".join(line.text.rstrip() for line in self.lines)), "\n"

    def _line(self, y: int, selection: Selection | None) -> Strip:
        if y >= len(self.lines):
            return Strip.blank(self.size.width, self.visual_style.rich_style)
        span = selection.get_span(y) if selection else None
        return self._marked(self.lines[y], *span) if span else self.lines[y]

    def _marked(self, strip: Strip, start: int, end: int) -> Strip:
        end = cell_len(strip.text.rstrip()) if end == -1 else end
        style = self.screen.get_component_rich_style("screen--selection")
        before, marked, after = strip.divide([start, end, max(strip.cell_length, end)])
        return Strip.join([before, Strip(Segment.apply_style(marked, post_style=style)), after])
