"""`specchat` with another engine, as a test's victim.

Arguments: the engine's command as a JSON list, then the command line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial

from specchat.app import ask, chat
from specchat.app.bench import command as bench
from specchat.app.main import main
from specchat.models.engine.client import EngineClient


def specchat_with(engine: Sequence[str]) -> list[str]:
    """The command of a `specchat` whose engine is started with the command `engine`."""
    return [sys.executable, "-P", __file__, json.dumps(engine)]


if __name__ == "__main__":
    for command in (ask, bench, chat):
        command.EngineClient = partial(EngineClient, command=json.loads(sys.argv[1]))  # type: ignore[attr-defined]
    sys.exit(main(sys.argv[2:]))
