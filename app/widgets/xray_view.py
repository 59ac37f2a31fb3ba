"""The text of a reply under X-ray, with one round marked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from specchat.app.chats.records import Step
from specchat.app.widgets.xray_text import Layout, paint
from specchat.app.words import _


class XrayView(ScrollView, can_focus=True):
    """Sets the whole reply in lines at once, and paints only those that are on the screen."""

    DEFAULT_CSS = """
    XrayView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        text-wrap: nowrap;
    }
    """

    ALLOW_SELECT = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,n", "step(1)", _("next round"), key_display="→"),
        Binding("left,p", "step(-1)", _("round before"), key_display="←"),
    ]

    class Marked(Message):
        """Another round is marked: its number, from 0."""

        def __init__(self, round: int) -> None:
            super().__init__()
            self.round = round

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__()
        self.marked = 0
        """The round that is marked."""
        self._steps = steps
        self._text = Layout((), 1)

    @on(events.Resize)
    def _set(self) -> None:
        """Set the text anew where the lines' width changed."""
        width = self.scrollable_content_region.width
        if width != self.virtual_size.width:
            self._text = Layout(self._steps, width)
            self.virtual_size = Size(width, len(self._text.lines))
            self.call_after_refresh(self._show_marked)

    def render_line(self, y: int) -> Strip:
        """The line at row `y` of the screen."""
        width, _height = self.scrollable_content_region.size
        at = self.scroll_offset.y + y
        line = self._text.lines[at] if at < len(self._text.lines) else []
        strips = Visual.to_strips(self, paint(line, self.marked), width, 1, self.visual_style, pad=True)
        return strips[0] if strips else Strip.blank(width, self.rich_style)

    def action_step(self, by: int) -> None:
        """Mark a round before or after; the first on the screen if the marked one was scrolled away."""
        starts = self._text.first_lines
        if not starts:
            return
        top = self.scroll_offset.y
        if top <= starts[self.marked] < top + self.size.height:
            self.mark(self.marked + by)
        else:
            self.mark(bisect_left(starts, top))

    def mark(self, round: int) -> None:
        """Mark `round`, or the nearest there is, and bring it onto the screen."""
        self.marked = min(max(round, 0), len(self._steps) - 1)
        self._show_marked()
        self.refresh()
        self.post_message(self.Marked(self.marked))

    @on(events.Click)
    def _mark_under_mouse(self, event: events.Click) -> None:
        at = self.scroll_offset.y + event.y
        line = self._text.lines[at] if at < len(self._text.lines) else []
        column = 0
        for run in line:
            column += cell_len(run.text)
            if event.x < column:
                self.mark(run.round)
                return

    def _show_marked(self) -> None:
        starts = self._text.first_lines
        if starts:
            first = starts[self.marked]
            after = starts[self.marked + 1] if self.marked + 1 < len(starts) else len(self._text.lines) - 1
            region = Region(0, first, 1, min(after - first + 1, self.size.height))
            self.scroll_to_region(region, animate=False, immediate=True)
