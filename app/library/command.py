"""`specchat models`: what the picker shows, on the command line, for people and for scripts."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from rich.cells import cell_len

from specchat.app import last_pair
from specchat.app.cells import filled
from specchat.app.chats.records import StoreError
from specchat.app.costs import opened_quietly
from specchat.app.history.known import Known, read_known
from specchat.app.library import telling
from specchat.app.library.at_hand import models_at_hand
from specchat.app.library.document import (
    fit_document,
    model_document,
    need_document,
    offer_document,
    trouble_document,
)
from specchat.app.library.library import Library, Needs, cache_file, home_folder
from specchat.app.status import FAILED
from specchat.app.streams import complain
from specchat.app.words import _, plural, sentence, visible
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import Device
from specchat.models.files.facts_cache import FactsCache, Refusal
from specchat.models.files.found import Found, Trouble
from specchat.models.files.library import Model
from specchat.models.files.pairs import Offer, best_first
from specchat.settings.paths import Paths, find_paths
from specchat.settings.writer import NotWritten

_LEAST_NAME = 16


@dataclass(frozen=True, slots=True)
class ModelsArguments:
    """What `specchat models` was asked for. `files` are paths as they were typed."""

    action: str
    files: tuple[str, ...]
    json: bool


def models_arguments(parsed: argparse.Namespace, _file: Path, _environ: object) -> ModelsArguments:
    """What to do, from the parsed options."""
    files = [parsed.file] if getattr(parsed, "file", None) is not None else []
    if parsed.action == "check":
        files = [parsed.target, parsed.draft]
    return ModelsArguments(parsed.action, tuple(files), parsed.json)


def run(arguments: ModelsArguments) -> int:
    """Carry out `specchat models …`; returns the exit status."""
    paths = find_paths(os.environ)
    judges = arguments.action in ("show", "check")
    library = Library(
        paths.settings_file,
        FactsCache(cache_file(paths.cache)),
        os.environ,
        at_hand=models_at_hand(paths),
        measured=asyncio.run(_known(paths.chats_file)).speed_up if judges else None,
        devices=lambda: asyncio.run(_devices(paths.log / "engine.log")),
        home=home_folder(),
    )
    match arguments.action:
        case "show":
            return _show(library, _resolved(library, arguments.files[0]), as_json=arguments.json)
        case "check":
            target, draft = (_resolved(library, file) for file in arguments.files)
            return _check(library, target, draft, as_json=arguments.json)
        case "forget":
            path = _meant(library, arguments.files[0]) if arguments.files else None
            return _forget(library, paths, path, as_json=arguments.json)
        case _:
            return _list(library, as_json=arguments.json)


async def _known(file: Path) -> Known:
    """What was measured before; nothing where that can't be read."""
    async with opened_quietly(file) as store:
        with suppress(StoreError):
            return await read_known(store)
    return Known(())


def _list(library: Library, *, as_json: bool) -> int:
    models, troubles = _found(library)
    needs = library.needs()
    models.sort(key=lambda model: (model.facts is None, model.found.name.casefold(), str(model.path)))
    if as_json:
        said = [{**model_document(model), "memory": need_document(model, needs)} for model in models]
        _print_json({"models": said, "troubles": [trouble_document(trouble) for trouble in troubles]})
        return 0
    head = (_("model"), _("parameters"), _("format"), _("size"), _("memory"), _("from"))
    print(_table([head, *(_row(model, needs) for model in models)], _width()), end="")
    summed = [plural("{count} model", "{count} models", len(models)).format(count=len(models))]
    if not models:
        summed = [_("No model was found. `specchat` lets you choose one from any folder (F5, then F7).")]
    for line in [*summed, *map(telling.troubled, troubles)]:
        print(line, file=sys.stderr)
    return 0


def _show(library: Library, model: Model, *, as_json: bool) -> int:
    """What is known of a model, and which drafts go with it."""
    facts = model.facts
    fit = library.scales()(facts, None) if facts else None
    offers = best_first(library.offers(facts, _found(library)[0])) if facts else []
    if as_json:
        drafts = [offer_document(offer) for offer in offers]
        _print_json({**model_document(model), "memory": fit_document(fit) if fit else None, "drafts": drafts})
    else:
        lines = telling.about_target(model, (lambda _target, _draft: fit) if fit else None)
        rows = [(("✓" if offer.works else "✗"), *_offer_row(offer)) for offer in offers]
        print("\n".join(lines))
        if rows:
            print("\n" + _("Drafts for it:"))
            print(_table(rows, _width(), name=1), end="")
    return 0 if facts else FAILED


