"""The picker: which models and drafts it offers, in which order, and what each key and click does."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from specchat.app.last_pair import PairChoice, remember
from specchat.app.library.library import Library
from specchat.app.library.telling import size
from specchat.app.screens.browse import BrowseScreen
from specchat.app.screens.dialogs import Start
from specchat.app.screens.picker import PickerScreen
from specchat.app.widgets.file_list import FileList
from specchat.app.widgets.line import Line
from specchat.app.widgets.model_list import ModelList, Row
from specchat.app.widgets.sides import Sides
from specchat.models.files import places
from specchat.models.files.library import Step
from support.chatting import chatting, loaded
from support.dialog_host import OPEN, DialogHost, press, said, settle
from support.fake_engine import Scenario
from support.libraries import library_at, link_models, measure_pair, write_models
from support.tiny_gguf import write_tiny_llama


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def home(tmp_path: Path, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder where LM Studio has all of them."""
    monkeypatch.setattr(places, "_ollama", lambda _here: iter(()))  # a service may run on this machine
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    link_models(models, tmp_path / ".lmstudio" / "models" / "org" / "repo")
    return tmp_path


@asynccontextmanager
async def opened(
    home: Path, present: PairChoice | None = None, size: tuple[int, int] = (100, 30), **options: Any
) -> AsyncIterator[Pilot[None]]:
    screen = PickerScreen(present, library_at(home, **options), home)
    async with DialogHost(screen).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


def at(home: Path, name: str) -> Path:
    return home / ".lmstudio" / "models" / "org" / "repo" / f"{name}.gguf"


def model_list(pilot: Pilot[None], side: str) -> ModelList:
    return pilot.app.screen.query_one(f"#{side}", ModelList)


def rows(pilot: Pilot[None], side: str = "targets") -> list[str]:
    """The rows' marks and names, without figures and reasons."""
    shown = [f"{row.mark} {named(row)}".strip() for row in model_list(pilot, side).rows]
    assert len(shown) == model_list(pilot, side).option_count
    return shown


def under_cursor(pilot: Pilot[None], side: str = "targets") -> str:
    row = model_list(pilot, side).current
    return named(row) if row else ""


def named(row: Row) -> str:
    name = re.split(" · |: ", row.name)[0]
    return f"{name} ◂ {row.partner}" if row.partner else name


def facts(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one("#facts", Static).content)


def side(pilot: Pilot[None]) -> str:
    return pilot.app.screen.query_one(Sides).side


