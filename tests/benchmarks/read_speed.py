"""Time reading a model's facts from its file, with a vocabulary of 151,936 tokens, beside gguf's reader.

    uv run python tests/benchmarks/read_speed.py

Prints the median of seven readings in CPU time beside the limit, their peak of memory, gguf's time for the same file,
and the slowest of the spoilt files that `tests/integration/test_malformed_files.py` loads.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from gguf import GGUFReader

from specchat.models.files.errors import ModelFileError
from specchat.models.files.facts import read_facts
from support.gguf_bytes import ARRAY, F32, I32, STRING, TINY, gguf
from support.malformed import fields_of, spoil
from support.tiny_gguf import write_tiny_llama

TOKENS, WIDTH = 151_936, 8
LIMIT, LIMIT_SPOILT = 0.150, 0.050


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.gguf"
        large.write_bytes(_large_vocabulary())
        ours = statistics.median(_seconds(lambda: read_facts(large)) for _ in range(7))
        print(f"read_facts, {TOKENS:,} tokens: {ours * 1000:.0f} ms (limit {LIMIT * 1000:.0f})")
        print(f"  memory: {_peak(large) / 2**20:.0f} MB")
        print(f"gguf's GGUFReader: {_seconds(lambda: GGUFReader(large)) * 1000:.0f} ms")
        count, slowest = _slowest_spoilt(Path(folder))
        print(f"slowest of {count:,} spoilt files: {slowest * 1000:.1f} ms (limit {LIMIT_SPOILT * 1000:.0f})")


def _large_vocabulary() -> bytes:
    texts = [f"token{number}" for number in range(TOKENS)]
    metadata = {
        **TINY,
        "tokenizer.ggml.tokens": (ARRAY, STRING, texts),
        "tokenizer.ggml.token_type": (ARRAY, I32, [1] * TOKENS),
        "tokenizer.ggml.scores": (ARRAY, F32, [0.0] * TOKENS),
        "tokenizer.ggml.merges": (ARRAY, STRING, [f"to ken{number}" for number in range(TOKENS)]),
    }
    embedding = [("token_embd.weight", (WIDTH, TOKENS), 0)]
    return gguf(metadata, embedding, offsets=[0], weights=4 * WIDTH * TOKENS)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _peak(path: Path) -> int:
    tracemalloc.start()
    read_facts(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _slowest_spoilt(folder: Path) -> tuple[int, float]:
    whole = write_tiny_llama(folder / "whole.gguf")
    path, times = folder / "spoilt.gguf", []
    for spoilt in spoil(whole.read_bytes(), fields_of(whole)):
        path.write_bytes(spoilt.content)
        times.append(_seconds(lambda: _try(path)))
    return len(times), max(times)


def _try(path: Path) -> None:
    with suppress(ModelFileError):
        read_facts(path)


if __name__ == "__main__":
    main()
