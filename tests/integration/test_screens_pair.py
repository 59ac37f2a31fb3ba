"""The dialog in which the two models are picked."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot
from textual.widgets import Static, TabbedContent

from specchat.app.last_pair import PairChoice
from specchat.app.screens.pair import PairScreen
from specchat.app.widgets import file_list
from specchat.app.widgets.browser import Browser, typed_path
from specchat.app.widgets.file_list import FileList, Shortcut, read_folder, size
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
async def opened(
    present: PairChoice | None = None, at_hand: Sequence[Shortcut] = (), size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[None]]:
    async with DialogHost(PairScreen(present, at_hand)).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


def files(pilot: Pilot[None], slot: str = "target") -> FileList:
    return pilot.app.screen.query_one(f"#{slot}", Browser).query_one(FileList)


def rows(pilot: Pilot[None], slot: str = "target") -> list[str]:
    return [option.prompt.plain.strip() for option in files(pilot, slot).options]


def under_cursor(pilot: Pilot[None], slot: str = "target") -> str:
    return rows(pilot, slot)[files(pilot, slot).highlighted or 0]


def chosen(pilot: Pilot[None], slot: str) -> str:
    return str(pilot.app.screen.query_one(f"#{slot}-summary", Static).content)


async def type_path(pilot: Pilot[None], text: str) -> None:
    line = pilot.app.screen.query_one("#target", Browser).query_one(Line)
    line.focus()
    line.value = text
    await press(pilot, "enter")


# ------------------------------------------------------------------ choosing


async def test_a_pair_is_chosen_with_the_keyboard_alone(home: Path) -> None:
    async with opened() as pilot:
        await press(pilot, "enter", "down")  # into models/, and past deeper/
        assert under_cursor(pilot).endswith("Big.GGUF")
        await press(pilot, "enter")
        assert under_cursor(pilot, "draft").endswith("Big.GGUF")  # a draft most often lies beside its target
        await press(pilot, "down", "enter", "enter")  # small.gguf, then the button
        assert pilot.app.result == PairChoice(home / "models" / "Big.GGUF", home / "models" / "small.gguf", "both")


async def test_a_pair_is_chosen_with_the_mouse_alone(home: Path) -> None:
    async with opened(PairChoice(home / "models" / "small.gguf", None, "none")) as pilot:
        row = rows(pilot).index(next(row for row in rows(pilot) if row.endswith("Big.GGUF")))
        await pilot.click(files(pilot), offset=(12, row))
        await settle(pilot)
        await pilot.click(files(pilot, "draft"), offset=(12, 1))
        await settle(pilot)
        await pilot.click("#load")
        await settle(pilot)
        assert pilot.app.result == PairChoice(home / "models" / "Big.GGUF", None, "lookup")


@pytest.mark.parametrize(("row", "drafter"), [(0, "none"), (1, "lookup")])
async def test_a_draft_may_be_a_lookup_or_none(home: Path, row: int, drafter: str) -> None:
    present = PairChoice(home / "models" / "Big.GGUF", home / "models" / "small.gguf", "model")
    async with opened(present) as pilot:
        await press(pilot, "f5", "home", *["down"] * row, "enter", "enter")
        assert pilot.app.result == PairChoice(present.target, None, drafter)


@pytest.mark.parametrize("drafter", ["both", "model", "lookup", "none"])
async def test_what_is_not_touched_stays(home: Path, drafter: str) -> None:
    present = PairChoice(home / "models" / "Big.GGUF", home / "models" / "small.gguf", drafter)
    async with opened(present) as pilot:
        assert "Big.GGUF" in chosen(pilot, "target")
        assert "small.gguf" in chosen(pilot, "draft")
        await pilot.click("#load")
        await settle(pilot)
        assert pilot.app.result == present


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("leave", ["escape", "tab tab enter"])
async def test_escape_and_cancel_change_nothing(leave: str) -> None:
    async with opened() as pilot:
        await press(pilot, "enter", "down", "enter", *leave.split())
        assert pilot.app.result is None


@pytest.mark.usefixtures("home")
async def test_without_a_target_there_is_nothing_to_load() -> None:
    async with opened() as pilot:
        assert chosen(pilot, "target") == "target  none yet: choose one"
        await pilot.click("#load")
        await settle(pilot)
        assert pilot.app.result is OPEN


async def test_models_at_hand_are_offered_for_both_and_are_no_place_to_browse(home: Path, model: Path) -> None:
    at_hand = [Shortcut(model, "the bundled model", "tiny")]
    async with opened(PairChoice(model, None, "lookup"), at_hand) as pilot:
        assert rows(pilot)[0] == "the bundled model  tiny"
        assert rows(pilot, "draft")[2] == "the bundled model  tiny"
        assert files(pilot).folder == files(pilot, "draft").folder == home
        await press(pilot, "home", "enter", "home", "down", "down", "enter", "enter")
        assert pilot.app.result == PairChoice(model, model, "both")


@pytest.mark.usefixtures("home")
async def test_f5_goes_from_one_list_to_the_other() -> None:
    async with opened() as pilot:
        tabs = pilot.app.screen.query_one(TabbedContent)
        for tab, key in (("target-tab", "f5"), ("draft-tab", "ctrl+o"), ("target-tab", "f5")):
            assert tabs.active == tab
            assert pilot.app.focused is files(pilot, tab.removesuffix("-tab"))
            await press(pilot, key)


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


async def test_it_begins_where_the_present_models_lie(home: Path) -> None:
    present = PairChoice(home / ".cache" / "hidden.gguf", home / "models" / "small.gguf", "model")
    async with opened(present) as pilot:
        assert under_cursor(pilot).endswith("hidden.gguf")
        assert under_cursor(pilot, "draft").endswith("small.gguf")


async def test_it_begins_at_home_where_the_present_model_lies_nowhere(home: Path) -> None:
    async with opened(PairChoice(home / "gone" / "x.gguf", None, "lookup")) as pilot:
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
    async with opened(PairChoice(home / "models" / "Big.GGUF", None, "none")) as pilot:
        assert rows(pilot)[0] == "../"
        assert rows(pilot)[3:] == ["… and 2 more: type a path above"]
        await press(pilot, "end")
        assert under_cursor(pilot).endswith("Big.GGUF")


def test_sizes_are_those_that_models_are_offered_with() -> None:
    assert [size(count) for count in (98_362_432, 1_000_000, 4_683_074_240)] == ["98 MB", "1 MB", "4.7 GB"]
    assert [size(count) for count in (400_000, 24, 0)] == ["400 kB", "1 kB", "0 kB"]


# ------------------------------------------------------------------ typed paths


@pytest.mark.parametrize(
    "text", ["{home}/models/Big.GGUF", "models/Big.GGUF", "~/models/Big.GGUF", "'./models/Big.GGUF' "]
)
async def test_a_typed_file_is_chosen(home: Path, text: str) -> None:
    async with opened() as pilot:
        await type_path(pilot, text.format(home=home))
        assert "Big.GGUF" in chosen(pilot, "target")
        assert pilot.app.focused is files(pilot, "draft")


async def test_a_typed_folder_is_opened(home: Path) -> None:
    async with opened() as pilot:
        await type_path(pilot, "models")
        assert files(pilot).folder == home / "models"
        assert pilot.app.focused is files(pilot)
        await type_path(pilot, "../.cache")
        assert files(pilot).folder == home / ".cache"


async def test_a_typed_path_that_leads_nowhere_is_told(home: Path) -> None:
    async with opened() as pilot:
        await type_path(pilot, "nowhere.gguf")
        assert said(pilot) == f"There is no file {home / 'nowhere.gguf'}."
        assert chosen(pilot, "target") == "target  none yet: choose one"


async def test_a_typed_path_into_a_closed_folder_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path, **_options: bool) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    async with opened() as pilot:
        monkeypatch.setattr(Path, "stat", refuse)
        await type_path(pilot, "models/Big.GGUF")
        monkeypatch.undo()
        assert said(pilot) == f"{home / 'models' / 'Big.GGUF'} can't be read: Permission denied."


def test_somebody_elses_home_that_is_not_known_is_a_name(tmp_path: Path) -> None:
    assert typed_path("~nobody-of-that-name/x", tmp_path) == tmp_path / "~nobody-of-that-name" / "x"


# ------------------------------------------------------------------ files that won't do


async def test_a_file_that_is_no_model_is_refused_and_the_choice_stays(home: Path) -> None:
    present = PairChoice(home / "models" / "Big.GGUF", home / "models" / "small.gguf", "model")
    async with opened(present) as pilot:
        await press(pilot, "end", "enter")
        assert said(pilot) == f"{home / 'models' / 'text.gguf'} isn't a GGUF file; it looks like plain text."
        await press(pilot, "f5", "end", "enter")
        assert "plain text" in said(pilot)
        await pilot.click("#load")
        await settle(pilot)
        assert pilot.app.result == present


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses such names itself")
async def test_hostile_names_are_shown_as_they_are_spelt(home: Path, model: Path) -> None:
    os.link(model, home / HOSTILE)
    async with opened(size=(140, 40)) as pilot:
        assert rows(pilot)[-1] == "157 kB  [b] [@click=app.quit]x \\x1b[31mred\\nline.gguf"
        await press(pilot, "end", "enter")
        assert r"[@click=app.quit]x \x1b[31mred\nline.gguf" in chosen(pilot, "target")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses such names itself")
async def test_a_hostile_folder_is_shown_as_it_is_spelt_and_can_be_opened(home: Path) -> None:
    folder = home / "\x1b[2J[b]"
    folder.mkdir()
    async with opened() as pilot:
        await press(pilot, "home", "down", "enter")
        assert files(pilot).folder == folder
        line = pilot.app.screen.query_one("#target", Browser).query_one(Line)
        assert line.value == str(home / r"\x1b[2J[b]")
        line.focus()
        await press(pilot, "enter")
        assert (files(pilot).folder, said(pilot)) == (folder, "")
        assert pilot.app.focused is files(pilot)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes for a name")
async def test_a_name_that_is_no_unicode_is_shown_and_refused(home: Path, model: Path) -> None:
    os.link(model, home / "caf\udce9.gguf")
    async with opened() as pilot:
        await press(pilot, "end", "enter")
        assert said(pilot).endswith(r"caf\udce9.gguf can't be used, since its name isn't valid Unicode; rename it.")
        assert chosen(pilot, "target") == "target  none yet: choose one"


# ------------------------------------------------------------------ room


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_everything_has_room(size: tuple[int, int]) -> None:
    async with opened(size=size) as pilot:
        screen = pilot.app.screen
        for widget in (screen.query_one("#load"), screen.query_one("#cancel"), screen.query_one("#said")):
            assert widget.region in screen.region
        assert files(pilot).size.height >= 10


# ------------------------------------------------------------------ how to get on


async def test_the_keys_that_choose_and_load_are_named(home: Path) -> None:
    async with opened(PairChoice(home / "models" / "small.gguf", None, "lookup")) as pilot:
        footer = pilot.app.screen._compositor.render_strips()[-1].text
        for named in ("choose", "target or draft", "f9 load", "folder above", "Esc close"):
            assert named.lower() in footer.lower(), footer


@pytest.mark.parametrize("key", ["f9", "ctrl+l"])
async def test_a_key_loads_the_pair_from_anywhere(home: Path, key: str) -> None:
    present = PairChoice(home / "models" / "small.gguf", None, "lookup")
    async with opened(present) as pilot:
        await press(pilot, "shift+tab", key)
        assert pilot.app.result == present


@pytest.mark.usefixtures("home")
async def test_without_a_target_the_key_loads_nothing() -> None:
    async with opened() as pilot:
        await press(pilot, "f9")
        assert pilot.app.result is OPEN


async def test_where_the_draft_is_at_hand_one_looks_for_another_beside_the_target(home: Path) -> None:
    bundled = Shortcut(home / ".cache" / "hidden.gguf", "the bundled model", "")
    present = PairChoice(home / "models" / "small.gguf", home / ".cache" / "hidden.gguf", "model")
    async with opened(present, [bundled]) as pilot:
        assert files(pilot, "draft").folder == home / "models"
