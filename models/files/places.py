"""Where programs keep the GGUF files that they download.

Each program was looked up in its own source or manual: huggingface_hub's “Understand caching”, llama.cpp's
`common/hf-cache.cpp` and `fs_get_cache_directory`, Ollama's `envconfig` and the unit that its installer writes, LM
Studio's manual (“Import Models”) and the pointer file that its own tools read, Jan's `src-tauri/src/core/app/paths.rs`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Source = Literal["huggingface", "lmstudio", "ollama", "llamacpp", "jan", "folder", "specchat"]
"""Who keeps a folder of models; `folder` is one that a person has added."""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to look into. That one which `is_named` isn't there is worth a word: somebody has named it."""

    source: Source
    folder: Path
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What decides where programs keep their files. `home` is None where nobody has told this process whose it is."""

    environ: Mapping[str, str]
    home: Path | None
    system: str = sys.platform

    def named(self, *variables: str) -> Path | None:
        """The folder that the first of `variables` which isn't empty names."""
        text = next((text for name in variables if (text := self.environ.get(name, "").strip())), "")
        if not text:
            return None
        if self.home is not None and (text == "~" or text.startswith(("~/", f"~{os.sep}"))):
            return self.home / text[2:]
        return Path(text)

    def at_home(self, *parts: str) -> list[Path]:
        """A folder below the home folder, if there is one."""
        return [] if self.home is None else [self.home.joinpath(*parts)]

    def kept(self, kind: Literal["cache", "data"]) -> list[Path]:
        """The folder that programs keep caches or data in, as this system has it."""
        if self.system == "win32":
            named = self.named("LOCALAPPDATA" if kind == "cache" else "APPDATA")
            return [named] if named else []
        if self.system == "darwin":
            return self.at_home("Library", "Caches" if kind == "cache" else "Application Support")
        named = self.named("XDG_CACHE_HOME" if kind == "cache" else "XDG_DATA_HOME")
        usual = (".cache",) if kind == "cache" else (".local", "share")
        return [named] if named else self.at_home(*usual)


def find_places(here: Surroundings, added: Sequence[Path] = ()) -> list[Place]:
    """All folders that models may lie in, each once: those a person has added first, then each program's.

    Reads the small files in which LM Studio and Jan say where they keep models. Waits for the disk. Never raises.
    """
    places = [
        *(Place("folder", folder, is_named=True) for folder in added),
        *_hugging_face(here),
        *_lm_studio(here),
        *_ollama(here),
        *_llama_cpp(here),
        *_jan(here),
    ]
    unique: dict[str, Place] = {}
    for place in places:
        unique.setdefault(os.path.normcase(place.folder), place)
    return list(unique.values())


def _hugging_face(here: Surroundings) -> Iterator[Place]:
    if hub := here.named("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        yield Place("huggingface", hub, is_named=True)
    elif home := here.named("HF_HOME"):
        yield Place("huggingface", home / "hub")  # that there is none yet says nothing: it is named for other things
    elif cache := here.named("XDG_CACHE_HOME"):
        yield Place("huggingface", cache / "huggingface" / "hub")
    else:
        yield from _each("huggingface", here.at_home(".cache", "huggingface", "hub"))


def _lm_studio(here: Surroundings) -> Iterator[Place]:
    """Its home is where the pointer file says, or one of the two usual folders. Its settings may name a folder."""
    homes = [*_pointed(here), *here.at_home(".lmstudio"), *here.at_home(".cache", "lm-studio")]
    for home in homes:
        named = _setting(home / "settings.json", "downloadsFolder")
        yield from _each("lmstudio", [*([named] if named else []), home / "models"])


def _pointed(here: Surroundings) -> list[Path]:
    for pointer in here.at_home(".lmstudio-home-pointer"):
        text = _read(pointer).strip()
        if text and "\n" not in text and Path(text).is_absolute():
            return [Path(text)]
    return []


def _ollama(here: Surroundings) -> Iterator[Place]:
    if named := here.named("OLLAMA_MODELS"):
        yield Place("ollama", named, is_named=True)
    yield from _each("ollama", here.at_home(".ollama", "models"))
    if here.system == "linux":  # where the installer's service runs as a user of its own
        yield Place("ollama", Path("/usr/share/ollama/.ollama/models"))


def _llama_cpp(here: Surroundings) -> Iterator[Place]:
    if named := here.named("LLAMA_CACHE"):
        yield Place("llamacpp", named, is_named=True)
    else:
        yield from _each("llamacpp", [cache / "llama.cpp" for cache in here.kept("cache")])


def _jan(here: Surroundings) -> Iterator[Place]:
    folders = [named] if (named := here.named("JAN_DATA_FOLDER")) else []
    for kept in [*here.kept("data"), *here.at_home(".config")]:  # the second for versions before 0.6
        named = _setting(kept / "Jan" / "settings.json", "data_folder")
        folders += [*([named] if named else []), kept / "Jan" / "data"]
    for folder in [*folders, *here.at_home("jan")]:
        yield from _each("jan", [folder / "llamacpp" / "models", folder / "models"])


def _each(source: Source, folders: Iterable[Path]) -> Iterator[Place]:
    return (Place(source, folder) for folder in folders)


def _setting(file: Path, key: str) -> Path | None:
    """The absolute path under `key` in another program's JSON; None for whatever stands against it."""
    try:
        said = json.loads(_read(file))
    except (ValueError, RecursionError):
        return None
    text = said.get(key) if isinstance(said, dict) else None
    return Path(text) if isinstance(text, str) and Path(text).is_absolute() else None


def _read(file: Path) -> str:
    """The text of a small file; empty if it can't be had."""
    try:
        if file.is_file() and file.stat().st_size < 1 << 20:
            return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        pass
    return ""
