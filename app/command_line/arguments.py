"""What a command is to do: its options judged, together with the settings file and the environment."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specchat.app.command_line.parser import UsageError
from specchat.app.command_line.setting_options import option
from specchat.app.words import _, sentence
from specchat.settings import sources
from specchat.settings.schema import Setting, Value
from specchat.settings.values import SCHEMA, Settings


@dataclass(frozen=True, slots=True)
class AskArguments:
    """What `specchat ask` was asked for.

    `prompt` is None where it is to be read from standard input, `target` where the bundled model is meant, and
    `draft` where nothing was said; else it is `lookup`, `none` or a path. `notices` are sentences about settings
    that were left out.
    """

    prompt: str | None
    target: Path | None
    draft: str | None
    settings: Settings
    speculation_on: bool
    stop: tuple[str, ...]
    raw: bool
    json: bool
    rounds: Path | None
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChatArguments:
    """What `specchat chat` and `specchat demo` were asked for; see `AskArguments` for the fields they share.

    `typed` are the settings among them that were typed, by key. `plain` is a conversation line by line, without a
    screen.
    """

    target: Path | None
    draft: str | None
    settings: Settings
    typed: Mapping[str, Value]
    plain: bool
    notices: tuple[str, ...]


def ask_arguments(parsed: argparse.Namespace, file: Path, environ: Mapping[str, str]) -> AskArguments:
    """What `ask` is to do, from its parsed options, the settings `file` and the environment. Raises `UsageError`."""
    target, rounds = typed_path("--target", parsed.target), typed_path("--rounds", parsed.rounds)
    loaded = sources.load(file, environ, typed_settings(vars(parsed), SCHEMA))
    return AskArguments(
        prompt=None if parsed.prompt in (None, "-") else sources.encodable(parsed.prompt),
        target=None if target is None else Path(target),
        draft=typed_path("--draft", parsed.draft),
        settings=loaded.settings,
        speculation_on=loaded.settings.speculation.enabled,
        stop=_stops(parsed.stop),
        raw=parsed.raw,
        json=parsed.json,
        rounds=None if rounds is None else Path(rounds),
        notices=settings_notices(loaded.problems),
    )


def chat_arguments(parsed: argparse.Namespace, file: Path, environ: Mapping[str, str]) -> ChatArguments:
    """What `chat` or `demo` is to do, from the same sources. Raises `UsageError`."""
    target = typed_path("--target", getattr(parsed, "target", None))
    typed = typed_settings(vars(parsed), SCHEMA)
    loaded = sources.load(file, environ, typed)
    return ChatArguments(
        target=None if target is None else Path(target),
        draft=typed_path("--draft", getattr(parsed, "draft", None)),
        settings=loaded.settings,
        typed=typed,
        plain=parsed.plain,
        notices=settings_notices(loaded.problems),
    )


def settings_notices(problems: Sequence[sources.Problem]) -> tuple[str, ...]:
    """A sentence for each problem of the settings file and the environment, and what follows from it."""
    return tuple(f"{sentence(problem.code, problem.params)} {_('It is left out.')}" for problem in problems)


def typed_settings(given: Mapping[str, Any], items: Iterable[Setting]) -> dict[str, Value]:
    """Those of `items` that were typed on the command line, by key. Raises `UsageError` for an unusable value."""
    typed: dict[str, Value] = {}
    for item in items:
        if item.key in given:
            raw = given[item.key]
            value = sources.accept(item, sources.parse(item, raw) if isinstance(raw, str) else raw, option(item))
            if isinstance(value, sources.Problem):
                raise UsageError(value.code, value.params)
            typed[item.key] = value
    return typed


def typed_path(option: str, text: str | None) -> str | None:
    """The path typed for `option`: not empty, and such that the engine can be told of it as UTF-8."""
    if text == "":
        raise UsageError("option_empty", {"option": option})
    if text is not None and text != sources.encodable(text):
        raise UsageError("path_not_utf8", {"option": option, "path": text})
    return text


def _stops(texts: Sequence[str]) -> tuple[str, ...]:
    if "" in texts:
        raise UsageError("option_empty", {"option": "--stop"})
    return tuple(sources.encodable(text) for text in texts)
