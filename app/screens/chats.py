"""The list of earlier chats, to go back to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from specchat.app.chats.records import Chat
from specchat.app.screens.dialog import Dialog
from specchat.app.widgets.line import Line
from specchat.app.words import _, visible


class ChatsScreen(Dialog[int]):
    """Gives the id of the chat to open, or None. `chats` come in the order in which they are to be shown.

    What is typed narrows the list down to titles that hold it; the arrow keys go through the list meanwhile.
    """

    DEFAULT_CSS = """
    ChatsScreen OptionList { margin-top: 1; }
    """

    def __init__(self, chats: Sequence[Chat], current: int | None = None) -> None:
        super().__init__()
        self._chats = chats
        self._current = current
        self._shown: list[Chat] = []
        self._typed: str | None = None
        """What their titles hold; None before any are shown."""

    def compose(self) -> ComposeResult:
        """A line to type in and the list below it."""
        with Vertical(id="box"):
            yield Static(_("Earlier chats"), id="title")
            yield _Search(_("type to find one"))
            yield OptionList(markup=False, compact=True)
            yield Static(id="said", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show them all."""
        self._list("")

    @on(Input.Changed)
    def narrow_down(self, event: Input.Changed) -> None:
        """Show the chats whose titles hold what is typed."""
        self._list(event.value)

    @on(OptionList.OptionSelected)
    def open_clicked(self, event: OptionList.OptionSelected) -> None:
        """Open the chat that was clicked."""
        self.dismiss(self._shown[event.option_index].id)

    def action_open(self) -> None:
        """Open the chat under the cursor."""
        place = self._narrowed_down().highlighted
        if place is not None:
            self.dismiss(self._shown[place].id)

    def action_move(self, step: str) -> None:
        """Move the list's cursor, wherever the keys go."""
        getattr(self._narrowed_down(), f"action_{step}")()

    def _narrowed_down(self) -> OptionList:
        """The list, for a key that may come before the message that something was typed."""
        self._list(self.query_one(Line).value)
        return self.query_one(OptionList)

    def _list(self, typed: str) -> None:
        if typed == self._typed:  # the cursor may have been moved since
            return
        self._typed = typed
        words = _folded(typed).split()
        self._shown = [chat for chat in self._chats if all(word in _folded(chat.title) for word in words)]
        chats = self.query_one(OptionList)
        chats.set_options(Option(self._row(chat)) for chat in self._shown)
        chats.action_first()
        if not self._chats:
            self.say(_("There are no earlier chats yet."))
        else:
            self.say("" if self._shown else _("No chat's title holds that."))

    def _row(self, chat: Chat) -> Content:
        title = visible(chat.title) or _("without a title")
        mark = "▸" if chat.id == self._current else " "
        return Content.assemble((f"{mark} {when(chat.changed)}  ", "dim"), Content(title))


class _Search(Line):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "screen.move('cursor_up')", show=False),
        Binding("down", "screen.move('cursor_down')", show=False),
        Binding("pageup", "screen.move('page_up')", show=False),
        Binding("pagedown", "screen.move('page_down')", show=False),
        Binding("enter", "screen.open", _("open")),
    ]


def _folded(text: str) -> str:
    """For comparing: capitals are small, and Turkish's İ and ı are any i (U+0307 is the dot that İ leaves behind)."""
    return text.casefold().replace("\u0307", "").replace("ı", "i")


def when(moment: datetime) -> str:
    """A date and a time of day where this machine is, always as wide."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
