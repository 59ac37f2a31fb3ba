"""All models on a machine, each with what its file says of it: a search and a cache of facts, joined."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from specchat.models.files.discovery import search
from specchat.models.files.facts import Facts
from specchat.models.files.facts_cache import FactsCache, Known, Refusal
from specchat.models.files.found import Found, Trouble, whole_file
from specchat.models.files.names import called
from specchat.models.files.places import Place


@dataclass(frozen=True, slots=True)
class Model:
    """A model that was found, and what is known of it: its facts, or why it can't be chatted with.

    Beyond the codes of `read_facts`: `download_unfinished` (path), `file_name_not_unicode` (path).
    """

    found: Found
    known: Known

    @property
    def facts(self) -> Facts | None:
        """What its file says; None if it can't be chatted with."""
        return None if isinstance(self.known, Refusal) else self.known

    @property
    def refusal(self) -> Refusal | None:
        """Why it can't be chatted with; None if it can."""
        return self.known if isinstance(self.known, Refusal) else None

    @property
    def path(self) -> Path:
        """What is to be loaded."""
        return self.found.path


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of listing came to: one more model, a trouble, or nothing but time."""

    folders: int
    """Folders that were looked into so far."""
    model: Model | None = None
    trouble: Trouble | None = None


def list_models(
    places: Iterable[Place], cache: FactsCache, at_hand: Iterable[Found] = (), also: Iterable[Path] = ()
) -> Generator[Step, None, None]:
    """Every model at `places`, those `at_hand` first and not again; in the end those of the files `also` that are left.

    Waits for the disk; never raises. To stop, stop iterating; what was read until then is kept in `cache` all the same.
    """
    seen: set[str] = set()
    is_complete = False
    try:
        for step, found in _steps(places, list(at_hand), also, seen):
            if found is not None and str(found.path) not in seen:
                seen.add(str(found.path))
                step = replace(step, model=_model(found, cache))
            yield step
        is_complete = True
    finally:
        cache.save(seen if is_complete else None)


def _steps(
    places: Iterable[Place], at_hand: Sequence[Found], also: Iterable[Path], seen: Collection[str]
) -> Iterator[tuple[Step, Found | None]]:
    folders = 0
    for found in at_hand:
        yield Step(folders), found
    for looked in search(places, known=at_hand):
        folders += 1
        yield Step(folders, trouble=looked.trouble), None
        for found in looked.models:
            yield Step(folders), found
    for path in also:
        if str(path) not in seen:
            yield Step(folders), whole_file(path)


def model_at(path: Path, cache: FactsCache) -> Model:
    """The model in the file `path`, wherever it lies. Never raises."""
    nothing = Found(path, called(path), "folder", 0, 0)  # of which reading says why it can't be had
    return _model(whole_file(path) or nothing, cache)


def _model(found: Found, cache: FactsCache) -> Model:
    path = str(found.path)
    try:
        path.encode()
    except UnicodeEncodeError:  # the engine couldn't be told of it
        return Model(found, Refusal("file_name_not_unicode", {"path": path}))
    if not found.is_whole:
        return Model(found, Refusal("download_unfinished", {"path": path}))
    return Model(found, cache.read(found))
