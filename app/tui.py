"""The Textual application: its look, the screen it opens, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import ClassVar

from textual import constants, on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.theme import Theme

from specchat.app.actions import BY_NAME
from specchat.app.conversation import Conversation
from specchat.app.screens.chat import ChatScreen
from specchat.app.screens.dialogs import Start
from specchat.app.words import _
from specchat.settings.values import Look

DARK = Theme(
    name="specchat-dark",
    primary="#7aa2c9",
    secondary="#7aa2c9",
    accent="#e0b458",
    success="#7fc49a",
    warning="#e0b458",
    error="#e07a7a",
    foreground="#d8dce2",
    background="#14171b",
    surface="#1a1e23",
    panel="#22272e",
    dark=True,
)
LIGHT = Theme(
    name="specchat-light",
    primary="#2f6690",
    secondary="#2f6690",
    accent="#8a5a00",
    success="#1f7a45",
    warning="#8a5a00",
    error="#a8322d",
    foreground="#22262b",
    background="#fafaf7",
    surface="#f0f0ec",
    panel="#e6e6e0",
    dark=False,
)
_THEMES = {"dark": DARK.name, "light": LIGHT.name, "terminal": "ansi-dark"}
_FEW_COLOURS = {"dark": "ansi-dark", "light": "ansi-light", "terminal": "ansi-dark"}
"""Where there are 16 colours or none, the terminal's own are better than the nearest to ours."""

TERMINATED = 143
"""What a shell reports for a program that SIGTERM ended."""


class SpecchatApp(App[None]):
    """The chat in a terminal. `error` is what went wrong inside, if it ended by that."""

    CSS_PATH = "tui.tcss"
    TITLE = "specchat"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar = set()
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", _(BY_NAME["app.quit"].footer), priority=True)]

    def __init__(self, conversation: Conversation, start: Start) -> None:
        # With NO_COLOR set, Textual takes colours away wholly only if it is told now that they are the terminal's.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.error: BaseException | None = None
        self._conversation = conversation
        self._start = start
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self._show_look(conversation.settings.look)

    def get_default_screen(self) -> ChatScreen:
        """The chat."""
        return ChatScreen(self._conversation, self._start)

    def on_mount(self) -> None:
        """End in order when a shell or a system shutting down asks for it."""
        if sys.platform != "win32":
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self.exit, None, 128 + number)

    @on(ChatScreen.LookChanged)
    def change_look(self, event: ChatScreen.LookChanged) -> None:
        """Look as the settings say now."""
        self._show_look(event.look)
        event.screen.show_motion()

    def action_theme(self) -> None:
        """Change between light and dark."""
        self.theme = self._themes["light" if self.current_theme.dark else "dark"]

    @property
    def _themes(self) -> dict[str, str]:
        return _FEW_COLOURS if self.no_color or self.console.color_system in (None, "standard") else _THEMES

    def _show_look(self, look: Look) -> None:
        self.theme = self._themes[look.theme]
        self.animation_level = "none" if look.reduced_motion else constants.TEXTUAL_ANIMATIONS

    def _fatal_error(self) -> None:
        """Keep what went wrong for `specchat.app.chat`, which writes it to a file; Textual would print all of it."""
        self.error = sys.exc_info()[1]
        self._close_messages_no_wait()
