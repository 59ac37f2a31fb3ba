"""What the dialogs over the chat have in common: a box, a line that says what is wrong, and Esc to leave."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from specchat.app.words import _

Result = TypeVar("Result")


class Dialog(ModalScreen[Result | None]):
    """What it shows lies in a container `box`, with a `Static` without markup, `said`, in it. Esc leaves with None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", _("close"))]

    DEFAULT_CSS = """
    Dialog {
        align: center middle;

        #box {
            width: 100%;
            max-width: 100;
            height: 1fr;
            max-height: 34;
            padding: 0 1;
            background: $surface;
        }
        &:ansi #box { border: round $foreground; }  /* no ground of its own sets it off */
        #title { text-style: bold; height: 1; }
        #said { height: auto; max-height: 3; color: $text-muted; }
        #said.wrong { color: $text-error; }
        OptionList { height: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
        OptionList > .option-list--option-highlighted { text-style: bold; }
    }
    """

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Show a sentence."""
        said = self.query_one("#said", Static)
        said.update(text)
        said.set_class(wrong, "wrong")

    def action_leave(self) -> None:
        """Close the dialog and change nothing."""
        self.dismiss(None)
