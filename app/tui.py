"""The Textual application: its look, the screen it opens, and how it ends."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path
from typing import ClassVar

from rich.console import RenderableType
from textual import constants, on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.theme import Theme

from specchat.app.actions import bindings, footer_key
from specchat.app.conversation import Conversation
from specchat.app.palette import Palette
from specchat.app.quitting import how_to_quit
from specchat.app.screens.chat import ChatScreen
from specchat.app.screens.dialogs import Start
from specchat.app.words import _
from specchat.settings.values import Look

_NEW_OBJECTS = 20_000
"""Objects after which garbage is searched for. With Python's 700, a reply's repaints cause ten searches a second."""


def _search_less() -> None:
    """Leave what is there now out of the search for garbage: it stays while the process lives.

    To search it again and again takes a twentieth of a second each time, also from a reply that is being written.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
    gc.enable()


def _track(colour: str) -> dict[str, str]:
    """What lies below a scrollbar, whose colour Textual would take from far below the ground's."""
    return {f"scrollbar-background{state}": colour for state in ("", "-hover", "-active")}


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
    variables=_track("#1a1e23"),
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
    variables=_track("#f0f0ec"),
)
_THEMES = {"dark": DARK.name, "light": LIGHT.name, "terminal": "ansi-dark"}
_FEW_COLOURS = {"dark": "ansi-dark", "light": "ansi-light", "terminal": "ansi-dark"}
"""Where there are 16 colours or none, the terminal's own are better than the nearest to ours."""


class LookedAfter(App[None]):
    """What every app of ours has: our colours, and what went wrong inside as `error`, if it ended by that."""

    CSS_PATH = Path(__file__).with_name("tui.tcss")
    TITLE = "specchat"
    COMMANDS: ClassVar = set()

    def __init__(self, look: Look) -> None:
        # With NO_COLOR set, Textual takes colours away wholly only if it is told now that they are the terminal's.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.error: BaseException | None = None
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.show_look(look)

    def get_driver_class(self) -> type[Driver]:
        """What reads the terminal and writes to it."""
        if sys.platform == "win32":
            return super().get_driver_class()
        from specchat.app.driver import TerminalDriver

        return TerminalDriver

    def get_key_display(self, binding: Binding) -> str:
        """A key's name in the footers."""
        return binding.key_display or footer_key(binding.key)

    def action_theme(self) -> None:
        """Change between light and dark."""
        self.theme = self._themes["light" if self.current_theme.dark else "dark"]

    def show_look(self, look: Look) -> None:
        """Look so from now on."""
        self.theme = self._themes[look.theme]
        self.animation_level = "none" if look.reduced_motion else constants.TEXTUAL_ANIMATIONS

    @property
    def _themes(self) -> dict[str, str]:
        return _FEW_COLOURS if self.no_color or self.console.color_system in (None, "standard") else _THEMES

    def _handle_exception(self, error: Exception) -> None:
        """Keep what went wrong for `specchat.app.chat`, which writes it to a file; Textual would print all of it."""
        # A worker's comes wrapped, without the place where it was raised.
        self.error = self.error or sys.exc_info()[1] or error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()

    def panic(self, *renderables: RenderableType) -> None:
        """End by a mistake of which Textual would print `renderables`."""
        self.error = self.error or RuntimeError(*map(str, renderables))
        self._close_messages_no_wait()


class SpecchatApp(LookedAfter):
    """The chat in a terminal."""

    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    def __init__(self, conversation: Conversation, start: Start) -> None:
        super().__init__(conversation.settings.look)
        self._conversation = conversation
        self._start = start

    def get_default_screen(self) -> ChatScreen:
        """The chat."""
        return ChatScreen(self._conversation, self._start)

    def on_mount(self) -> None:
        """End in order when a shell or a system shutting down asks for it."""
        if not self.is_headless:
            self.call_after_refresh(_search_less)
        if sys.platform != "win32":
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self.exit, None, 128 + number)

    @on(ChatScreen.LookChanged)
    def change_look(self, event: ChatScreen.LookChanged) -> None:
        """Look as the settings say now."""
        self.show_look(event.look)
        event.screen.show_motion()

    def action_command_palette(self) -> None:
        """Open the command palette, which knows what can be done in the chat."""
        if self.screen is self._chat:
            self.push_screen(Palette())

    def action_interrupt(self) -> None:
        """Copy what is selected; else stop what runs; else say how to quit. The same on every screen."""
        selected = getattr(self.focused, "selected_text", "") or self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            self._mention(_("Copied, if this terminal lets programs do that."))
        elif not self._chat.stop():
            self._mention(how_to_quit(_("ctrl+q quits."), self._conversation))
        elif self.screen is not self._chat:
            self._mention(_("Stopped. What was written is kept."))

    @property
    def _chat(self) -> ChatScreen:
        [chat] = [screen for screen in self.screen_stack if isinstance(screen, ChatScreen)]
        return chat

    def _mention(self, text: str) -> None:
        """Show a sentence for a moment, whatever lies over the chat."""
        if self.screen is self._chat:
            self._chat.mention(text)
        else:
            self.notify(text, markup=False)
