"""The line of the picker: what is typed filters, and its other keys move about."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from specchat.app.widgets.line import Line
from specchat.app.words import _


class FilterLine(Line):
    """Where nothing is typed, the keys that would edit a line move about, too. The screen has the actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.choose", _("choose")),
        Binding("tab,shift+tab", "screen.other_side", show=False),
        Binding("up", "screen.move('cursor_up')", show=False),
        Binding("down", "screen.move('cursor_down')", show=False),
        Binding("pageup", "screen.move('page_up')", show=False),
        Binding("pagedown", "screen.move('page_down')", show=False),
        Binding("left", "or_edit('screen.to_side(\"targets\")', 'cursor_left')", show=False),
        Binding("right", "or_edit('screen.to_side(\"drafts\")', 'cursor_right')", show=False),
        Binding("home", "or_edit('screen.move(\"first\")', 'home')", show=False),
        Binding("end", "or_edit('screen.move(\"last\")', 'end')", show=False),
    ]

    async def action_or_edit(self, moving: str, editing: str) -> None:
        """Move about where nothing is typed; else move in what is typed."""
        await self.run_action(editing if self.value else moving)
