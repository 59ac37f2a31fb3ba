"""A list of the folders and GGUF files in one folder, to choose a model from."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from specchat.app.library.telling import size
from specchat.app.words import _, plural, visible
from specchat.models.errors import Params

MOST_ROWS = 2000
"""Entries of a folder that are shown: a list of many more takes too long to lay out."""

_SIZE_COLUMN = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """A folder, or a GGUF file of `size` bytes."""

    path: Path
    is_folder: bool
    size: int = 0


def read_folder(folder: Path) -> list[Entry]:
    """The folders in `folder` and then its GGUF files, by name, hidden ones last. Raises `OSError`."""
    found = []
    with os.scandir(folder) as items:
        for item in items:
            entry = _entry(item)
            if entry is not None:
                found.append(entry)
    return sorted(found, key=_place)


def _entry(item: os.DirEntry[str]) -> Entry | None:
    try:
        if item.is_dir():
            return Entry(Path(item.path), is_folder=True)
        if item.name.lower().endswith(".gguf") and item.is_file():
            return Entry(Path(item.path), is_folder=False, size=item.stat().st_size)
    except OSError:  # a link to nowhere, or gone since
        pass
    return None


def _place(entry: Entry) -> tuple[bool, bool, str, str]:
    name = entry.path.name
    return (not entry.is_folder, name.startswith("."), name.casefold(), name)


class FileList(OptionList):
    """Shows one folder, which it reads without holding up the screen.

    Names of files are shown as they are spelt, with everything that a terminal might obey written out.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", _("choose")),
        Binding("backspace,left", "go_up", _("folder above")),
    ]

    class Chosen(Message):
        """A file was chosen."""

        def __init__(self, files: FileList, path: Path) -> None:
            super().__init__()
            self.files = files
            self.path = path

        @property
        def control(self) -> FileList:
            """The list that was chosen from."""
            return self.files

    class Opened(Message):
        """Another folder is shown now."""

        def __init__(self, files: FileList, folder: Path) -> None:
            super().__init__()
            self.files = files
            self.folder = folder

        @property
        def control(self) -> FileList:
            """The list that shows it."""
            return self.files

    class Refused(Message):
        """A folder can't be read: `folder_unreadable` (path, reason)."""

        def __init__(self, code: str, params: Params) -> None:
            super().__init__()
            self.code = code
            self.params = params

    def __init__(self) -> None:
        super().__init__(markup=False, compact=True)
        self.folder: Path | None = None
        """What is shown; None until something could be read."""
        self._entries: list[Entry] = []
        """What the rows stand for."""

    @work(exclusive=True)
    async def open(self, *folders: Path, at: Path | None = None) -> None:
        """Show the first of `folders` (absolute) that can be read, with the cursor on `at`; or post `Refused`."""
        refusals = []
        for folder in folders:
            try:
                entries = await asyncio.to_thread(read_folder, folder)
            except OSError as error:
                refusals.append(error.strerror or str(error))
            else:
                self._show(folder, entries, at)
                return
        self.post_message(self.Refused("folder_unreadable", {"path": str(folders[0]), "reason": refusals[0]}))

    def action_go_up(self) -> None:
        """Show the folder above."""
        if self.folder is not None:
            self.open(self.folder.parent, at=self.folder)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open a folder, or tell what was chosen."""
        event.stop()
        entry = self._entries[event.option_index]
        if entry.is_folder:
            self.open(entry.path)
        else:
            self.post_message(self.Chosen(self, entry.path))

    def _show(self, folder: Path, found: Sequence[Entry], at: Path | None) -> None:
        self.folder = folder
        above = [Entry(folder.parent, is_folder=True)] if folder.parent != folder else []
        self._entries = [*above, *found[:MOST_ROWS]]
        self.set_options(_row("", "../") for _folder in above)
        self.add_options(map(_entry_row, self._entries[len(above) :]))
        more = len(found) - MOST_ROWS
        if more > 0:
            said = plural("… and {count} more: type its path above", "… and {count} more: type a path above", more)
            self.add_option(Option(Content(said.format(count=more)), disabled=True))
        places = [entry.path for entry in self._entries]
        row = places.index(at) if at in places else min(len(above), len(places) - 1)
        self.highlighted = row if places else None
        self.post_message(self.Opened(self, folder))


def _entry_row(entry: Entry) -> Content:
    name = visible(entry.path.name)
    return _row("", f"{name}/") if entry.is_folder else _row(size(entry.size), name)


def _row(size: str, name: str) -> Content:
    return Content.assemble((f"{size:>{_SIZE_COLUMN}}  ", "dim"), Content(name))