def painted(pilot: Pilot[None]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def click(pilot: Pilot[None], side: str, name: str) -> None:
    await pilot.click(
        model_list(pilot, side), offset=(4, [row.lstrip("✓✗● ") for row in rows(pilot, side)].index(name))
    )
    await settle(pilot)


# ------------------------------------------------------------------ what is offered


async def test_targets_stand_left_and_the_drafts_of_the_one_under_the_cursor_right(home: Path) -> None:
    async with opened(home, PairChoice(at(home, "big"), None, "lookup")) as pilot:
        assert rows(pilot)[-6:] == ["models", "alien", "● big", "middle", "small", "✗ broken"]
        assert under_cursor(pilot) == "big"
        drafts = ["✓ small", "✓ middle", "✓ big", "prompt lookup", "no draft", "✗ alien", "✗ broken"]
        assert rows(pilot, "drafts") == drafts
        assert "Draft for big" in painted(pilot)
        await press(pilot, "down")
        assert "Draft for middle" in painted(pilot)
        assert rows(pilot, "drafts")[:3] == ["✓ small", "✓ middle", "✓ big"]


async def test_what_was_measured_to_help_comes_first_and_what_hurt_late(home: Path) -> None:
    known = {(at(home, "big"), at(home, "middle")): 1.52, (at(home, "big"), at(home, "small")): 0.9}
    async with opened(home, measured=lambda *pair: known.get(pair)) as pilot:
        await press(pilot, *["down"] * 3)
        assert under_cursor(pilot) == "big"
        assert rows(pilot, "drafts")[:3] == ["✓ middle", "✓ small", "✓ big"]
        await press(pilot, "right")
        assert "1.52× measured here" in facts(pilot)
        assert "1.52×" in painted(pilot)


async def test_what_was_measured_is_known_when_the_picker_is_opened_from_the_chat(home: Path) -> None:
    start = Start(home / "settings.toml", home / "data", home=home)
    async with chatting(home, Scenario(), draft=False, start=start) as chat:
        await measure_pair(chat.conversation.store, at(home, "big").parent, 1.52)
        await loaded(chat)
        await chat.pilot.press("f5")
        await chat.until(lambda: "7 found" in chat.text)
        await chat.type("target")
        await chat.until(lambda: re.search(r"✓ draft .* 1\.52×", chat.text))


async def test_the_facts_and_the_memory_of_a_model_are_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = psutil.virtual_memory()
    for free, verdict in ((10**9, "fits · "), (10, "does not fit · ")):
        there = memory._replace(available=free, total=memory.total)
        monkeypatch.setattr(psutil, "virtual_memory", lambda there=there: there)
        async with opened(home, PairChoice(at(home, "small"), None, "none")) as pilot:
            said = facts(pilot).splitlines()
            assert said[0] == "small · org/repo"
            assert said[1].startswith("llama · ")
            assert "F32 · 256 tokens of context · chat template" in said[1]
            assert said[2].startswith("LM Studio · ")
            assert said[2].endswith(str(at(home, "small")))
            assert said[3].startswith(verdict)
            assert "for 256 tokens of context: weights" in said[3]


async def test_drafts_that_cannot_work_stay_visible_with_their_true_reason(home: Path) -> None:
    async with opened(home, PairChoice(at(home, "big"), None, "lookup")) as pilot:
        await press(pilot, "f5", "end", "up")
        assert under_cursor(pilot, "drafts") == "alien"
        reason = "The draft's tokens aren't the target's: the first that differs"
        assert facts(pilot).startswith(reason)
        await press(pilot, "enter")
        assert said(pilot).startswith(reason)
        assert pilot.app.result is OPEN
        await press(pilot, "down")
        assert "isn't a GGUF file; it looks like plain text." in facts(pilot)
        await press(pilot, "f9")
        assert "plain text" in said(pilot)
        assert pilot.app.result is OPEN


async def test_files_that_will_not_do_say_why_and_are_not_taken(home: Path) -> None:
    at(home, "coming").with_suffix(".gguf.part").write_bytes(bytes(1000))
    async with opened(home) as pilot:
        assert rows(pilot)[-2:] == ["✗ broken", "✗ coming"]
        await press(pilot, "end")
        assert "is still being downloaded" in facts(pilot)
        await press(pilot, "up", "enter")
        assert said(pilot) == f"{at(home, 'broken')} isn't a GGUF file; it looks like plain text."
        assert side(pilot) == "targets"
        await press(pilot, "up", "enter")
        assert (said(pilot), side(pilot)) == ("", "drafts")


async def test_newcomers_are_offered_pairs_to_try_and_told_of_other_files(home: Path, models: dict[str, Path]) -> None:
    bundled = PairChoice(models["small"], None, "lookup")
    at_hand = [(models["small"], "the bundled model")]
    async with opened(home, bundled, at_hand=at_hand) as pilot:
        assert rows(pilot)[:2] == ["pairs to try", "big ◂ the bundled model"]
        assert under_cursor(pilot) == "big ◂ the bundled model"
        assert "● the bundled model" in rows(pilot)
        assert said(pilot) == "F7 adds a file or a folder from anywhere."


async def test_recent_pairs_are_on_top(home: Path) -> None:
    for draft in ("middle", "small"):
        remember(home, PairChoice(at(home, "big"), at(home, draft), "both"))
    async with opened(home, PairChoice(at(home, "big"), at(home, "small"), "both")) as pilot:
        assert rows(pilot)[:3] == ["recent pairs", "big ◂ small", "big ◂ middle"]
        assert under_cursor(pilot) == "big"
        await press(pilot, "home", "down", "enter")
        assert pilot.app.result == PairChoice(at(home, "big"), at(home, "middle"), "both")


@pytest.mark.usefixtures("home")
async def test_where_nothing_is_found_it_says_how_files_are_added(tmp_path: Path) -> None:
    async with opened(tmp_path / "empty") as pilot:
        assert "Models · 0 found" in painted(pilot)
        assert said(pilot) == "F7 adds a file or a folder from anywhere."
        await press(pilot, "enter", "f9", "down", "tab", "enter")
        assert pilot.app.result is OPEN


async def test_a_folder_that_is_gone_is_one_quiet_line(home: Path) -> None:
    (home / "settings.toml").write_text(f'[models]\nfolders = """\n{home / "gone"}\n"""\n')
    async with opened(home) as pilot:
        assert said(pilot) == f"The folder {home / 'gone'} isn't there any more."
        assert not pilot.app.screen.query_one("#said").has_class("wrong")
        assert "✗ broken" in rows(pilot)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses such names itself")
async def test_hostile_names_are_shown_as_they_are_spelt(home: Path, models: dict[str, Path]) -> None:
    os.link(models["middle"], at(home, "[b] [@click=app.quit]x \x1b[31mred\nline"))
    at(home, "middle").unlink()
    async with opened(home, size=(140, 40)) as pilot:
        assert r"[@click=app.quit]x \x1b[31mred\nline" in painted(pilot)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes for a name")
async def test_a_name_that_is_no_unicode_is_shown_and_refused(home: Path, models: dict[str, Path]) -> None:
    os.link(models["small"], at(home, "caf\udce9"))
    at(home, "small").unlink()
    async with opened(home, size=(140, 40)) as pilot:
        await press(pilot, "end", "enter")
        assert said(pilot).endswith(r"caf\udce9.gguf can't be used, since its name isn't valid Unicode; rename it.")


# ------------------------------------------------------------------ choosing


async def test_a_pair_is_chosen_with_the_keyboard_alone(home: Path) -> None:
    async with opened(home, PairChoice(at(home, "middle"), None, "none")) as pilot:
        await press(pilot, "up", "enter")
        assert (under_cursor(pilot), side(pilot), under_cursor(pilot, "drafts")) == ("big", "drafts", "small")
        await press(pilot, "enter")
        assert pilot.app.result == PairChoice(at(home, "big"), at(home, "small"), "both")


async def test_a_pair_is_chosen_with_the_mouse_alone(home: Path) -> None:
    async with opened(home, PairChoice(at(home, "small"), None, "none")) as pilot:
        await click(pilot, "targets", "big")
        assert side(pilot) == "drafts"
        await click(pilot, "drafts", "middle")
        assert pilot.app.result == PairChoice(at(home, "big"), at(home, "middle"), "both")


@pytest.mark.parametrize(("typed", "drafter"), [("no draft", "none"), ("lookup", "lookup")])
async def test_a_draft_may_be_a_lookup_or_none(home: Path, typed: str, drafter: str) -> None:
    present = PairChoice(at(home, "big"), at(home, "small"), "model")
    async with opened(home, present) as pilot:
        await press(pilot, "f5", *typed.replace(" ", "_").replace("_", " ").split(" ")[0], "enter")
        assert pilot.app.result == PairChoice(present.target, None, drafter)


@pytest.mark.parametrize("drafter", ["both", "model", "lookup", "none"])
@pytest.mark.parametrize("key", ["f9", "ctrl+l"])
async def test_what_is_not_touched_stays(home: Path, drafter: str, key: str) -> None:
    present = PairChoice(at(home, "big"), at(home, "middle"), drafter)
    async with opened(home, present) as pilot:
        assert under_cursor(pilot, "drafts") == "middle"
        await press(pilot, key)
        assert pilot.app.result == present


@pytest.mark.parametrize("drafter", ["lookup", "none"])
async def test_without_a_draft_it_stays_so(home: Path, drafter: str) -> None:
    present = PairChoice(at(home, "big"), None, drafter)
    async with opened(home, present) as pilot:
        await press(pilot, "f9")
        assert pilot.app.result == present


async def test_a_present_model_that_lies_elsewhere_is_offered_too(tmp_path: Path, home: Path, models: Any) -> None:
    present = PairChoice(link_models(models, tmp_path / "else", "middle") / "middle.gguf", None, "none")
    at(home, "middle").unlink()
    async with opened(home, present) as pilot:
        assert "● middle" in rows(pilot)
        await press(pilot, "f9")
        assert pilot.app.result == present


async def test_escape_changes_nothing(home: Path) -> None:
    async with opened(home) as pilot:
        await press(pilot, "down", "f5", "down", "escape")
        assert pilot.app.result is None


# ------------------------------------------------------------------ moving about


@pytest.mark.parametrize("keys", [("f5", "f5"), ("ctrl+o", "ctrl+o"), ("tab", "shift+tab"), ("right", "left")])
async def test_keys_go_from_one_side_to_the_other(home: Path, keys: tuple[str, str]) -> None:
    async with opened(home) as pilot:
        for key, then in zip(keys, ("drafts", "targets"), strict=True):
            await press(pilot, key)
            assert side(pilot) == then
            assert pilot.app.screen.query_one(f"#{then}-side").has_class("active")


async def test_typing_filters_by_name_origin_and_figures(home: Path) -> None:
    async with opened(home, PairChoice(at(home, "big"), None, "lookup")) as pilot:
        everything = rows(pilot)
        await press(pilot, *"mid")
        assert rows(pilot)[-1] == "middle"
        assert under_cursor(pilot) != "big"
        await press(pilot, "backspace", "backspace", "backspace")
        assert (rows(pilot), under_cursor(pilot)) == (everything, "big")
        await press(pilot, *"f32", "space", *"repo", "space", "b")
        assert rows(pilot) == ["● big"]
        await press(pilot, "left", "x")
        assert rows(pilot) == []


async def test_what_was_found_by_typing_stays_when_one_goes_to_the_drafts(home: Path) -> None:
    async with opened(home) as pilot:
        everything = rows(pilot)
        await press(pilot, *"small")
        assert rows(pilot)[-2:] == ["models", "small"]
        await press(pilot, "up", "enter")  # from the first to the last
        assert side(pilot) == "drafts"
        assert pilot.app.screen.query_one(Line).value == ""
        assert under_cursor(pilot) == "small"
        assert rows(pilot) == everything
        await press(pilot, *"mid", "enter")
        assert pilot.app.result == PairChoice(at(home, "small"), at(home, "middle"), "both")


@pytest.mark.parametrize("key", ["f6", "ctrl+s"])
async def test_a_key_sorts_the_targets_otherwise(home: Path, key: str) -> None:
    os.utime(at(home, "small"), ns=(2**62, 2**62))
    async with opened(home, PairChoice(at(home, "middle"), None, "none")) as pilot:
        orders = []
        for said_so in ("by name", "largest first", "newest first", "by name"):
            assert f"Target · {said_so}" in painted(pilot)
            orders.append([row.lstrip("● ") for row in rows(pilot)[-5:-1]])
            assert under_cursor(pilot) == "middle"
            await press(pilot, key)
        assert orders[0] == orders[3] == ["alien", "big", "middle", "small"]
        assert orders[1][0] == "big"
        assert orders[1][-1] == "small"
        assert orders[2][0] == "small"


async def test_a_crowd_of_models_can_be_paged_through(home: Path) -> None:
    for number in range(40):
        at(home, f"more{number:02}").write_text(f"no model {number}")
    async with opened(home) as pilot:
        await press(pilot, "pagedown")
        first = under_cursor(pilot)
        await press(pilot, "pagedown", "pageup")
        assert under_cursor(pilot) == first
        await press(pilot, "end")
        assert under_cursor(pilot) == "more39"
        await press(pilot, "home")
        assert under_cursor(pilot) == "big ◂ small"


# ------------------------------------------------------------------ browsing


@pytest.mark.parametrize("key", ["f7", "ctrl+f"])
async def test_a_file_from_anywhere_is_taken_for_the_side_one_is_on(home: Path, models: Any, key: str) -> None:
    here = link_models(models, home / "else", "middle")
    at(home, "middle").unlink()
    async with opened(home, PairChoice(at(home, "big"), None, "none")) as pilot:
        await press(pilot, "f5", key)
        assert isinstance(pilot.app.screen, BrowseScreen)
        assert pilot.app.screen.query_one(FileList).folder == at(home, "big").parent
        line = pilot.app.screen.query_one(Line)
        line.focus()
        line.value = str(here / "middle.gguf")
        await press(pilot, "enter")
        assert (under_cursor(pilot), under_cursor(pilot, "drafts")) == ("big", "middle")
        await press(pilot, "enter")
        assert pilot.app.result == PairChoice(at(home, "big"), here / "middle.gguf", "both")


async def test_a_file_from_anywhere_that_will_not_do_is_refused(home: Path) -> None:
    (home / "x.gguf").write_text("no model")
    async with opened(home) as pilot:
        await press(pilot, "f7")
        pilot.app.screen.query_one(Line).focus()
        pilot.app.screen.query_one(Line).value = str(home / "x.gguf")
        await press(pilot, "enter")
        assert said(pilot) == f"{home / 'x.gguf'} isn't a GGUF file; it looks like plain text."
        assert "x" not in rows(pilot)


@pytest.mark.usefixtures("home")
async def test_a_folder_is_added_for_good(tmp_path: Path, models: dict[str, Path]) -> None:
    folder = link_models(models, tmp_path / "own", "small")
    async with opened(tmp_path / "empty") as pilot:
        (tmp_path / "empty").mkdir()
        await press(pilot, "f7")
        pilot.app.screen.query_one(Line).focus()
        pilot.app.screen.query_one(Line).value = str(folder)
        await press(pilot, "enter", "f7")
        assert rows(pilot) == ["small"]
    assert library_at(tmp_path / "empty").places()[0].folder == folder


# ------------------------------------------------------------------ while it looks


async def test_a_slow_disk_does_not_hold_up_the_screen_and_leaving_ends_the_search(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, ended = Event(), Event()
    models = Library.models

    def slowly(self: Library, also: Any = ()) -> Any:
        try:
            yield from list(models(self, also))
            yield Step(7)
            assert release.wait(60)
            yield Step(8)
            raise AssertionError("the search went on")
        finally:
            ended.set()

    monkeypatch.setattr(Library, "models", slowly)
    screen = PickerScreen(None, library_at(home), home)
    async with DialogHost(screen).run_test(size=(100, 30)) as pilot:
        while "folders …" not in painted(pilot):
            await pilot.pause(0.01)
        await pilot.press("m", "escape")
        await pilot.pause()
        assert pilot.app.result is None
        release.set()
        await settle(pilot)
    assert ended.wait(60)


# ------------------------------------------------------------------ room, and how to get on


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (50, 15)])
async def test_everything_has_room(home: Path, size: tuple[int, int]) -> None:
    async with opened(home, PairChoice(at(home, "big"), None, "none"), size=size) as pilot:
        await press(pilot, "f5")
        screen = pilot.app.screen
        for name in ("#targets", "#drafts", "#facts", "#said"):
            assert screen.query_one(name).region in screen.region
        assert model_list(pilot, "targets").size.height >= (4 if size[1] < 24 else 10)
        footer = painted(pilot).splitlines()[-1].lower()
        wide = ("f6 sort", "f7 browse", "f9 load", "esc close")
        for named in ("choose", "f5 target or draft", *(wide if size[0] >= 80 else ())):
            assert named in footer


