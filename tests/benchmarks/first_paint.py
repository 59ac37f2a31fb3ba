"""Measure how long `specchat` takes to its first painted frame.

    PYTHONPATH=tests uv run python tests/benchmarks/first_paint.py [--repeat N] [--home FOLDER]

Starts the command itself (not through uv) on a pseudo-terminal of 120 columns and 40 rows, and stops the clock when
the line to type in has been painted. The first start, which fills the disk cache, isn't counted. Prints every time,
and the median, in seconds; the exit status is 1 if that is above the limit of 0.7 s. For where the time goes:

    python -X importtime -c "import specchat.app.chat, specchat.app.tui"
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from support.pseudo_terminal import Program

COMMAND = [str(Path(sys.executable).with_name("specchat"))]
LIMIT = 0.7
PAINTED = "Ask something"
"""What the empty line to type in says."""
QUIT = "\x11"


def seconds_to_paint(home: Path) -> float:
    """From the start of the process to the frame."""
    begun = time.monotonic()
    with Program(COMMAND, home) as program:
        program.read_until(PAINTED)
        painted = time.monotonic()
        program.send(QUIT)
        program.end()  # with its engine, which would slow down the next start
        return painted - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--home", type=Path, help="use the files in this folder, instead of those of a new user")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as fresh:
        home = arguments.home or Path(fresh)
        seconds_to_paint(home)
        times = [seconds_to_paint(home) for _ in range(arguments.repeat)]
    median = statistics.median(times)
    print(f"first paint after {median:.3f} s (limit {LIMIT} s)   {' '.join(f'{seconds:.3f}' for seconds in times)}")
    return median > LIMIT


if __name__ == "__main__":
    sys.exit(main())
