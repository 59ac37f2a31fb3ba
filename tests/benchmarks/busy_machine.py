"""Compare two spin counts of GNU OpenMP, on an idle machine and beside a busy program.

    uv run python tests/benchmarks/busy_machine.py [--target FILE]

Prints the median tok/s of plain replies, in alternating runs. llama.cpp's threads spin where they wait for each
other: 300,000 turns by default, which keeps a core from the very thread that is waited for as soon as any other
program wants that core.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specchat.models.files.bundled import bundled_model


def speed(target: Path, spins: str) -> float:
    """Tokens a second of one reply."""
    command = [sys.executable, "-m", "specchat.app.main", "ask", "--json", "--target", str(target)]
    command += ["--temperature", "0", "--max-tokens", "32", "Tell me about the sea."]
    environment = {**os.environ, "GOMP_SPINCOUNT": spins}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(json.loads(run.stdout)["tokens_per_second"])


@contextmanager
def busy_program(wanted: bool) -> Iterator[None]:
    """A program that keeps one core busy meanwhile."""
    if not wanted:
        yield
        return
    program = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        program.kill()
        program.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, default=bundled_model())
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    for busy in (False, True):
        speeds: dict[str, list[float]] = {spins: [] for spins in ("300000", "10000")}
        with busy_program(busy):
            for _ in range(arguments.repeat):
                for spins, values in speeds.items():
                    values.append(speed(arguments.target, spins))
        print("beside a busy program" if busy else "on an idle machine")
        for spins, values in speeds.items():
            every = " ".join(f"{value:.1f}" for value in values)
            print(f"  GOMP_SPINCOUNT={spins:8}{statistics.median(values):8.1f} tok/s   {every}")


if __name__ == "__main__":
    main()