def test_sizes_are_those_that_models_are_offered_with() -> None:
    assert [size(count) for count in (98_362_432, 1_000_000, 4_683_074_240)] == ["98 MB", "1 MB", "4.7 GB"]
    assert [size(count) for count in (400_000, 24, 0)] == ["400 kB", "1 kB", "0 kB"]


async def test_from_an_empty_home_to_the_first_reply_with_a_pair_in_six_keys(home: Path) -> None:
    own = write_tiny_llama(home / "own.gguf", seed=1)
    start = Start(home / "settings.toml", home / "data", home=home, at_hand=[(own, "the bundled model")])
    async with chatting(home, Scenario("So it is."), draft=False, start=start) as chat:
        await loaded(chat)
        presses = ["f5", "enter", "h", "i", "enter"]
        assert len(presses) <= 6
        await chat.pilot.press(presses[0])
        await chat.until(lambda: "big ◂ small" in chat.text)
        await chat.pilot.press(presses[1])
        await chat.until(lambda: chat.app.screen is chat.chat and chat.conversation.target == at(home, "big"))
        await chat.pilot.press(*presses[2:])
        await chat.until(lambda: chat.replies and chat.replies[0].message)
        assert (chat.conversation.draft, chat.conversation.drafter) == (at(home, "small"), "both")
