"""Changes settings in the TOML file, and leaves all else in it as it was: comments, order, spacing, unknown keys."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Comment, Item, Table, Whitespace

from specchat.settings.atomic import write_atomically
from specchat.settings.schema import Value
from specchat.settings.sources import Problem, read_file


class NotWritten(Exception):
    """The file was left as it is. `code` and `params` are a `Problem`'s.

    Beyond the codes of a file that can't be read: `setting_not_section` (name), `settings_unchangeable` (path) for a
    file whose layout can't be kept, and `file_unwritable` (path, reason).
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code, problem.params)
        self.code = problem.code
        self.params = problem.params


def write_settings(file: Path, changes: Mapping[str, Value | None]) -> None:
    """Set each key of `changes` (`section.name`) in `file`, or take it out where the value is None.

    The values must have passed `sources.accept`. All of them are written at once, or none. Raises `NotWritten`.
    """
    for problem in read_file(file)[1]:
        if "path" in problem.params:  # what is wrong with the file, not with a value in it
            raise NotWritten(problem)
    try:
        text = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
        content = _changed(file, text, changes).encode()
        write_atomically(file, content)
    except OSError as error:
        params: dict[str, str | int | float] = {"path": str(file), "reason": error.strerror or str(error)}
        raise NotWritten(Problem("file_unwritable", params)) from error


def _changed(file: Path, text: str, changes: Mapping[str, Value | None]) -> str:
    """The text with the changes made, checked to say what it said before in all else."""
    try:
        document = tomlkit.parse(text)
        wanted: dict[str, Any] = tomllib.loads(text)
        for key, value in changes.items():
            section, _, name = key.partition(".")
            if not isinstance(wanted.setdefault(section, {}), dict):
                raise NotWritten(Problem("setting_not_section", {"name": f"{file}: {section}"}))
            _change(document, section, name, value)
            wanted[section].pop(name, None)
            if value is not None:
                wanted[section][name] = value
        changed = tomlkit.dumps(document)
        if "\r\n" in text:
            changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
        kept = _said(tomllib.loads(changed)) == _said(wanted)
    except (TOMLKitError, tomllib.TOMLDecodeError):
        kept = False
    if not kept:
        raise NotWritten(Problem("settings_unchangeable", {"path": str(file)}))
    return changed


def _said(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a document says; empty sections say nothing."""
    return {section: entries for section, entries in document.items() if entries != {}}


def _change(document: TOMLDocument, section: str, name: str, value: Value | None) -> None:
    if section not in document:
        if value is None:
            return
        if document.as_string().strip() and not document.as_string().endswith("\n\n"):
            document.add(tomlkit.nl())
        document.add(section, tomlkit.table())
    table: Any = document[section]
    if value is None:
        table.pop(name, None)
    elif name not in table and isinstance(table, Table):
        _append(table, name, _item(value))
    else:
        table[name] = _item(value)


def _append(table: Table, name: str, item: Item) -> None:
    """Add an entry below the last one, above the comments that follow: they may be the next section's."""
    body = table.value.body
    after: list[Comment | Whitespace] = []
    while body and isinstance(body[-1][1], (Comment, Whitespace)):
        after.append(body.pop()[1])  # type: ignore[arg-type]  # just seen to be one
    table.append(name, item)
    for part in reversed(after):
        table.append(None, part)


def _item(value: Value) -> Item:
    """The value as TOML writes it; text of several lines as such, where no line would change by that."""
    if isinstance(value, str):
        return tomlkit.string(value, multiline="\n" in value and "\r" not in value)
    return tomlkit.item(value)
