"""Measure how long a key takes to be seen while a long reply comes fast.

    PYTHONPATH=tests uv run python tests/benchmarks/key_latency.py

A scripted engine writes 5,000 tokens of lists and code at 200 tok/s. Meanwhile keys are pressed at odd moments on a
pseudo-terminal of 120 columns and 40 rows, each followed until what was typed so far is painted. Prints the median
and the longest of these times, the most memory of the process that owns the screen, how fast the reply came, and
whether all of its text was kept. The exit status is 1 if the median is above 50 ms, the memory above 300 MB, or text
was lost.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psutil

from support.fake_engine import Scenario, fake_engine
from support.fake_rounds import pieces_of
from support.pseudo_terminal import Program
from support.specchat_with_engine import specchat_with

TOKENS, RATE = 5000, 200
MOST_MILLISECONDS, MOST_MEGABYTES = 50, 300
TYPED = "zqjxvk wylpgh zqjxvk"
"""Nothing that the reply has in it, and short enough for one line."""
FINISHED = "× est."
"""What only the line below a finished reply says."""
SEND, QUIT, ERASE_LINE = "\r", "\x11", "\x15"

PART = """
## Step {number}: what to look at

1. First, `value_{number}` must be **checked**, since nothing else does so.
   - It may be missing, and then step {number} is left out.
   - It may be *too large*: see [the manual](https://example.com/{number}).
2. Then the rows are added up:

```python
def total_{number}(rows: list[int]) -> int:
    result = {number}
    for row in rows:
        result += row  # one after the other
    return result
```

| column | meaning |
|---|---|
| a{number} | the first |

So far so good. What follows from it is said in the next step, which is no harder than this one.
"""


def long_text() -> str:
    """Markdown of exactly `TOKENS` tokens, as the scripted engine cuts it."""
    whole = "".join(PART.format(number=number) for number in range(TOKENS // 50))
    return b"".join(pieces_of(whole)[:TOKENS]).decode()


def latencies(program: Program, most_memory: list[int]) -> list[float]:
    """Seconds from a key to its paint, again and again until the reply has ended."""
    moments, seconds = random.Random(1), []
    owner = psutil.Process(program.process.pid)
    while True:
        for end in range(1, len(TYPED) + 1):
            time.sleep(moments.uniform(0.1, 0.3))
            most_memory.append(owner.memory_info().rss)
            pressed = time.monotonic()
            program.send(TYPED[end - 1])
            program.read_until(TYPED[:end])
            seconds.append(time.monotonic() - pressed)
            if program.has_written(FINISHED):
                return seconds[:-1]
        program.send(ERASE_LINE)


def kept(home: Path) -> str:
    """The reply as the store has it."""
    [file] = home.rglob("chats.sqlite3")
    with closing(sqlite3.connect(file)) as store:
        [content] = store.execute("SELECT content FROM messages WHERE role = 'assistant'").fetchone()
        return str(content)


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    text = long_text()
    command = specchat_with(fake_engine(Scenario(text=text, rate=RATE, real_time=True)))
    memory: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Program([*command, "--target", "t.gguf", "--draft", "d.gguf", "--max-tokens", "0"], home) as program:
            program.read_until("CPU")
            program.send("Go on" + SEND)
            begun = time.monotonic()
            program.read_until("Step")
            seconds = latencies(program, memory)
            took = time.monotonic() - begun
            program.send(QUIT)
            program.end()
        is_whole = kept(home) == text
    median, longest, most = statistics.median(seconds) * 1000, max(seconds) * 1000, max(memory) / 2**20
    print(f"{len(seconds)} keys: median {median:.0f} ms (limit {MOST_MILLISECONDS}), longest {longest:.0f} ms")
    print(f"memory of the screen's process: {most:.0f} MB (limit {MOST_MEGABYTES})")
    print(f"{TOKENS} tokens in {took:.1f} s; {'no' if is_whole else 'SOME'} text was lost")
    return median > MOST_MILLISECONDS or most > MOST_MEGABYTES or not is_whole


if __name__ == "__main__":
    sys.exit(main())
