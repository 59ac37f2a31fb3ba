"""The dialog in which a person chooses the drafts of a tournament."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from specchat.app.bench.report import draft_name
from specchat.app.bench.sides import LOOKUP
from specchat.app.chats.records import StoreError
from specchat.app.chats.store import Store
from specchat.app.compare.candidates import Candidate, find_candidates
from specchat.app.compare.order import guessing
from specchat.app.conversation import Conversation
from specchat.app.figures import number
from specchat.app.history.archive import Archive
from specchat.app.history.known import Known, read_known
from specchat.app.history.setups import file_name
from specchat.app.library.telling import size
from specchat.app.screens.dialog import Dialog
from specchat.app.words import _, plural


@dataclass(frozen=True, slots=True)
class Chosen:
    """The drafts of a tournament, and whether they are to be tried on the built-in prompts."""

    drafts: tuple[str, ...]
    builtin: bool


async def choose_drafts(app: App[object], conversation: Conversation, store: Store) -> Chosen | None:
    """Let a person choose; None where nothing is to be done."""
    known: Known | None = None
    measured: tuple[str, ...] = ()
    with suppress(StoreError):  # what was measured before is only a help
        known = await read_known(store)
        measured = await Archive(store).drafts(file_name(conversation.target))
    target = conversation.target.absolute()
    found = await asyncio.to_thread(find_candidates, target, guessing(conversation), known, measured)
    return await app.push_screen_wait(DraftsScreen(found))


class DraftsScreen(Dialog[Chosen]):
    """Gives what was chosen of `candidates`, of which the first two are marked at first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", _("mark"), priority=True),
        Binding("b", "builtin", _("built-in prompts"), priority=True),
        Binding("enter", "begin", _("begin"), priority=True),
    ]

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        super().__init__()
        self._candidates = candidates
        self._marked = {candidate.draft for candidate in candidates[:2]}
        self._builtin = False

    def compose(self) -> ComposeResult:
        """A list, and what will be done."""
        with Vertical(id="box"):
            yield Static(_("Which drafts?"), id="title")
            yield OptionList(markup=False, compact=True)
            yield Static(id="said", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Show them."""
        self._show(0)

    def action_mark(self) -> None:
        """Mark the one under the cursor, or take the mark away."""
        place = self.query_one(OptionList).highlighted
        if place is not None:
            self._marked ^= {self._candidates[place].draft}
            self._show(place)

    def action_builtin(self) -> None:
        """Ask the built-in prompts, or the one prompt alone."""
        self._builtin = not self._builtin
        self._show(self.query_one(OptionList).highlighted or 0)

    def action_begin(self) -> None:
        """Close with what is marked."""
        drafts = tuple(candidate.draft for candidate in self._candidates if candidate.draft in self._marked)
        if drafts:
            self.dismiss(Chosen(drafts, self._builtin))
        else:
            self.say(_("Mark one at least; no draft is measured anyway."), wrong=True)

    def _show(self, place: int) -> None:
        options = self.query_one(OptionList)
        options.set_options(Option(self._row(candidate)) for candidate in self._candidates)
        options.highlighted = place if self._candidates else None
        count = len(self._marked)
        drafts = plural("{count} draft and none, in turns", "{count} drafts and none, in turns", count)
        prompts = _("on the eight built-in prompts") if self._builtin else _("on this prompt")
        self.say(f"{drafts.format(count=count)}, {prompts}.")

    def _row(self, candidate: Candidate) -> Content:
        mark = "■" if candidate.draft in self._marked else "□"
        known = "" if candidate.known is None else _("measured {ratio}×").format(ratio=number(candidate.known, 2))
        bytes = "" if candidate.draft == LOOKUP else size(candidate.size)
        return Content.assemble(
            f"{mark} ", Content(draft_name(candidate.draft)), (f"  {bytes}  {known}".rstrip(), "dim")
        )
