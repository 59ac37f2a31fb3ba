"""A program that streams a reply from an engine to stdout, as a test's victim: ctrl+C and `kill -9` are tried on it.

Arguments: the log's path, then the engine's command.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from specchat.models.engine.client import EngineClient
from specchat.models.engine.messages import ModelFile, Written
from specchat.settings.values import ModelOptions, Sampling, Speculation


async def stream(log_path: Path, command: list[str]) -> None:
    async with EngineClient(log_path, command) as engine:
        async for _ in engine.load(ModelFile("target.gguf", ModelOptions())):
            pass
        reply = engine.generate("Once", sampling=Sampling(), speculation=Speculation(), drafter="lookup", max_tokens=0)
        async for event in reply:
            if isinstance(event, Written):
                print(ascii(event.text), flush=True)


if __name__ == "__main__":
    try:
        asyncio.run(stream(Path(sys.argv[1]), sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
