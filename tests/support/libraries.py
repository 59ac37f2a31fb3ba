"""A home folder with models in other programs' folders, and the library that finds them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from specchat.app.chats.store import Store
from specchat.app.history.archive import Archive, measurement
from specchat.app.library.library import Library
from specchat.models.files.facts_cache import FactsCache
from support.benches import READY, make_document, make_runs
from support.tiny_gguf import write_tiny_llama
from support.tiny_vocabulary import byte_vocabulary

TEMPLATE = "{{ messages }}"


def write_models(folder: Path) -> dict[str, Path]:
    """A target `big`, drafts `small` and `middle` for it, `alien` of another vocabulary, and `broken`."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.gguf" for name in ("big", "middle", "small", "alien", "broken")}
    write_tiny_llama(files["big"], template=TEMPLATE, width=128, layers=6)
    write_tiny_llama(files["middle"], template=TEMPLATE, width=64)
    write_tiny_llama(files["small"], template=TEMPLATE)
    write_tiny_llama(files["alien"], template=TEMPLATE, vocabulary=byte_vocabulary(("alien",)), width=64)
    files["broken"].write_text("no model\n" * 100)
    return files


def link_models(models: dict[str, Path], folder: Path, *names: str) -> Path:
    """Have some of `models` (all by default) in `folder`, too."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or models:
        os.link(models[name], folder / models[name].name)
    return folder


async def measure_pair(store: Store, folder: Path, speed_up: float) -> None:
    """Have a benchmark of `target` and `draft` in the history, and two models in `folder` that pass for them."""
    runs = make_runs(lambda step: 10 * (speed_up if step.side.draft else 1))
    await Archive(store).keep(measurement("bench", make_document(runs), runs, READY))
    [entry, *_rest] = await Archive(store).entries()
    for name, size in (("target", entry.setup.target_size), ("draft", entry.setup.draft_size)):
        os.truncate(write_tiny_llama(folder / f"{name}.gguf", template=TEMPLATE, seed=size % 7), size)


def library_at(home: Path, **options: Any) -> Library:
    """The library of a person whose home folder and settings lie in `home`."""
    return Library(home / "settings.toml", FactsCache(home / "cache" / "models.json"), home=home, **options)
