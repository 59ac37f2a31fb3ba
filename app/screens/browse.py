"""The dialog in which a person looks for a model file in any folder, or has a folder looked into from now on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Footer, Static

from specchat.app.screens.dialog import Dialog
from specchat.app.widgets.browser import Browser
from specchat.app.widgets.file_list import FileList
from specchat.app.words import _, sentence


@dataclass(frozen=True, slots=True)
class Browsed:
    """A file that was chosen, or (`is_folder`) a folder that is to be looked into from now on."""

    path: Path
    is_folder: bool = False


class BrowseScreen(Dialog[Browsed]):
    """Gives what was chosen, of which nothing is known, or None. It begins beside the file `at`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f7,ctrl+f", "add_folder", _("always look in this folder"), priority=True),
    ]

    DEFAULT_CSS = """
    BrowseScreen Browser { height: 1fr; margin-top: 1; }
    """

    def __init__(self, at: Path | None) -> None:
        super().__init__()
        self._at = at

    def compose(self) -> ComposeResult:
        """The browser alone."""
        with Vertical(id="box"):
            yield Static(_("A model file or a folder"), id="title")
            yield Browser(self._at)
            yield Static(id="said", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Have the keys go to the list."""
        self.query_one(Browser).focus_list()

    def action_add_folder(self) -> None:
        """Close with the folder that is shown."""
        folder = self.query_one(FileList).folder
        if folder is not None:
            self.dismiss(Browsed(folder, is_folder=True))

    @on(Browser.Chosen)
    def choose(self, event: Browser.Chosen) -> None:
        """Close with the file."""
        self.dismiss(Browsed(event.path))

    @on(FileList.Refused)
    def refuse(self, event: FileList.Refused) -> None:
        """Say why a folder isn't shown."""
        self.say(sentence(event.code, event.params), wrong=True)

    @on(FileList.Opened)
    def forget_refusal(self) -> None:
        """Stop complaining once a person has gone elsewhere."""
        self.say("")
