"""Fields to type in that hold nothing a terminal would obey."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input, TextArea

from specchat.app.display import clean
from specchat.app.widgets.keys import act_in_turn

# The screen has these, too, but would move the focus only after the characters that follow.
_TABS: list[BindingType] = [
    Binding("tab", "app.focus_next", show=False),
    Binding("shift+tab", "app.focus_previous", show=False),
]


class Line(Input):
    """One row without a border. Control characters never get into it, wherever its text comes from."""

    BINDINGS: ClassVar[list[BindingType]] = _TABS

    DEFAULT_CSS = "Line { background: $boost; }"

    def __init__(self, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, compact=True)

    def on_mount(self) -> None:
        """Blink, unless nothing is to."""
        self.cursor_blink = self.app.animation_level != "none"

    def validate_value(self, value: str) -> str:
        """The text as one line, without control characters."""
        return clean(value).replace("\n", " ").replace("\t", " ")

    @on(events.Key)
    async def _act(self, event: events.Key) -> None:
        await act_in_turn(self, event)


class Lines(TextArea):
    """Several rows without a border; Tab leaves them. What is pasted is cleaned; a text given to it must be clean."""

    BINDINGS: ClassVar[list[BindingType]] = _TABS

    DEFAULT_CSS = "Lines { background: $boost; height: 8; }"

    def __init__(self, placeholder: str = "") -> None:
        super().__init__(placeholder=placeholder, compact=True, highlight_cursor_line=False)

    def on_mount(self) -> None:
        """Blink, unless nothing is to."""
        self.cursor_blink = self.app.animation_level != "none"

    @on(events.Key)
    async def _act(self, event: events.Key) -> None:
        await act_in_turn(self, event)

    @on(events.Paste)
    def _clean(self, event: events.Paste) -> None:
        event.text = clean(event.text.replace("\r\n", "\n").replace("\r", "\n"))
