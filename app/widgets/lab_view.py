"""The parts of the Lab's screen: the figure, and the controls below it."""

from __future__ import annotations

from textual import events, on
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from specchat.app.actions import key_sign
from specchat.app.lab.lab import Lab
from specchat.app.lab.rows import Row, cell
from specchat.app.widgets.look import LABEL, VALUE

_LABEL_WIDTH = 34
_MINUS, _PLUS = _LABEL_WIDTH + 3, _LABEL_WIDTH + 6
"""Columns of the signs that a mouse can press."""


class Figure(Widget):
    """Draws what the Lab's page shows, at any width."""

    DEFAULT_CSS = "Figure { height: auto; text-wrap: nowrap; text-overflow: clip; }"

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self._lab = lab

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's own
        """A line a row."""
        return len(self._lab.figure(width))

    def render(self) -> Content:
        """What is painted."""
        return Content("\n").join(map(_painted, self._lab.figure(self.size.width)))


class Controls(Widget):
    """A line for each control, with − and +; below them what can be done, each with its key."""

    DEFAULT_CSS = "Controls { height: auto; text-wrap: nowrap; text-overflow: ellipsis; }"

    class Used(Message):
        """Something of the page was changed by a click."""

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self._lab = lab

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's own
        """A line for each, and one for the deeds."""
        return len(self._lab.controls) + bool(self._deeds)

    def render(self) -> Content:
        """What is painted."""
        rows = [_painted(self._row(number)) for number in range(len(self._lab.controls))]
        if self._deeds:
            parts = [((f"{key} ", VALUE), (label, LABEL), ("   ", LABEL)) for key, label in self._deeds]
            rows.append(_painted(tuple(span for part in parts for span in part)))
        return Content("\n").join(rows)

    @property
    def _deeds(self) -> list[tuple[str, str]]:
        view = self._lab.view
        return [] if view.missing else [(key_sign(deed.key), deed.label) for deed in view.deeds]

    def _row(self, number: int) -> Row:
        control, is_selected = self._lab.controls[number], number == self._lab.selected
        return (
            ("▸ " if is_selected else "  ", VALUE),
            (cell(control.label, _LABEL_WIDTH), VALUE if is_selected else LABEL),
            (" −  + ", VALUE if is_selected else LABEL),
            (f"  {control.value}", VALUE),
        )

    @on(events.Click)
    def _use(self, event: events.Click) -> None:
        """Select the line; change it where its signs are; do what the line of deeds has there."""
        if event.y < len(self._lab.controls):
            self._lab.select(event.y)
            if event.x >= _MINUS - 1:
                self._lab.change(-1 if event.x < _PLUS - 1 else 1)
        else:
            self._do_at(event.x)
        self.post_message(self.Used())

    def _do_at(self, x: int) -> None:
        column = 0
        for (key, label), deed in zip(self._deeds, self._lab.view.deeds, strict=False):
            column += len(f"{key} {label}   ")
            if x < column:
                deed.do()
                return


def _painted(row: Row) -> Content:
    return Content.assemble(*((text, style) if style else text for text, style in row))
