"""The command palette: every action, to be found by its name."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from textual import events, on
from textual.app import ComposeResult
from textual.command import CommandInput, CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider, SearchIcon
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, LoadingIndicator
from textual.widgets.option_list import Option
from textual.worker import WorkerCancelled

from specchat.app.actions import ACTIONS, Action, shown_keys
from specchat.app.widgets.keys import act_in_turn
from specchat.app.words import _

OFFERED = tuple(action for action in ACTIONS if action.name != "command_palette")
"""The actions that it offers, in their own order."""


class Commands(Provider):
    """Finds actions. What they are done to is on the screen that the palette was opened on."""

    async def discover(self) -> Hits:
        """All of them."""
        for action in OFFERED:
            yield DiscoveryHit(_(action.title), partial(self._do, action), help=_help(action))

    async def search(self, query: str) -> Hits:
        """Those whose title or help has what is typed."""
        matcher = self.matcher(query)
        for action in OFFERED:
            title = _(action.title)
            score = max(matcher.match(title), matcher.match(_(action.help)) / 2)
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self._do, action), text=title, help=_help(action))

    async def _do(self, action: Action) -> None:
        match action.place:
            case "app":
                await self.app.run_action(action.name)
            case "chat":
                await self.app.run_action(action.name, self.screen)
            case "composer" | "transcript":
                widget = self.screen.query_one(f"#{action.place}")
                self.screen.set_focus(widget)
                await self.app.run_action(action.name, widget)


def _help(action: Action) -> str:
    keys = shown_keys(action)
    return f"{keys} · {_(action.help)}" if keys else _(action.help)


class Palette(CommandPalette):
    """Textual's, but for the line to type in, and for its words."""

    def __init__(self) -> None:
        super().__init__(placeholder=_("type what you want to do"), id="--command-palette")

    def compose(self) -> ComposeResult:
        """The line, and what was found below it."""
        with Vertical(id="--container"):
            yield Horizontal(SearchIcon(), _PaletteLine(self._placeholder), id="--input")
            yield Vertical(CommandList(), LoadingIndicator(), id="--results")

    def _start_no_matches_countdown(self, search_value: str) -> None:
        """Say after a while that nothing was found, as Textual does, but in the language that is spoken."""
        self._stop_no_matches_countdown()

        def say_so() -> None:
            if search_value:
                nothing = Option(Content(_("No matches found")), id=self._NO_MATCHES, disabled=True)
                self.query_one(CommandList).add_option(nothing)
            self._list_visible = bool(search_value)

        self._no_matches_timer = self.set_timer(self._NO_MATCHES_COUNTDOWN, say_so)

    @on(Input.Submitted)
    async def _find_first(self) -> None:
        """Let Enter choose from what is found for all that was typed before it."""
        for search in [worker for worker in self.workers if worker.node is self]:
            with suppress(WorkerCancelled):  # by a later one
                await search.wait()


class _PaletteLine(CommandInput):
    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, select_on_focus=False)

    def on_mount(self) -> None:
        self.cursor_blink = self.app.animation_level != "none"

    @on(events.Key)
    async def _act(self, event: events.Key) -> None:
        await act_in_turn(self, event)
