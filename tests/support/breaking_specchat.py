"""`specchat` with a mistake in it, as a test's victim: its help, on the screen, raises an exception.

Arguments: the engine's command as a JSON list, then the command line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial

from specchat.app import chat
from specchat.app.main import main
from specchat.app.screens.chat import ChatScreen
from specchat.models.engine.client import EngineClient


def breaking_specchat(engine: Sequence[str]) -> list[str]:
    """The command of a `specchat` that F1 breaks, with the engine that the command `engine` starts."""
    return [sys.executable, "-P", __file__, json.dumps(engine)]


def _break(_screen: ChatScreen) -> None:
    raise RuntimeError("a mistake in specchat")


if __name__ == "__main__":
    ChatScreen.action_help = _break  # type: ignore[method-assign]
    chat.EngineClient = partial(EngineClient, command=json.loads(sys.argv[1]))  # type: ignore[assignment, misc]
    sys.exit(main(sys.argv[2:]))
