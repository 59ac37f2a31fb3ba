"""Fields to type in that hold nothing a terminal would obey."""

from __future__ import annotations

from textual import events, on
from textual.widgets import Input, TextArea

from specchat.app.display import clean


class Line(Input):
    """One row without a border. Control characters never get into it, wherever its text comes from."""

    DEFAULT_CSS = "Line { background: $boost; }"

    def __init__(self, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, id=id, compact=True)

    def validate_value(self, value: str) -> str:
        """The text as one line, without control characters."""
        return clean(value).replace("\n", " ").replace("\t", " ")


class Lines(TextArea):
    """Several rows without a border; Tab leaves them. What is pasted is cleaned; a text given to it must be clean."""

    DEFAULT_CSS = "Lines { background: $boost; height: 8; }"

    def __init__(self, placeholder: str = "") -> None:
        super().__init__(placeholder=placeholder, compact=True, highlight_cursor_line=False)

    @on(events.Paste)
    def _clean(self, event: events.Paste) -> None:
        event.text = clean(event.text.replace("\r\n", "\n").replace("\r", "\n"))
