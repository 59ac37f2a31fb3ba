"""`specchat` with mistakes in it, as a test's victim: keys that raise exceptions, or have Textual end by a panic.

Arguments: the engine's command as a JSON list, then the command line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial

from textual import events
from textual.message import Message

from specchat.app import chat, driver
from specchat.app.driver import TerminalDriver
from specchat.app.main import main
from specchat.app.screens.chat import ChatScreen
from specchat.models.engine.client import EngineClient

BREAKING_KEYS = {"in an action": "\x1bOP", "where keys are read": "\x1d", "in Textual": "\x1e"}
"""By the place of the mistake: F1, ctrl+], ctrl+^."""

MISTAKE = "a mistake in specchat"


def breaking_specchat(engine: Sequence[str]) -> list[str]:
    """The command of a `specchat` that these keys break, with the engine that the command `engine` starts."""
    return [sys.executable, "-P", __file__, json.dumps(engine)]


def _break(_screen: ChatScreen) -> None:
    raise RuntimeError(MISTAKE)


class _BreakingDriver(TerminalDriver):
    def process_message(self, message: Message) -> None:
        character = message.character if isinstance(message, events.Key) else None
        if character == BREAKING_KEYS["where keys are read"]:
            raise RuntimeError(MISTAKE)
        if character == BREAKING_KEYS["in Textual"]:
            self._app.call_later(self._app.panic, MISTAKE)
        super().process_message(message)


if __name__ == "__main__":
    ChatScreen.action_help = _break  # type: ignore[method-assign]
    driver.TerminalDriver = _BreakingDriver  # type: ignore[misc]
    chat.EngineClient = partial(EngineClient, command=json.loads(sys.argv[1]))  # type: ignore[assignment, misc]
    sys.exit(main(sys.argv[2:]))
