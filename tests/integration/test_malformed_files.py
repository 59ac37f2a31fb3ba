"""Thousands of spoilt files: the reader says what is wrong within its limits, and none takes the app down.

What it calls sound is loaded by the engine, each file in its turn. Most of those load, with odd numbers or names; to
refuse is fine as well. If native code ends the engine's process, the next file has a new one.
"""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec

from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineDied, EngineFailure
from specchat.models.engine.messages import ModelFile
from specchat.models.files.errors import ModelFileError
from specchat.models.files.facts import read_facts
from specchat.models.files.memory import memory_need
from specchat.settings.values import ModelOptions
from support.malformed import Spoilt, fields_of, overflowing_shapes, spoil, stray_entries
from support.tiny_gguf import write_tiny_llama, write_tiny_sliding
from support.tiny_vocabulary import spm_vocabulary

MOST_MEMORY = 64 << 20
MOST_DEATHS = 5
"""Each costs a second. None of these files is known to cost one with the llama.cpp that is pinned."""


def spoilt_files(folder: Path) -> Iterator[Spoilt]:
    """All fields of a BPE model; of two others, those that the first can't tell about."""
    whole = write_tiny_llama(folder / "whole.gguf", layers=1)
    content, fields = whole.read_bytes(), fields_of(whole)
    yield from spoil(content, fields)
    yield from overflowing_shapes(content, fields)
    yield from stray_entries(content, fields, "llama")
    sliding = write_tiny_sliding(folder / "sliding.gguf")
    yield from stray_entries(sliding.read_bytes(), fields_of(sliding), "gemma3")
    spm = write_tiny_llama(folder / "spm.gguf", vocabulary=spm_vocabulary(), layers=1)
    yield from spoil(spm.read_bytes(), [field for field in fields_of(spm) if field.name.startswith("tokenizer.")])


def test_no_spoilt_file_takes_the_app_down(tmp_path: Path) -> None:
    sound, refused = [], 0
    tracemalloc.start()
    for number, spoilt in enumerate(spoilt_files(tmp_path)):
        path = tmp_path / f"{number}.gguf"
        path.write_bytes(spoilt.content)
        tracemalloc.reset_peak()
        try:
            facts = read_facts(path)
            assert msgspec.json.encode(facts)
            assert memory_need(facts, ModelOptions()).total > 0
            sound.append(path)
        except ModelFileError:
            refused += 1
            path.unlink()
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY, spoilt.what
    tracemalloc.stop()
    assert refused > 1000
    assert len(sound) > 100
    asyncio.run(_load_each(sound, tmp_path / "engine.log"))


async def _load_each(paths: list[Path], log: Path) -> None:
    deaths = []
    async with EngineClient(log) as engine:
        for path in paths:
            try:
                async for _ in engine.load(ModelFile(str(path), ModelOptions(gpu_layers=0, batch=64, threads=1))):
                    pass
            except EngineDied as death:
                deaths.append((path.name, death.params["log"]))
                assert len(deaths) <= MOST_DEATHS, deaths
            except EngineFailure as failure:
                assert failure.code in ("load_failed", "context_failed", "decode_failed", "model_is_encoder")
