"""The screen on which a person picks the model that writes and what guesses for it: targets left, drafts right."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Footer, Input, OptionList, Static

from specchat.app.last_pair import PairChoice
from specchat.app.library import telling
from specchat.app.library.library import Library
from specchat.app.library.shelf import NONE, PairKey, Shelf
from specchat.app.screens.browse import BrowseScreen
from specchat.app.screens.dialog import Dialog
from specchat.app.screens.finding import Finder
from specchat.app.widgets.filter_line import FilterLine
from specchat.app.widgets.line import Line
from specchat.app.widgets.sides import Side, Sides
from specchat.app.words import _, sentence
from specchat.models.engine.messages import DrafterName
from specchat.models.files.library import Model
from specchat.settings.writer import NotWritten


class PickerScreen(Dialog[PairChoice]):
    """Gives the pair that was chosen, or None where nothing is to change.

    `present` is the pair in use, if there is one; `data` the folder that recent pairs are remembered in; `with_draft`
    says who guesses once a draft model is chosen. Keys go to the line in which one types, wherever one is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5,ctrl+o", "other_side", _("target or draft"), priority=True),
        Binding("f6,ctrl+s", "sort", _("sort"), priority=True),
        Binding("f7,ctrl+f", "browse", _("browse"), priority=True),
        Binding("f9,ctrl+l", "load", _("load"), priority=True),
    ]

    DEFAULT_CSS = """
    PickerScreen {
        #box { max-width: 160; max-height: 60; }
        #title { text-wrap: nowrap; text-overflow: ellipsis; }
        #facts { height: auto; min-height: 6; max-height: 8; margin-top: 1; }
    }
    """

    def __init__(
        self, present: PairChoice | None, library: Library, data: Path, with_draft: DrafterName = "both"
    ) -> None:
        super().__init__()
        self._library = library
        self._with_draft = with_draft
        self._shelf = Shelf(present)
        self._finder = Finder(library, data)
        self._sides = Sides(self._shelf, self._finder.judge)

    def compose(self) -> ComposeResult:
        """A line to type in, the two lists, and what is known of the row under the cursor."""
        with Vertical(id="box"):
            yield Static(_("Models"), id="title", markup=False)
            yield FilterLine(_("type to filter"))
            yield self._sides
            yield Static(id="facts", markup=False)
            yield Static(id="said", markup=False)
        yield self._finder
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to look for models."""
        self._line.focus()
        self._sides.show_all()
        self._finder.search(self._shelf.present)

    # ------------------------------------------------------------------ what comes from the threads

    @on(Finder.Prepared)
    def prepare(self, event: Finder.Prepared) -> None:
        """Know pairs of before, and the memory that is free."""
        self._shelf.recent, self._shelf.scales = event.pairs, event.scales

    @on(Finder.Came)
    def take(self, event: Finder.Came) -> None:
        """Show what was found."""
        finding, shelf = event.finding, self._shelf
        shelf.put(finding.models)
        found = _("Models · {count:,} found") if finding.is_done else _("Models · {count:,} in {folders:,} folders …")
        self.query_one("#title", Static).update(found.format(count=len(shelf.models), folders=finding.folders))
        if finding.troubles:
            self.say("\n".join(finding.troubles[:2]))
        elif finding.is_done and shelf.is_newcomers and not self.query_one("#said", Static).content:
            self.say(_("F7 adds a file or a folder from anywhere."))
        if finding.models or finding.is_done:
            self._sides.show_all(anew=True)

    @on(Finder.Judged)
    def know_drafts(self, event: Finder.Judged) -> None:
        """Show the drafts of the target under the cursor."""
        self._sides.know_drafts(event.target, event.offers, is_done=event.is_done)

    @on(Sides.Moved)
    def show_facts(self) -> None:
        """Tell of the row under the cursor."""
        target, offer, scales = self._sides.target, self._sides.offer, self._shelf.scales
        lines: list[str] = []
        if target and self._sides.side == "targets":
            lines = telling.about_target(target, scales)
        elif target and offer:
            lines = telling.about_draft(target, offer, scales)
        self.query_one("#facts", Static).update("\n".join(lines))

    # ------------------------------------------------------------------ what a person does

    @on(Input.Changed)
    def narrow_down(self) -> None:
        """Show the rows that hold what is typed."""
        self._sides.filter(self._line.value)

    def action_move(self, step: str) -> None:
        """Move the cursor of the side one is on."""
        self.narrow_down()  # a key may come before the message that something was typed
        self._sides.move(step)

    @on(OptionList.OptionSelected)
    def choose_clicked(self, event: OptionList.OptionSelected) -> None:
        """Choose the row that was clicked."""
        self._sides.click("targets" if event.option_list.id == "targets" else "drafts", event.option_index)
        self._line.value = ""
        self.action_choose()

    def action_choose(self) -> None:
        """Take the row under the cursor: a target, a whole pair, or what guesses; the last two are loaded at once."""
        self.narrow_down()
        row, target = self._sides.row("targets"), self._sides.target
        if self._sides.side == "drafts":
            self.action_load()
        elif row and isinstance(row.key, PairKey):
            self._finish(row.key.target, row.key.draft)
        elif target and self._is_fit(target):
            self.action_to_side("drafts")

    def action_load(self) -> None:
        """Close with what is under the two cursors, if it can work."""
        self.narrow_down()
        row, target, offer = self._sides.row("drafts"), self._sides.target, self._sides.offer
        if row is None or target is None or not self._is_fit(target):
            return
        if offer is None:
            self._finish(target.path, None, "none" if row.key == NONE else "lookup")
        elif offer.works or self._is_present(target.path, offer.model.path):
            self._finish(target.path, offer.model.path)
        else:
            self.say(telling.against(offer), wrong=True)

    def action_other_side(self) -> None:
        """Go from the targets to the drafts, or back."""
        self.action_to_side("drafts" if self._sides.side == "targets" else "targets")

    def action_to_side(self, side: Side) -> None:
        """Go to the targets or to the drafts."""
        self.narrow_down()
        if side != self._sides.side:
            self._sides.turn_to(side)
            self._line.value = ""

    def action_sort(self) -> None:
        """Sort the targets in another way."""
        self._shelf.sort_next()
        self._sides.show_all()

    @work(exclusive=True, group="dialog")
    async def action_browse(self) -> None:
        """Let a person choose a file from anywhere, or a folder to look into from now on."""
        target = self._sides.target
        # Where specchat keeps its own is no place to look for others.
        at = target.path if target and target.found.source != "specchat" else None
        browsed = await self.app.push_screen_wait(BrowseScreen(at))
        if browsed is None:
            return
        self.say("")
        if browsed.is_folder:
            await self._add_folder(browsed.path)
        else:
            await self._add_file(browsed.path)

    # ------------------------------------------------------------------ what comes of it

    @property
    def _line(self) -> Line:
        return self.query_one(Line)

    async def _add_folder(self, folder: Path) -> None:
        try:
            await asyncio.to_thread(self._library.add_folder, folder)
        except NotWritten as failure:
            self.say(sentence(failure.code, failure.params), wrong=True)
        else:
            self._finder.search(self._shelf.present)

    async def _add_file(self, path: Path) -> None:
        model = await asyncio.to_thread(self._library.model, path)
        if self._is_fit(model):
            self._shelf.put([model])
            self._sides.go_to(path)
            self._line.value = ""

    def _is_fit(self, model: Model) -> bool:
        """Whether a model can be chosen; if not, says so."""
        said = telling.refused(model)
        self.say(said, wrong=bool(said))
        return not said

    def _is_present(self, target: Path, draft: Path | None) -> bool:
        present = self._shelf.present
        return present is not None and draft is not None and (present.target, present.draft) == (target, draft)

    def _finish(self, target: Path, draft: Path | None, drafter: DrafterName | None = None) -> None:
        if self._is_present(target, draft):
            self.dismiss(self._shelf.present)  # whoever guesses goes on
        else:
            self.dismiss(PairChoice(target, draft, drafter or self._with_draft))
