"""Measure what the screen costs: the same reply written by `specchat ask` and on the chat screen.

    uv run python tests/benchmarks/make_pair.py /tmp/target.gguf
    PYTHONPATH=tests uv run python tests/benchmarks/ui_cost.py --target /tmp/target.gguf

The screen has 120 columns and 40 rows of a pseudo-terminal. Both use the bundled model as the draft, 3 guesses a round
and the same seed. Runs alternate, so that a busy machine slows both alike. Prints the tok/s of every run, the medians
and their ratio, all from the rounds; the exit status is 1 if the ratio is below 0.95.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from specchat.app.chats.store import Store
from specchat.models.decoding.counters import Counters, count
from specchat.models.files.bundled import bundled_model
from support.cli import SPECCHAT, environment
from support.pseudo_terminal import Program

LIMIT = 0.95
PROMPT = "Write a Python function that checks whether a number is prime, and explain it."
FINISHED = "× est."
"""What only the line below a finished reply says."""
SEND, QUIT = "\r", "\x11"


def on_screen(options: list[str], home: Path) -> tuple[float, int]:
    """Tokens a second, and tokens, of the reply on the chat screen."""
    with Program([*SPECCHAT, "chat", *options], home, seconds=600) as program:
        program.read_until("CPU")
        program.send(PROMPT + SEND)
        program.read_until(FINISHED)
        program.send(QUIT)
        program.end()
    counters = asyncio.run(last_reply(home))
    return counters.tokens_per_second or 0.0, counters.tokens


async def last_reply(home: Path) -> Counters:
    """The figures of the reply that was kept last."""
    [file] = home.rglob("chats.sqlite3")
    store = Store(file)
    await store.open()
    try:
        [latest, *_] = await store.list_chats()
        _chat, messages = await store.read_chat(latest.id)
        return count([step.round for step in messages[-1].steps])
    finally:
        await store.close()


def by_ask(options: list[str], home: Path) -> tuple[float, int]:
    """The same of `specchat ask`."""
    command = [*SPECCHAT, "ask", "--json", *options, PROMPT]
    run = subprocess.run(command, env=environment(home), capture_output=True, check=True)
    figures = json.loads(run.stdout)
    return figures["tokens_per_second"], figures["tokens"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--draft", default=str(bundled_model()))
    parser.add_argument("--gamma", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    options = ["--target", str(arguments.target.absolute()), "--draft", arguments.draft, "--seed", "1"]
    options += ["--gamma", str(arguments.gamma), "--max-tokens", str(arguments.max_tokens)]
    options += ["--threads", str(arguments.threads), "--draft-threads", str(arguments.threads)]
    speeds: dict[str, list[float]] = {"ask": [], "screen": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.repeat):
            for name, run in (("ask", by_ask), ("screen", on_screen)):
                speed, tokens = run(options, Path(folder))
                speeds[name].append(speed)
                print(f"{name:8}{speed:8.2f} tok/s   {tokens} tokens", flush=True)
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    ratio = medians["screen"] / medians["ask"]
    print(f"medians: ask {medians['ask']:.2f}, screen {medians['screen']:.2f}; ratio {ratio:.3f} (limit {LIMIT})")
    return ratio < LIMIT


if __name__ == "__main__":
    sys.exit(main())
