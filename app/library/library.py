"""The models on this machine as the picker and `specchat models` see them: found, judged, weighed against memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from specchat.models.engine.messages import Device
from specchat.models.files.facts import Facts
from specchat.models.files.facts_cache import FactsCache
from specchat.models.files.found import whole_file
from specchat.models.files.library import Model, Step, list_models, model_at
from specchat.models.files.memory import Fit, Free, MemoryNeed, fits, memory_need
from specchat.models.files.pairs import Measured, Offer, offers
from specchat.models.files.places import Place, Surroundings, find_places
from specchat.settings import sources
from specchat.settings.schema import Value
from specchat.settings.values import Settings
from specchat.settings.writer import write_settings

Scales = Callable[[Facts, Facts | None], Fit]
"""Whether a target, alone or with a draft, fits into the memory that is free. Doesn't wait for anything."""

Needs = Callable[[Facts], MemoryNeed]
"""What a model takes as a target, all of it in RAM. Doesn't wait for anything."""

FOLDERS = "models.folders"
"""The setting that names added folders."""


def cache_file(cache: Path) -> Path:
    """Where facts of model files are kept, in specchat's cache folder."""
    return cache / "models.json"


@dataclass(frozen=True, slots=True)
class Library:
    """Where models are looked for, and what they are weighed against. Its methods wait for the disk and never raise,
    unless they say so; they are for one thread at a time.

    `at_hand` are models that come with specchat, each with what it is called. `taken` tells how many bytes of RAM the
    models take that are loaded now, since they would make room for others. Other programs keep their models below
    `home`.
    """

    settings_file: Path
    cache: FactsCache
    environ: Mapping[str, str] = field(default_factory=dict)
    typed: Mapping[str, Value] = field(default_factory=dict)
    at_hand: Sequence[tuple[Path, str]] = ()
    measured: Measured | None = None
    devices: Callable[[], Sequence[Device]] = tuple
    taken: Callable[[], int] = int
    home: Path | None = None

    def models(self, also: Iterable[Path] = ()) -> Generator[Step, None, None]:
        """All models, a step at a time: those at hand, those that are found, then those of the files `also`."""
        at_hand = [found for path, name in self.at_hand if (found := whole_file(path, name, "specchat"))]
        return list_models(self.places(), self.cache, at_hand, also)

    def places(self) -> list[Place]:
        """The folders that are looked into."""
        here = Surroundings(self.environ, self.home)
        return find_places(here, [_added(text, self.home) for text in self._settings().models.listed()])

    def model(self, path: Path) -> Model:
        """The model in a file, wherever it lies."""
        return model_at(path, self.cache)

    def offers(self, target: Facts, models: Iterable[Model]) -> Iterator[Offer]:
        """Each of `models` as a draft for `target`."""
        return offers(target, models, self.measured)

    def scales(self) -> Scales:
        """What pairs are weighed with now: the settings, and the memory that is free."""
        settings, free = self._settings(), self._free()
        return lambda target, draft: fits(target, settings.target, draft, settings.draft, free)

    def needs(self) -> Needs:
        """What models take by the settings now. Unlike `scales`, this looks for no GPU, which takes a second."""
        options = self._settings().target
        return lambda facts: memory_need(facts, options)

    def add_folder(self, folder: Path) -> None:
        """Look into `folder`, too, from now on. Raises `NotWritten`."""
        filed, _problems = sources.read_file(self.settings_file)
        folders = str(filed.get(FOLDERS, "")).splitlines()
        if str(folder) not in folders:
            write_settings(self.settings_file, {FOLDERS: "\n".join([*folders, str(folder)])})

    def forget_folder(self, folder: Path) -> bool:
        """Look into the added `folder` no more; whether it was one of the settings file's. Raises `NotWritten`."""
        filed, _problems = sources.read_file(self.settings_file)
        folders = str(filed.get(FOLDERS, "")).splitlines()
        left = [text for text in folders if text.strip() and _added(text.strip(), self.home) != folder]
        if len(left) == len([text for text in folders if text.strip()]):
            return False
        write_settings(self.settings_file, {FOLDERS: "\n".join(left) or None})
        return True

    def _settings(self) -> Settings:
        return sources.load(self.settings_file, self.environ, self.typed).settings

    def _free(self) -> Free:
        memory = psutil.virtual_memory()
        devices = self.devices()
        gpus = [device for device in devices if device.kind == "gpu"] or [
            device for device in devices if device.kind == "igpu"
        ]
        ram = min(memory.available + self.taken(), memory.total)
        return Free(ram, sum(device.memory_free for device in gpus) if gpus else None)


def home_folder() -> Path | None:
    """The home folder; None where nobody has told this process whose it is."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def _added(text: str, home: Path | None) -> Path:
    """An added folder, absolute. A relative one is meant from the home folder on: a chat begins in any folder."""
    path = Path(text)
    if home is not None:
        path = home / text[2:] if text.startswith(("~/", f"~{os.sep}")) else home / path
    return Path(os.path.abspath(path))  # noqa: PTH100  # links stay what they are
