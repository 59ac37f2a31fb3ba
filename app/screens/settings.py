"""The settings screen, made from the schema: what the settings file says, changed as one goes through it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Footer, Static, TabbedContent, TabPane

from specchat.app.command_line.arguments import settings_notices
from specchat.app.command_line.setting_options import option
from specchat.app.screens.dialog import Dialog
from specchat.app.sentences import N_
from specchat.app.widgets.setting_row import SettingRow
from specchat.app.words import _, sentence, visible
from specchat.settings import sources
from specchat.settings.schema import Value
from specchat.settings.values import SCHEMA, SECTIONS, Settings
from specchat.settings.writer import NotWritten, write_settings

PARTS: Mapping[str, tuple[str, str]] = {
    "sampling": (N_("Sampling"), N_("A change counts from the next reply on.")),
    "speculation": (N_("Speculation"), N_("A change counts from the next round on, also inside a reply.")),
    "reply": (N_("Reply"), N_("A change counts from the next reply on.")),
    "target": (N_("Target"), N_("A change counts when the models are loaded the next time.")),
    "draft": (N_("Draft"), N_("A change counts when the models are loaded the next time.")),
    "models": (N_("Models"), N_("A change counts when the models are listed the next time.")),
    "look": (N_("Look"), N_("A change counts as soon as this screen is closed.")),
}
"""Of each section: its name, and when a change takes effect."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the settings come from. `typed` are those of the command line, by key."""

    file: Path
    environ: Mapping[str, str]
    typed: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Survey:
    """What the sources say: values of the file by key; values over it, each with its source; what is wrong."""

    filed: Mapping[str, Value]
    overrides: Mapping[str, tuple[Value, str]]
    problems: tuple[sources.Problem, ...]


def survey(given: Sources) -> Survey:
    """Read all sources."""
    filed, wrong = sources.read_file(given.file)
    exported, more = sources.read_environment(given.environ)
    overrides = {item.key: (exported[item.key], sources.variable(item)) for item in SCHEMA if item.key in exported}
    overrides |= {item.key: (given.typed[item.key], option(item)) for item in SCHEMA if item.key in given.typed}
    return Survey(filed, overrides, (*wrong, *more))


class SettingsScreen(Dialog[Settings]):
    """Saves every change as soon as its field is left. Gives the settings then in force, or None if none was changed.

    What the command line or the environment says is shown and can't be changed here.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f8,ctrl+s", "next_part", _("next section"), priority=True),
    ]

    DEFAULT_CSS = """
    SettingsScreen {
        #title { text-wrap: nowrap; text-overflow: ellipsis; }
        #problems { display: none; height: auto; max-height: 4; color: $text-warning; scrollbar-size-vertical: 1; }
        TabbedContent { height: 1fr; }
        TabPane { padding: 0; }
        .effect { color: $text-muted; margin-bottom: 1; }
        #said { min-height: 2; margin-top: 1; }
    }
    """

    def __init__(self, given: Sources) -> None:
        super().__init__()
        self._given = given
        self._writing = asyncio.Lock()
        """One change after the other: each reads the file that the one before has written."""
        self._has_changed = False
        self._failure = ""
        """Why a change could not be saved."""

    def compose(self) -> ComposeResult:
        """A tab for each section, with a row for each of its settings."""
        with Vertical(id="box"):
            yield Static(_("Settings  {file}").format(file=visible(str(self._given.file))), id="title", markup=False)
            yield VerticalScroll(Static(markup=False), id="problems")
            with TabbedContent():
                for section in SECTIONS:
                    name, effect = PARTS[section]
                    with TabPane(_(name), id=section), VerticalScroll(can_focus=False):
                        yield Static(_(effect), classes="effect")
                        yield from (SettingRow(item) for item in SCHEMA if item.section == section)
            yield Static(id="said", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Fill the fields."""
        self._fill()

    def action_next_part(self) -> None:
        """Turn to the next section."""
        tabs = self.query_one(TabbedContent)
        sections = list(SECTIONS)
        tabs.active = sections[(sections.index(tabs.active) + 1) % len(sections)]
        self._focus_first(tabs.active)

    def action_leave(self) -> None:
        """Save what the field one is in holds, and close."""
        self._leave()

    @on(events.DescendantFocus)
    def explain(self, event: events.DescendantFocus) -> None:
        """Say what the setting one is in is good for."""
        for row in self._rows():
            if row.field is event.widget:
                self._say_of(row)

    @on(SettingRow.Edited)
    def take(self, event: SettingRow.Edited) -> None:
        """Say what is wrong with a value, or save it."""
        if event.row.field.has_focus:
            self._say_of(event.row)
        if event.done:
            self._save(event.row)

    @work(group="reading")
    async def _fill(self) -> None:
        found = await asyncio.to_thread(survey, self._given)
        for row in self._rows():
            if override := found.overrides.get(row.item.key):
                row.show_override(*override)
            else:
                row.show(found.filed.get(row.item.key))
        self._focus_first(next(iter(SECTIONS)))
        problems = self.query_one("#problems")
        problems.query_one(Static).update("\n".join(settings_notices(found.problems)))
        problems.display = bool(found.problems)

    @work(group="saving")
    async def _save(self, row: SettingRow) -> None:
        await self._write(row)

    @work(group="saving")
    async def _leave(self) -> None:
        for row in self._rows():
            await self._write(row)
        if self._failure:  # the dialog that could say it is about to close
            self.app.notify(self._failure, severity="error", markup=False)
        given = self._given
        in_force = await asyncio.to_thread(sources.load, given.file, given.environ, given.typed)
        self.dismiss(in_force.settings if self._has_changed else None)

    async def _write(self, row: SettingRow) -> None:
        """Save what the row holds, if that is new and can be saved."""
        async with self._writing:
            value = row.entered()
            if isinstance(value, sources.Problem) or row.is_kept(value):
                return
            try:
                await asyncio.to_thread(write_settings, self._given.file, {row.item.key: value})
            except NotWritten as failure:
                self._failure = sentence(failure.code, failure.params)
                self.say(self._failure, wrong=True)
                return
            row.keep(value)
            self._has_changed = True
            self._failure = ""

    def _rows(self) -> Iterator[SettingRow]:
        yield from self.query(SettingRow)

    def _focus_first(self, section: str) -> None:
        for row in self._rows():
            if row.item.section == section and not row.field.disabled:
                row.field.focus()
                return

    def _say_of(self, row: SettingRow) -> None:
        entered = row.entered()
        if isinstance(entered, sources.Problem):
            self.say(sentence(entered.code, entered.params), wrong=True)
        else:
            self.say(_(row.item.help))
