"""The dialog in which a person looks for a model file in any folder."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from specchat.app.screens.browse import Browsed, BrowseScreen
from specchat.app.widgets import file_list
from specchat.app.widgets.browser import typed_path
from specchat.app.widgets.file_list import FileList, read_folder
from specchat.app.widgets.line import Line
from support.dialog_host import OPEN, DialogHost, press, said, settle
from support.tiny_gguf import write_tiny_llama

HOSTILE = "[b] [@click=app.quit]x \x1b[31mred\nline.gguf"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture
def home(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with models in it, which is where one begins to browse."""
    folder = tmp_path / "home"
    for path in ("models/Big.GGUF", "models/small.gguf", ".cache/hidden.gguf"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.link(model, folder / path)
    (folder / "models" / "notes.txt").touch()
    (folder / "models" / "text.gguf").write_text("no model\n" * 100)
    (folder / "models" / "deeper").mkdir()
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(folder))
    return folder


@asynccontextmanager
async def opened(at: Path | None = None, size: tuple[int, int] = (80, 24)) -> AsyncIterator[Pilot[None]]:
    async with DialogHost(BrowseScreen(at)).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


def files(pilot: Pilot[None]) -> FileList:
    return pilot.app.screen.query_one(FileList)


def rows(pilot: Pilot[None]) -> list[str]:
    return [option.prompt.plain.strip() for option in files(pilot).options]


def under_cursor(pilot: Pilot[None]) -> str:
    return rows(pilot)[files(pilot).highlighted or 0]


async def type_path(pilot: Pilot[None], text: str) -> None:
    line = pilot.app.screen.query_one(Line)
    line.focus()
    line.value = text
    await press(pilot, "enter")


# ------------------------------------------------------------------ choosing


async def test_a_file_is_chosen_with_the_keyboard(home: Path) -> None:
    async with opened() as pilot:
        await press(pilot, "enter", "down", "enter")  # into models/, and past deeper/
        assert pilot.app.result == Browsed(home / "models" / "Big.GGUF")


async def test_a_file_is_chosen_with_the_mouse(home: Path) -> None:
    async with opened(home / "models" / "small.gguf") as pilot:
        row = rows(pilot).index(next(row for row in rows(pilot) if row.endswith("Big.GGUF")))
        await pilot.click(files(pilot), offset=(12, row))
        await settle(pilot)
        assert pilot.app.result == Browsed(home / "models" / "Big.GGUF")


@pytest.mark.parametrize("key", ["f7", "ctrl+f"])
async def test_a_key_adds_the_folder_that_is_shown(home: Path, key: str) -> None:
    async with opened() as pilot:
        await press(pilot, "enter", key)
        assert pilot.app.result == Browsed(home / "models", is_folder=True)


@pytest.mark.usefixtures("home")
async def test_escape_chooses_nothing() -> None:
    async with opened() as pilot:
        await press(pilot, "enter", "escape")
        assert pilot.app.result is None


# ------------------------------------------------------------------ browsing


def test_a_folder_shows_folders_and_model_files_hidden_ones_last(home: Path, model: Path) -> None:
    (home / "x.gguf").symlink_to(home / "gone.gguf")
    (home / "folder.gguf").mkdir()
    entries = [(entry.path.name, entry.is_folder, entry.size) for entry in read_folder(home / "models")]
    length = model.stat().st_size
    assert entries == [
        ("deeper", True, 0),
        ("Big.GGUF", False, length),
        ("small.gguf", False, length),
        ("text.gguf", False, 900),
    ]
    assert [entry.path.name for entry in read_folder(home)] == ["folder.gguf", "models", ".cache"]


async def test_one_goes_into_folders_and_back_up(home: Path) -> None:
    async with opened() as pilot:
        assert rows(pilot) == ["../", "models/", ".cache/"]
        assert under_cursor(pilot) == "models/"
        await press(pilot, "enter", "enter")
        assert files(pilot).folder == home / "models" / "deeper"
        assert under_cursor(pilot) == "../"
        await press(pilot, "backspace")
        assert under_cursor(pilot) == "deeper/"
        await press(pilot, "left", "home", "enter")
        assert files(pilot).folder == home.parent
        assert under_cursor(pilot) == "home/"


async def test_it_begins_beside_the_given_file(home: Path) -> None:
    async with opened(home / ".cache" / "hidden.gguf") as pilot:
        assert under_cursor(pilot).endswith("hidden.gguf")


