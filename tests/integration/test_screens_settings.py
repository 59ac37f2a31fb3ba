"""The settings screen: made from the schema, saved as one goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static, TabbedContent

from specchat.app.screens.settings import PARTS, SettingsScreen, Sources
from specchat.app.widgets.line import Line, Lines
from specchat.app.widgets.setting_row import ChoiceField, SettingRow, hint
from specchat.settings.schema import Value
from specchat.settings.sources import read_file
from specchat.settings.values import SCHEMA, SECTIONS, Settings
from support.dialog_host import DialogHost, press, said, settle

BY_KEY = {item.key: item for item in SCHEMA}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


@asynccontextmanager
async def opened(
    file: Path, environ: Mapping[str, str] | None = None, typed: Mapping[str, Value] | None = None
) -> AsyncIterator[Pilot[None]]:
    screen = SettingsScreen(Sources(file, environ or {}, typed or {}))
    async with DialogHost(screen).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        yield pilot


def row(pilot: Pilot[None], key: str) -> SettingRow:
    return next(row for row in pilot.app.screen.query(SettingRow) if row.item.key == key)


def beside(pilot: Pilot[None], key: str) -> str:
    return str(row(pilot, key).query_one(".hint", Static).content)


async def go_to(pilot: Pilot[None], key: str) -> Widget:
    pilot.app.screen.query_one(TabbedContent).active = BY_KEY[key].section
    await settle(pilot)
    field = row(pilot, key).field
    field.focus()
    await settle(pilot)
    return field


def problems(pilot: Pilot[None]) -> list[str]:
    shown = pilot.app.screen.query_one("#problems").query_one(Static)
    return str(shown.content).splitlines() if shown.display else []


# ------------------------------------------------------------------ what it shows


def test_every_section_has_a_name_and_says_when_a_change_counts() -> None:
    assert list(PARTS) == list(SECTIONS)


async def test_every_setting_has_a_row_that_fits_beside_its_neighbours(file: Path) -> None:
    async with opened(file) as pilot:
        tabs = pilot.app.screen.query_one(TabbedContent)
        seen = []
        for section in SECTIONS:
            assert tabs.active == section
            shown = [row for row in pilot.app.screen.query(SettingRow) if row.item.section == section]
            assert all(row.region and row.region in tabs.region for row in shown)
            seen += [row.item for row in shown]
            await press(pilot, "f8")
        assert tuple(seen) == SCHEMA


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("sampling.temperature", "default 0.8 · 0 to 10"),
        ("sampling.seed", "default -1 · -1 or more"),
        ("target.batch", "default 512 · 64 to 16384"),
        ("speculation.enabled", "default on"),
        ("speculation.rule", "default block"),
        ("speculation.gamma", "default auto · 0 to 32, or auto"),
        ("reply.system", ""),
    ],
)
def test_defaults_and_ranges_are_beside_the_fields(key: str, text: str) -> None:
    assert hint(BY_KEY[key]) == text


async def test_the_help_of_a_setting_is_shown_where_one_is(file: Path) -> None:
    async with opened(file) as pilot:
        assert said(pilot) == BY_KEY["sampling.temperature"].help
        await press(pilot, "down")
        assert said(pilot) == BY_KEY["sampling.top_k"].help
        await press(pilot, "up", "f8", "tab")
        assert said(pilot) == BY_KEY["speculation.gamma"].help


async def test_fields_show_what_the_file_says_and_else_are_empty(file: Path) -> None:
    file.write_text("[sampling]\ntop_k = 7\n[speculation]\nenabled = false\nrule = 'token'\n[reply]\nsystem = 'a\\b'\n")
    async with opened(file) as pilot:
        assert row(pilot, "sampling.top_k").field.value == "7"
        assert row(pilot, "sampling.top_p").field.value == ""
        assert row(pilot, "sampling.top_p").field.placeholder == "0.95"
        assert (row(pilot, "speculation.enabled").field.value, row(pilot, "speculation.rule").field.value) == (
            False,
            "token",
        )
        assert row(pilot, "look.theme").field.value == "dark"
        assert row(pilot, "reply.system").field.text == "a\\b"


async def test_a_word_may_stand_in_a_numbers_place(file: Path) -> None:
    file.write_text("[speculation]\ngamma = 5\n")
    async with opened(file) as pilot:
        field = await go_to(pilot, "speculation.gamma")
        assert (field.value, field.placeholder) == ("5", "auto")
        field.value = "aut"
        await settle(pilot)
        assert said(pilot) == 'gamma takes a whole number from 0 to 32, or auto, not "aut".'
        field.value = "auto"
        await press(pilot, "enter")
        assert "saved" in beside(pilot, "speculation.gamma")
    assert file.read_text() == '[speculation]\ngamma = "auto"\n'


async def test_opening_and_closing_it_writes_nothing(file: Path) -> None:
    text = "[reply]\nsystem = \"a\\u001b[31m\\r\\nb\"\n[look]\ntheme = 'light'\n"
    file.write_text(text)
    async with opened(file) as pilot:
        for _section in SECTIONS:
            await press(pilot, "f8", "tab")
        await press(pilot, "escape")
        assert pilot.app.result is None
    assert file.read_text() == text


async def test_what_is_wrong_in_a_source_is_told(file: Path) -> None:
    file.write_text("[sampling]\ntop_k = 'many'\n")
    async with opened(file, {"SPECCHAT_ZZZZZ": "1"}) as pilot:
        assert problems(pilot) == [
            f'{file}: sampling.top_k takes a whole number from 0 to 2147483647, not "many". It is left out.',
            "SPECCHAT_ZZZZZ is no setting. It is left out.",
        ]
        assert row(pilot, "sampling.top_k").field.value == ""


async def test_however_much_is_wrong_all_of_it_can_be_read(file: Path) -> None:
    file.write_text("".join(f"[mistake{number}]\n" for number in range(20)))
    async with opened(file) as pilot:
        told = pilot.app.screen.query_one("#problems")
        assert told.size.height == 4
        told.focus()
        await press(pilot, "end")
        await pilot.pause()
        shown = "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())
        assert "mistake19" in shown


async def test_what_the_environment_or_the_command_line_says_is_shown_as_theirs(file: Path) -> None:
    file.write_text("[sampling]\ntop_k = 1\ntop_p = 0.1\n")
    environ = {"SPECCHAT_SAMPLING_TOP_K": "2", "SPECCHAT_SAMPLING_TOP_P": "0.2", "SPECCHAT_SPECULATION_ENABLED": "no"}
    async with opened(file, environ, {"sampling.top_p": 0.3, "reply.system": "Be brief."}) as pilot:
        for key, value, source in (
            ("sampling.top_k", "2", "SPECCHAT_SAMPLING_TOP_K"),
            ("sampling.top_p", "0.3", "--top-p"),
            ("speculation.enabled", False, "SPECCHAT_SPECULATION_ENABLED"),
        ):
            field = row(pilot, key).field
            assert (field.value, field.disabled) == (value, True)
            assert beside(pilot, key) == f"from {source}"
        assert row(pilot, "reply.system").field.disabled
        assert beside(pilot, "reply.system") == "from --system"
        await press(pilot, "down")
        assert pilot.app.focused is row(pilot, "sampling.min_p").field
        await press(pilot, "escape")
        assert pilot.app.result is None


# ------------------------------------------------------------------ what it changes


@pytest.mark.parametrize("leave", ["enter", "tab", "down", "f8"])
async def test_a_number_is_saved_once_its_field_is_left(file: Path, leave: str) -> None:
    file.write_text("[sampling] # mine\ntemperature = 0.5 # calm\n")
    async with opened(file) as pilot:
        await press(pilot, "1", ".", "5")
        assert "0.5" in file.read_text()
        await press(pilot, leave)
        assert file.read_text() == "[sampling] # mine\ntemperature = 1.5 # calm\n"
        assert beside(pilot, "sampling.temperature") == "saved · default 0.8 · 0 to 10"
        await press(pilot, "escape")
        assert pilot.app.result.sampling.temperature == 1.5


async def test_escape_saves_the_field_one_is_in(file: Path) -> None:
    async with opened(file) as pilot:
        await press(pilot, "2", "escape")
        assert pilot.app.result == Settings(sampling=pilot.app.result.sampling)
        assert read_file(file) == ({"sampling.temperature": 2.0}, [])


async def test_an_emptied_field_is_a_default_again(file: Path) -> None:
    file.write_text("[sampling]\ntemperature = 0.5\ntop_k = 1\n")
    async with opened(file) as pilot:
        await press(pilot, "backspace", "escape")  # what is selected on entering a field goes
        assert file.read_text() == "[sampling]\ntop_k = 1\n"
        assert pilot.app.result.sampling.temperature == 0.8


async def test_a_wrong_value_is_told_and_not_saved(file: Path) -> None:
    async with opened(file) as pilot:
        await press(pilot, "9", "9")
        sentence = "temperature takes a number from 0 to 10, not 99.0."
        assert said(pilot) == sentence
        await press(pilot, "down")
        assert said(pilot) == BY_KEY["sampling.top_k"].help
        assert beside(pilot, "sampling.temperature") == "not saved · default 0.8 · 0 to 10"
        await press(pilot, "up")
        assert said(pilot) == sentence
        await press(pilot, "9", "enter")  # over the selected 99
        assert said(pilot) == BY_KEY["sampling.temperature"].help
        assert read_file(file)[0] == {"sampling.temperature": 9.0}


async def test_escape_leaves_a_wrong_value_behind(file: Path) -> None:
    async with opened(file) as pilot:
        await press(pilot, "x", "escape")
        assert pilot.app.result is None
        assert not file.exists()


async def test_a_switch_and_a_choice_are_saved_at_once(file: Path) -> None:
    async with opened(file) as pilot:
        await go_to(pilot, "speculation.enabled")
        await press(pilot, "enter", "down", "enter")
        assert read_file(file)[0] == {"speculation.enabled": False}
        await press(pilot, "down", "down", "enter", "down", "enter")
        assert read_file(file)[0] == {"speculation.enabled": False, "speculation.rule": "token"}
        await press(pilot, "escape")
        assert not pilot.app.result.speculation.enabled


async def test_a_choice_is_made_with_the_mouse_too(file: Path) -> None:
    async with opened(file) as pilot:
        field = await go_to(pilot, "look.theme")
        assert isinstance(field, ChoiceField)
        await pilot.click(field)
        await settle(pilot)
        await pilot.click(field, offset=(4, 2))
        await settle(pilot)
        assert read_file(file)[0] == {"look.theme": "light"}


async def test_a_system_prompt_has_several_lines(file: Path) -> None:
    async with opened(file) as pilot:
        await go_to(pilot, "reply.system")
        await press(pilot, "A", "enter", "B", "tab")
        assert file.read_text() == '[reply]\nsystem = """A\nB"""\n'
        assert pilot.app.focused is row(pilot, "reply.max_tokens").field
        await press(pilot, "escape")
        assert pilot.app.result.reply.system == "A\nB"


async def test_several_changes_are_all_kept(file: Path) -> None:
    async with opened(file) as pilot:
        for key in ("1", "down", "2", "down", "0", "down"):
            await pilot.press(key)
        await press(pilot, "escape")
        chosen = {"sampling.temperature": 1.0, "sampling.top_k": 2, "sampling.top_p": 0.0}
        assert read_file(file)[0] == chosen


# ------------------------------------------------------------------ what it can't save


async def test_a_file_that_cannot_be_understood_stays_as_it_is(file: Path) -> None:
    file.write_text("[sampling\n")
    async with opened(file) as pilot:
        [told] = problems(pilot)
        assert "isn't valid TOML" in told
        await press(pilot, "1", "enter")
        refusal = said(pilot)
        assert told == f"{refusal} It is left out."
        await press(pilot, "escape")
        assert [notice.message for notice in pilot.app._notifications] == [refusal]
        assert pilot.app.result is None
    assert file.read_text() == "[sampling\n"


# ------------------------------------------------------------------ hostile text


def lines_on(pilot: Pilot[None]) -> str:
    return "\n".join(strip.text for strip in pilot.app.screen._compositor.render_strips())


async def test_control_characters_of_the_file_are_not_shown(file: Path) -> None:
    file.write_text('[reply]\nsystem = "a\\u001b]52;c;eA==\\u0007b [@click=app.quit]x[/] \\u202e"\n')
    async with opened(file, {"SPECCHAT_LOOK_THEME": "light"}) as pilot:
        field = await go_to(pilot, "reply.system")
        assert isinstance(field, Lines)
        assert field.text == "ab [@click=app.quit]x[/] "
        assert "ab [@click=app.quit]x[/]" in lines_on(pilot)


async def test_control_characters_do_not_come_in_by_pasting(file: Path) -> None:
    async with opened(file) as pilot:
        number = await go_to(pilot, "sampling.seed")
        assert isinstance(number, Line)
        pilot.app.post_message(Paste("1\x1b[31m2"))
        await settle(pilot)
        assert number.value == "12"
        text = await go_to(pilot, "reply.system")
        assert isinstance(text, Lines)
        pilot.app.post_message(Paste("a\x1b[31m\r\nb\x9b1mc"))
        await settle(pilot)
        assert text.text == "a\nbc"
