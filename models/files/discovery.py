"""Finds the GGUF models on a machine: walks folders, reads no model file, changes nothing.

A model that is split over files is one model, a file that several links lead to is found once, and a download that
isn't finished is found as that. Folders come one at a time, so that whoever asks can show progress and stop.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from specchat.models.errors import Params
from specchat.models.files import ollama
from specchat.models.files.found import Found, Looked, Seen, Trouble, begins_as_gguf, identity, unreadable
from specchat.models.files.names import PART
from specchat.models.files.places import Place

MAX_DEPTH = 12
"""Folders below a place that are still looked into."""
MAX_FOLDERS = 20_000
"""Folders of one place that are looked into: somebody may have added a whole disk."""

_UNFINISHED = re.compile(r"(?i)(\.gguf)\.(?:part|partial|incomplete|downloadinprogress|download|crdownload|tmp|aria2)$")
"""What browsers, llama.cpp, LM Studio, aria2 and others add to a name until all has come."""
_HUB = "models--"
"""What the folder of a repository begins with in the Hugging Face cache; two dashes stand for each slash."""


def search(places: Iterable[Place], known: Iterable[Found] = ()) -> Iterator[Looked]:
    """Look through `places`, folder by folder, for models that aren't `known`. Waits for the disk; never raises.

    Of a model that several paths lead to, the first is given. To stop, stop iterating.
    """
    met = {_identity(found.path) for found in known}
    for place in places:
        for looked in _look(place):
            fresh = []
            for model, identities in looked.models:
                if not met.intersection(identities):
                    fresh.append(model)
                met.update(identities)
            yield Looked(place, looked.folder, tuple(fresh), looked.trouble)


@dataclass(frozen=True, slots=True)
class _File:
    """A GGUF file, or what there is of one. `name` is the one it has once it is whole."""

    path: Path
    name: str
    is_whole: bool
    size: int
    changed: int
    identity: object


def _look(place: Place) -> Iterator[Seen]:
    try:
        is_there, is_ollamas = place.folder.is_dir(), ollama.is_ollamas(place.folder)
    except OSError as error:
        yield Seen(place.folder, trouble=unreadable(place.folder, error))
        return
    if not is_there:
        if place.is_named:
            yield Seen(place.folder, trouble=Trouble("folder_gone", {"path": str(place.folder)}))
    elif is_ollamas:
        yield from ollama.look(place)
    else:
        yield from _walk(place)


def _walk(place: Place) -> Iterator[Seen]:
    """Depth first, each folder once, however links lie. Of what can't be read, the first is told of."""
    ahead, met, told = [(place.folder, 0)], set(), False
    while ahead:
        folder, depth = ahead.pop()
        seen, below = _read_folder(place, folder)
        if seen.trouble:
            seen.trouble, told = (None if told else seen.trouble), True
        yield seen
        for next in reversed(below if depth < MAX_DEPTH else []):
            same = _identity(next)
            if same not in met:
                met.add(same)
                ahead.append((next, depth + 1))
        if len(met) > MAX_FOLDERS:
            params: Params = {"path": str(place.folder), "count": MAX_FOLDERS}
            yield Seen(folder, trouble=Trouble("folder_too_big", params))
            return


def _read_folder(place: Place, folder: Path) -> tuple[Seen, list[Path]]:
    """A folder's models, and the folders in it that are to be looked into."""
    files, below = [], []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _is_folder(entry):
                    below.append(Path(entry.path))
                elif file := _file(entry):
                    files.append(file)
    except OSError as error:
        return Seen(folder, trouble=unreadable(folder, error)), []
    models = [_model(place, folder, group) for group in _grouped(files)]
    if folder.name.startswith(_HUB):  # its blobs have no names; the links in its snapshots have
        models += [_nameless(place, folder, file) for file in _unfinished_blobs(folder)]
        below = [path for path in below if path.name == "snapshots"]
    return Seen(folder, models), sorted(path for path in below if not path.name.startswith("."))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _file(entry: os.DirEntry[str]) -> _File | None:
    whole = _UNFINISHED.sub(r"\1", entry.name)
    if not whole.lower().endswith(".gguf"):
        return None
    try:
        status = entry.stat()
        if os.name == "nt":  # where an entry doesn't know which file it is
            status = os.stat(entry.path)  # noqa: PTH116  # a path object for each file is dear
    except OSError:  # a link to nowhere, or gone since
        return None
    same = identity(entry.path, status)
    return _File(Path(entry.path), whole, whole == entry.name, status.st_size, status.st_mtime_ns, same)


def _grouped(files: list[_File]) -> Iterator[list[_File]]:
    """The files of each model, in order; of a file that is being downloaded anew, the one that is whole."""
    groups: dict[tuple[str, str], dict[str, _File]] = {}
    for file in sorted(files, key=lambda file: (file.name, file.is_whole)):
        part = PART.match(file.name)
        group = groups.setdefault((part["stem"], part["count"]) if part else (file.name, ""), {})
        group[file.name] = file  # the whole one comes last
    return (list(group.values()) for group in groups.values())


def _model(place: Place, folder: Path, files: list[_File]) -> tuple[Found, list[object]]:
    part = PART.match(files[0].name)
    found = Found(
        files[0].path,
        part["stem"] if part else files[0].name[: -len(".gguf")],
        place.source,
        size=sum(file.size for file in files),
        changed=max(file.changed for file in files),
        parts=len(files),
        origin=_origin(place, folder),
        is_whole=all(file.is_whole for file in files),
    )
    if found.name.lower() == "model" and folder != place.folder:  # as Jan calls them all
        found = replace(found, name=folder.name, origin="" if found.origin == folder.name else found.origin)
    return found, [file.identity for file in files]


def _origin(place: Place, folder: Path) -> str:
    """The repository or the folders below the place: `org/name` for the hub's, LM Studio's and Jan's."""
    parts = folder.relative_to(place.folder).parts
    for part in parts:
        if part.startswith(_HUB):
            return part.removeprefix(_HUB).replace("--", "/")
    return "/".join(parts)


def _unfinished_blobs(repository: Path) -> Iterator[_File]:
    """Downloads into the Hugging Face cache that have begun with a GGUF's first bytes."""
    try:
        with os.scandir(repository / "blobs") as entries:
            for entry in entries:
                if entry.name.endswith(".incomplete") and begins_as_gguf(entry.path):
                    status = entry.stat()
                    yield _File(Path(entry.path), entry.name, False, status.st_size, status.st_mtime_ns, entry.path)
    except OSError:
        return


def _nameless(place: Place, folder: Path, file: _File) -> tuple[Found, list[object]]:
    origin = _origin(place, folder)
    name = origin.rpartition("/")[2]
    return Found(file.path, name, place.source, file.size, file.changed, origin=origin, is_whole=False), [file.identity]


def _identity(path: Path) -> object:
    """What a folder or file is, however it is reached."""
    try:
        return identity(str(path), path.stat())
    except OSError:
        return str(path)
