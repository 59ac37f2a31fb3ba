"""The Lab without a chat, for `specchat lab`."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from specchat.app.lab.mine import Mine
from specchat.app.screens.lab import LabScreen
from specchat.app.tui import LookedAfter
from specchat.app.words import _
from specchat.settings.values import Look


class LabApp(LookedAfter):
    """Ends with its only screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q,ctrl+c", "quit", _("quit"), show=False, priority=True),
        Binding("f4", "theme", _("Light or dark"), show=False, priority=True),
    ]

    def __init__(self, mine: Mine, look: Look) -> None:
        super().__init__(look)
        self._mine = mine

    def on_mount(self) -> None:
        """Open the Lab, and end when it is closed."""
        self.push_screen(LabScreen(self._mine), lambda _result: self.exit())
