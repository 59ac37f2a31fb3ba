"""The whole counter over the chat, for windows that have no room for it beside the messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Footer

from specchat.app.actions import BY_NAME
from specchat.app.widgets.counter import Counter
from specchat.app.widgets.panel import CounterState
from specchat.app.widgets.repaints import REPAINT_SECONDS
from specchat.app.words import _


class CounterScreen(ModalScreen[None]):
    """Shows what `state` gives, also while a reply is written; any of the keys that opened it closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(("escape", *BY_NAME["counter"].keys)), "dismiss", _("close"), key_display="Esc"),
    ]

    DEFAULT_CSS = """
    CounterScreen {
        align: center middle;

        #box {
            width: 47;
            max-width: 100%;
            height: auto;
            max-height: 1fr;
            padding: 1 2;
            background: $surface;
            scrollbar-size-vertical: 1;
        }
        &:ansi #box { border: round $foreground; padding: 0 2; }  /* no ground of its own sets it off */
    }
    """

    def __init__(self, state: Callable[[], CounterState]) -> None:
        super().__init__()
        self._state = state
        self._counter = Counter()

    def compose(self) -> ComposeResult:
        """The panel, in something that scrolls."""
        yield VerticalScroll(self._counter, id="box")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Let the arrow keys scroll, and show the figures from now on."""
        self.query_one("#box").focus()
        self._show()
        self.set_interval(REPAINT_SECONDS, self._show)

    def _show(self) -> None:
        self._counter.show(self._state())
