"""An app that shows nothing but one dialog, and what a test does with it."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Static
from textual.worker import Worker

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
    """Wait until the app has nothing left to do but to wait for a dialog over the dialog; threads included."""
    await pilot.pause()
    while any(not worker.is_finished and not _waits_for_dialog(pilot, worker) for worker in pilot.app.workers):
        await pilot.pause()
    await pilot.pause()


def _waits_for_dialog(pilot: Pilot[None], worker: Worker[Any]) -> bool:
    return worker.group == "dialog" and worker.node is not pilot.app.screen


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after all that the one before had begun."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def said(pilot: Pilot[None]) -> str:
    """The sentence at the dialog's foot."""
    return str(pilot.app.screen.query_one("#said", Static).content)
