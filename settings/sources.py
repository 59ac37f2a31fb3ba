"""Where the settings come from: the command line, before the environment, before the file, before the defaults.

A value that can't be used is a `Problem`, never an exception: the rest of its source is still read. Problems
carry a code and parameters; the app has the words.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from specchat.settings.paths import HOME_VARIABLE
from specchat.settings.schema import Setting, Value
from specchat.settings.values import SCHEMA, SECTIONS, Settings

PREFIX = "SPECCHAT_"
"""What the name of every environment variable that sets something begins with."""

_BY_KEY = {item.key: item for item in SCHEMA}
_SHOWN = 60
"""Most characters of a refused value that its problem repeats."""
_SPELLED = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a source says that can't be used, as a code with parameters.

    About a value: `setting_whole_number` and `setting_number` (name, minimum, maximum, value),
    `setting_whole_number_or_word` (those and words), `setting_choice` (name, choices, value), `setting_switch` and
    `setting_text` (name, value). About a name: `setting_unknown`
    (name), `setting_unknown_near` (name, nearest), `setting_not_section` (name). About the file:
    `settings_unreadable` and `settings_not_toml` (path, reason), `settings_is_folder` (path),
    `settings_not_utf8` (path, line).
    """

    code: str
    params: dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, and what was left out of them."""

    settings: Settings
    problems: tuple[Problem, ...]


def load(file: Path, environ: Mapping[str, str], typed: Mapping[str, Value]) -> Loaded:
    """Settings from the TOML `file`, the environment and `typed` (values by key that `accept` has passed)."""
    filed, file_problems = read_file(file)
    exported, environment_problems = read_environment(environ)
    chosen = {**filed, **exported, **typed}
    return Loaded(build(chosen), (*file_problems, *environment_problems))


def build(chosen: Mapping[str, Value]) -> Settings:
    """The defaults, with the values of `chosen` (by key) in their places."""
    sections = {
        section: values(
            **{_BY_KEY[key].name: value for key, value in chosen.items() if _BY_KEY[key].section == section}
        )
        for section, values in SECTIONS.items()
    }
    return Settings(**sections)


def read_file(file: Path) -> tuple[dict[str, Value], list[Problem]]:
    """The usable values of a settings file, by key, and its problems. A missing file is an empty one."""
    document = _document(file)
    if isinstance(document, Problem):
        return {}, [document]
    chosen: dict[str, Value] = {}
    problems: list[Problem] = []
    for key, raw in _entries(document):
        name = f"{file}: {key}"
        value = accept(_BY_KEY[key], raw, name) if key in _BY_KEY else _stray(key, raw, name)
        if isinstance(value, Problem):
            problems.append(value)
        else:
            chosen[key] = value
    return chosen, problems


def read_environment(environ: Mapping[str, str]) -> tuple[dict[str, Value], list[Problem]]:
    """The usable values of variables such as `SPECCHAT_SAMPLING_TEMPERATURE`, by key, and their problems."""
    items = {variable(item): item for item in SCHEMA}
    chosen: dict[str, Value] = {}
    problems: list[Problem] = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name == HOME_VARIABLE:
            continue
        item = items.get(name)
        value = accept(item, parse(item, environ[name]), name) if item else _unknown(name, _nearest(name, items))
        if isinstance(value, Problem):
            problems.append(value)
        elif item:
            chosen[item.key] = value
    return chosen, problems


def variable(item: Setting) -> str:
    """The environment variable that sets `item`."""
    return f"{PREFIX}{item.section}_{item.name}".upper()


def parse(item: Setting, text: str) -> Value:
    """The value that `text` spells, or the text itself where it spells none of the setting's kind."""
    if item.kind is bool:
        return _SPELLED.get(text.strip().lower(), text)
    if item.kind in (int, float):
        try:
            return item.kind(text)
        except ValueError:
            return text
    return encodable(text)


def encodable(text: str) -> str:
    """`text` with a question mark for what can't be UTF-8 (undecodable bytes typed or exported by a person)."""
    return text.encode("utf-8", "replace").decode("utf-8")