async def test_it_begins_at_home_where_that_file_lies_nowhere(home: Path) -> None:
    async with opened(home / "gone" / "x.gguf") as pilot:
        assert files(pilot).folder == home
        assert said(pilot) == ""


async def test_it_begins_at_the_root_where_there_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    async with opened() as pilot:
        assert files(pilot).folder == Path(os.sep).absolute()
        assert "../" not in rows(pilot)


async def test_a_folder_that_cannot_be_read_is_told_and_the_one_before_stays(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as pilot:
        scandir = os.scandir

        def refuse(path: Path) -> object:
            if path == home / "models":
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        await press(pilot, "enter")
        assert said(pilot) == f"The folder {home / 'models'} can't be read: Permission denied."
        assert files(pilot).folder == home
        await press(pilot, "down", "enter")
        assert (files(pilot).folder, said(pilot)) == (home / ".cache", "")


async def test_a_slow_disk_does_not_hold_up_the_screen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Event()

    def slowly(folder: Path) -> list[file_list.Entry]:
        assert release.wait(60)
        return read_folder(folder)

    async with opened() as pilot:
        monkeypatch.setattr(file_list, "read_folder", slowly)
        await pilot.press("enter", "down")
        assert under_cursor(pilot) == ".cache/"
        assert files(pilot).folder == home
        release.set()
        await settle(pilot)
        assert files(pilot).folder == home / "models"


async def test_a_crowded_folder_is_shown_in_part(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_list, "MOST_ROWS", 2)
    async with opened(home / "models" / "Big.GGUF") as pilot:
        assert rows(pilot)[0] == "../"
        assert rows(pilot)[3:] == ["… and 2 more: type a path above"]
        await press(pilot, "end")
        assert under_cursor(pilot).endswith("Big.GGUF")


# ------------------------------------------------------------------ typed paths


@pytest.mark.parametrize(
    "text", ["{home}/models/Big.GGUF", "models/Big.GGUF", "~/models/Big.GGUF", "'./models/Big.GGUF' "]
)
async def test_a_typed_file_is_chosen(home: Path, text: str) -> None:
    async with opened() as pilot:
        await type_path(pilot, text.format(home=home))
        assert pilot.app.result == Browsed(home / "models" / "Big.GGUF")


async def test_a_typed_folder_is_opened(home: Path) -> None:
    async with opened() as pilot:
        await type_path(pilot, "models")
        assert files(pilot).folder == home / "models"
        assert pilot.app.focused is files(pilot)
        await type_path(pilot, "../.cache")
        assert files(pilot).folder == home / ".cache"


def test_somebody_elses_home_that_is_not_known_is_a_name(tmp_path: Path) -> None:
    assert typed_path("~nobody-of-that-name/x", tmp_path) == tmp_path / "~nobody-of-that-name" / "x"


# ------------------------------------------------------------------ names


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses such names itself")
async def test_a_hostile_folder_is_shown_as_it_is_spelt_and_can_be_opened(home: Path) -> None:
    folder = home / "\x1b[2J[b]"
    folder.mkdir()
    async with opened() as pilot:
        await press(pilot, "home", "down", "enter")
        assert files(pilot).folder == folder
        line = pilot.app.screen.query_one(Line)
        assert line.value == str(home / r"\x1b[2J[b]")
        line.focus()
        await press(pilot, "enter")
        assert (files(pilot).folder, said(pilot)) == (folder, "")
        assert pilot.app.focused is files(pilot)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses such names itself")
async def test_hostile_names_are_shown_as_they_are_spelt(home: Path, model: Path) -> None:
    os.link(model, home / HOSTILE)
    async with opened(size=(140, 40)) as pilot:
        assert rows(pilot)[-1] == "157 kB  [b] [@click=app.quit]x \\x1b[31mred\\nline.gguf"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_everything_has_room(size: tuple[int, int]) -> None:
    async with opened(size=size) as pilot:
        assert pilot.app.screen.query_one("#said").region in pilot.app.screen.region
        assert files(pilot).size.height >= 10
        footer = pilot.app.screen._compositor.render_strips()[-1].text
        for named in ("choose", "folder above", "always look in this folder", "Esc close"):
            assert named.lower() in footer.lower(), footer
        assert pilot.app.result is OPEN
