"""An app that shows nothing but one dialog, and what a test does with it."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Static

from specchat.app.screens.dialog import Dialog

OPEN = object()
"""What a dialog that is still open has given."""


class DialogHost(App[None]):
    """Shows `dialog`, and keeps what it gave in `result`."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, dialog: Dialog[Any]) -> None:
        super().__init__()
        self._dialog = dialog
        self.result: Any = OPEN

    def on_mount(self) -> None:
        self.push_screen(self._dialog, self._keep)

    def _keep(self, result: Any) -> None:
        self.result = result


async def settle(pilot: Pilot[None]) -> None:
    """Wait until the app has nothing left to do, threads included."""
    await pilot.pause()
    while any(not worker.is_finished for worker in pilot.app.workers):
        await pilot.pause()
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after all that the one before had begun."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def said(pilot: Pilot[None]) -> str:
    """The sentence at the dialog's foot."""
    return str(pilot.app.screen.query_one("#said", Static).content)