def _check(library: Library, target: Model, draft: Model, *, as_json: bool) -> int:
    """Whether a pair can work. The status is 1 if it can't."""
    offer = next(library.offers(target.facts, [draft]), None) if target.facts else None
    fit = library.scales()(target.facts, draft.facts) if target.facts and draft.facts else None
    works = offer is not None and offer.works
    said = [telling.refused(target)] if offer is None else [telling.against(offer) or telling.promise(offer)]
    if as_json:
        document = offer_document(offer) if offer else {"works": False, "code": target.refusal and target.refusal.code}
        _print_json({**document, "reason": None if works else said[0], "memory": fit_document(fit) if fit else None})
    else:
        notes = [sentence(code, params) for code, params in offer.verdict.differences] if offer else []
        print("\n".join([*said, *notes, *([telling.memory(fit)] if fit else [])]))
    return 0 if works else FAILED


def _forget(library: Library, paths: Paths, path: Path | None, *, as_json: bool) -> int:
    """Forget what was kept of a file or folder, or of all files. Files of models are left alone."""
    try:
        facts = library.cache.forget(path)
        is_kept = library.cache.save()
        pairs = last_pair.forget(paths.data, path)
        folder = path is not None and library.forget_folder(path)
    except NotWritten as failure:
        complain(sentence(failure.code, failure.params))
        return FAILED
    except OSError as error:
        params = {"path": error.filename or str(paths.data), "reason": error.strerror or str(error)}
        complain(sentence("file_unwritable", params))
        return FAILED
    if not is_kept:
        complain(sentence("cache_unwritable", {"path": str(cache_file(paths.cache))}))
        return FAILED
    if as_json:
        _print_json({"facts": facts, "pairs": pairs, "folder": folder})
    elif folder:
        print(_("{path} is no longer looked into.").format(path=visible(str(path))))
    elif facts or pairs:
        said = _("Forgotten: what was read of files ({facts}), recent pairs ({pairs}). No model file was touched.")
        print(said.format(facts=facts, pairs=pairs))
    else:
        print(_("There was nothing to forget."))
    return 0


# ---------------------------------------------------------------------- models


def _found(library: Library) -> tuple[list[Model], list[Trouble]]:
    models, troubles = [], []
    with closing(library.models()) as steps:
        for step in steps:
            models += [step.model] if step.model else []
            troubles += [step.trouble] if step.trouble else []
    return models, troubles


def _resolved(library: Library, typed: str) -> Model:
    """The model that was meant: a file, or the one model whose name was typed, as `models list` shows it."""
    path = _absolute(typed)
    named = _named(library, typed)
    if len(named) > 1:
        return Model(Found(path, typed, "folder", 0, 0), Refusal("models_alike", {"name": typed, "count": len(named)}))
    if named:
        return named[0]
    model = library.model(path)
    library.cache.save()
    return model


def _meant(library: Library, typed: str) -> Path:
    """The path that was typed, or that of the one model whose name was."""
    named = _named(library, typed)
    return named[0].path if len(named) == 1 else _absolute(typed)


def _named(library: Library, typed: str) -> list[Model]:
    """The models that are called what was typed; none if it is the path of something that is there."""
    if os.path.exists(typed):  # noqa: PTH110  # which, unlike this, raises where a folder denies access
        return []
    return [model for model in _found(library)[0] if model.found.name == typed]


def _absolute(typed: str) -> Path:
    return Path(os.path.abspath(typed))  # noqa: PTH100  # links stay what they are


async def _devices(log: Path) -> Sequence[Device]:
    """What the engine can compute on; nothing where it doesn't start, as `specchat doctor` says in full."""
    async with EngineClient(log) as engine:
        try:
            return (await engine.start()).devices
        except EngineFailure:
            return ()


# ---------------------------------------------------------------------- what is printed


def _row(model: Model, needs: Needs) -> tuple[str, ...]:
    facts, found = model.facts, model.found
    source = _(telling.SOURCES[found.source])
    if facts is None:
        return (f"✗ {visible(found.name)}", "", "", telling.size(found.size), "", source)
    sizes = (telling.size(found.size), telling.size(needs(facts).total))
    figures = (telling.short_parameters(facts), visible(facts.quantisation), *sizes)
    return (f"  {visible(found.name)}", *figures, source)


def _offer_row(offer: Offer) -> tuple[str, ...]:
    said = telling.brief_promise(offer) if offer.works else telling.against(offer, names_it=False)
    return (visible(offer.model.found.name), said)


def _width() -> int | None:
    """Columns of the terminal; None where the table isn't read on one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _table(rows: Sequence[tuple[str, ...]], width: int | None, name: int = 0) -> str:
    """The rows with aligned columns. Where they are too wide, the column `name` gives way, then lines are cut."""
    widths = [max(cell_len(row[place]) for row in rows) for place in range(len(rows[0]))]
    if width is not None:
        others = sum(widths) - widths[name] + 2 * (len(widths) - 1)
        widths[name] = min(widths[name], max(width - others, _LEAST_NAME))
    lines = ["  ".join(map(filled, row, widths)).rstrip() for row in rows]
    return "".join(f"{line if width is None else filled(line, width).rstrip()}\n" for line in lines)


def _print_json(document: dict[str, Any]) -> None:
    print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
