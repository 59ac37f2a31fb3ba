"""A question that is answered with yes or no."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from specchat.app.words import _


class Question(ModalScreen[bool]):
    """Gives the answer; Esc is no. The no has the focus, so that a stray Enter does nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer(False)", _("no")),
        Binding("left,right", "app.focus_next", show=False),
    ]

    DEFAULT_CSS = """
    Question {
        align: center middle;

        #box { width: 70; max-width: 100%; height: auto; padding: 1 2; background: $surface; }
        &:ansi #box { border: round $foreground; padding: 0 2; }  /* no ground of its own sets it off */
        #buttons { height: 1; margin-top: 1; }
        Button { margin-right: 2; }
    }
    """

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        """The question and two buttons."""
        with Vertical(id="box"):
            yield Static(self._question, markup=False)
            with Horizontal(id="buttons"):
                yield Button(self._no, id="no", compact=True)
                yield Button(self._yes, id="yes", compact=True)

    @on(Button.Pressed)
    def press(self, event: Button.Pressed) -> None:
        """Answer."""
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        """Answer without a button."""
        self.dismiss(answer)
