"""A line for a path above a list of files: two ways to the same choice."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from specchat.app.widgets.file_list import FileList
from specchat.app.widgets.line import Line
from specchat.app.words import _, visible


class Browser(Vertical):
    """Lets a person choose a GGUF file, beginning beside the file `at`, which may be gone.

    `FileList.Refused` comes out of it where a folder can't be read.
    """

    class Chosen(Message):
        """A path was chosen. Nothing is known of the file, not even that there is one."""

        def __init__(self, browser: Browser, path: Path) -> None:
            super().__init__()
            self.browser = browser
            self.path = path

        @property
        def control(self) -> Browser:
            """The browser it was chosen in."""
            return self.browser

    def __init__(self, at: Path | None, id: str | None = None) -> None:
        super().__init__(id=id)
        self._at = at

    def compose(self) -> ComposeResult:
        """The line and the list."""
        yield Line(_("path of a folder or of a GGUF file"))
        yield FileList()

    def on_mount(self) -> None:
        """Begin to read."""
        self.show(self._at)

    def show(self, path: Path | None) -> None:
        """Show the folder of the file `path`, with the cursor on it; the home folder where that can't be."""
        starts = [] if path is None else [path.parent]
        self.query_one(FileList).open(*starts, *_homes(), at=path)

    def focus_list(self) -> None:
        """Have the keys go to the list."""
        self.query_one(FileList).focus()

    @on(FileList.Opened)
    def _name_folder(self, event: FileList.Opened) -> None:
        self.query_one(Line).value = visible(str(event.folder))

    @on(FileList.Chosen)
    def _hand_on(self, event: FileList.Chosen) -> None:
        event.stop()
        self.post_message(self.Chosen(self, event.path))

    @on(Input.Submitted)
    def _go_to(self, event: Input.Submitted) -> None:
        event.stop()
        files = self.query_one(FileList)
        if event.value.strip() and event.value != visible(str(files.folder)):
            self._go(typed_path(event.value, files.folder or _homes()[0]))
        else:
            files.focus()

    @work(exclusive=True)
    async def _go(self, path: Path) -> None:
        files = self.query_one(FileList)
        if await asyncio.to_thread(_is_folder, path):
            files.open(path)
            files.focus()
        else:
            self.post_message(self.Chosen(self, path))


def typed_path(text: str, folder: Path) -> Path:
    """The absolute path that `text` means where `folder` is shown. Quotes around it are a terminal's, of a drop."""
    path = Path(text.strip().strip("'\""))
    with contextlib.suppress(RuntimeError):  # of somebody this machine doesn't know: then a name begins with ~
        path = path.expanduser()
    return Path(os.path.normpath(folder / path))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # in a folder that can't be looked into: those who try to read the file will say so
        return False


def _homes() -> list[Path]:
    """Where to begin when nothing else is known."""
    root = Path(os.sep).absolute()
    try:
        return [Path.home(), root]
    except RuntimeError:  # nobody has told this process whose it is
        return [root]