def accept(item: Setting, raw: object, name: str) -> Value | Problem:
    """`raw` as a value of `item`, or why it can't be one. `name` is what the problem calls the setting."""
    if item.kind is bool:
        return raw if isinstance(raw, bool) else Problem("setting_switch", {"name": name, "value": _shown(raw)})
    if item.kind is str:
        return _accept_text(item, raw, name)
    return raw if isinstance(raw, str) and raw in item.words else _accept_number(item, raw, name)


def _accept_number(item: Setting, raw: object, name: str) -> Value | Problem:
    # Whole numbers may stand for fractions, truth values for neither; NaN fails every comparison.
    fits = not isinstance(raw, bool) and isinstance(raw, int if item.kind is int else (int, float))
    minimum, maximum = _bounds(item)
    if fits and isinstance(raw, (int, float)) and minimum <= raw <= maximum:
        return item.kind(raw)
    problem = Problem(
        "setting_whole_number" if item.kind is int else "setting_number",
        {"name": name, "minimum": minimum, "maximum": maximum, "value": _shown(raw)},
    )
    if item.words:
        return Problem("setting_whole_number_or_word", {**problem.params, "words": ", ".join(item.words)})
    return problem


def _accept_text(item: Setting, raw: object, name: str) -> Value | Problem:
    if item.choices and raw not in item.choices:
        params = {"name": name, "choices": ", ".join(item.choices), "value": _shown(raw)}
        return Problem("setting_choice", {**params})
    return raw if isinstance(raw, str) else Problem("setting_text", {"name": name, "value": _shown(raw)})


def _bounds(item: Setting) -> tuple[float, float]:
    """The range of a number; without one, all that are finite."""
    least = -sys.float_info.max if item.minimum is None else item.minimum
    return least, sys.float_info.max if item.maximum is None else item.maximum


def _document(file: Path) -> dict[str, object] | Problem:
    path = str(file)
    try:
        if file.is_dir():
            return Problem("settings_is_folder", {"path": path})
        content = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        return Problem("settings_unreadable", {"path": path, "reason": error.strerror or str(error)})
    try:
        return tomllib.loads(content.decode("utf-8-sig"))  # some editors on Windows begin a file with a BOM
    except UnicodeDecodeError as error:
        return Problem("settings_not_utf8", {"path": path, "line": content.count(b"\n", 0, error.start) + 1})
    except (ValueError, RecursionError) as error:  # ValueError: also a number of more digits than Python reads
        return Problem("settings_not_toml", {"path": path, "reason": str(error)})


def _entries(document: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Every (key, raw value), `section.name` where the document has a known section, else the bare name."""
    for section, entries in document.items():
        if section in SECTIONS and isinstance(entries, dict):
            yield from ((f"{section}.{name}", raw) for name, raw in entries.items())
        else:
            yield section, entries


def _stray(key: str, raw: object, name: str) -> Problem:
    """What is wrong with a key that no setting has."""
    section, dot, last = key.rpartition(".")
    if key in SECTIONS:
        return Problem("setting_not_section", {"name": name})
    if isinstance(raw, dict) and not dot:
        near = _nearest(key, SECTIONS)
        return _unknown(f"{name.removesuffix(key)}[{key}]", near and f"[{near}]")
    for items in ([item for item in SCHEMA if item.section == section], SCHEMA):
        keys = {item.name: item.key for item in reversed(items)}  # reversed: the target's before the draft's
        if near := _nearest(last, keys):
            return _unknown(name, keys[near])
    return _unknown(name, "")


def _nearest(word: str, known: Mapping[str, object]) -> str:
    return next(iter(get_close_matches(word, known, 1)), "")


def _unknown(name: str, nearest: str) -> Problem:
    if nearest:
        return Problem("setting_unknown_near", {"name": name, "nearest": nearest})
    return Problem("setting_unknown", {"name": name})


def _shown(raw: object) -> str:
    """A refused value for a sentence: text in quotes, the rest as TOML writes it, all of it short."""
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, int) and raw.bit_length() > 4 * _SHOWN:
        return "…"  # Python refuses to write out numbers of thousands of digits
    text = f'"{raw}"' if isinstance(raw, str) else str(raw)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
