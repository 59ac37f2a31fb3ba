"""The dialog in which a person picks the model that writes and what guesses for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Footer, Static, TabbedContent, TabPane

from specchat.app.last_pair import PairChoice
from specchat.app.screens.dialog import Dialog
from specchat.app.widgets.browser import Browser
from specchat.app.widgets.file_list import FileList, Shortcut
from specchat.app.words import _, sentence, visible
from specchat.models.engine.messages import DrafterName
from specchat.models.files.check import check_model_file
from specchat.models.files.errors import ModelFileError


class PairScreen(Dialog[PairChoice]):
    """Gives the pair that was chosen, its files checked; or None where nothing is to change.

    `present` is the pair in use, if there is one; `at_hand` names models that are offered in both lists; `with_draft`
    says who guesses once a draft model is chosen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5,ctrl+o", "other_tab", _("target or draft"), priority=True),
        Binding("f9,ctrl+l", "load", _("load"), priority=True),
    ]

    DEFAULT_CSS = """
    PairScreen {
        .summary { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        TabbedContent { height: 1fr; margin-top: 1; }
        TabPane { padding: 0; }
        #buttons { height: 1; }
        #buttons Button { margin-right: 2; }
    }
    """

    def __init__(
        self, present: PairChoice | None, at_hand: Sequence[Shortcut] = (), with_draft: DrafterName = "both"
    ) -> None:
        super().__init__()
        self._target = present.target if present else None
        self._draft = present.draft if present else None
        self._drafter: DrafterName = present.drafter if present else "lookup"
        self._at_hand = at_hand
        self._with_draft = with_draft

    def compose(self) -> ComposeResult:
        """What is chosen now, and below it a browser for each of the two."""
        words = [
            Shortcut("none", _("no draft"), _("the target writes alone")),
            Shortcut("lookup", _("prompt lookup"), _("guesses what stood in the text before")),
        ]
        with Vertical(id="box"):
            yield Static(_("Models"), id="title")
            yield Static(id="target-summary", classes="summary", markup=False)
            yield Static(id="draft-summary", classes="summary", markup=False)
            with TabbedContent():
                with TabPane(_("Target"), id="target-tab"):
                    yield Browser(self._at_hand, self._start(self._target), id="target")
                with TabPane(_("Draft"), id="draft-tab"):
                    yield Browser(
                        [*words, *self._at_hand], self._start(self._draft) or self._start(self._target), id="draft"
                    )
            yield Static(id="said", markup=False)
            with Horizontal(id="buttons"):
                yield Button(_("Load"), id="load", variant="primary", compact=True)
                yield Button(_("Cancel"), id="cancel", compact=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin with the target."""
        self._summarise()
        self.query_one("#target", Browser).focus_list()

    def action_other_tab(self) -> None:
        """Go from the target's files to the draft's, or back."""
        tabs = self.query_one(TabbedContent)
        other = "draft" if tabs.active == "target-tab" else "target"
        self._turn_to(self.query_one(f"#{other}", Browser))

    @on(Button.Pressed, "#load")
    def action_load(self) -> None:
        """Close with the pair that is chosen now."""
        if self._target is not None:
            self.dismiss(PairChoice(self._target, self._draft, self._drafter))

    @on(FileList.Refused)
    def refuse(self, event: FileList.Refused) -> None:
        """Say why a folder isn't shown."""
        self.say(sentence(event.code, event.params), wrong=True)

    @on(FileList.Opened)
    def forget_refusal(self) -> None:
        """Stop complaining once a person has gone elsewhere."""
        self.say("")

    @on(Browser.Chosen, "#target")
    def choose_target(self, event: Browser.Chosen) -> None:
        """Take what was chosen to write, if it can."""
        if isinstance(event.choice, Path):
            self._take_target(event.choice)

    @on(Browser.Chosen, "#draft")
    def choose_draft(self, event: Browser.Chosen) -> None:
        """Take what was chosen to guess, if it can."""
        self._take_draft(event.choice)

    @on(Button.Pressed, "#cancel")
    def cancel(self) -> None:
        """Close with nothing."""
        self.action_leave()

    @work(exclusive=True, group="choice")
    async def _take_target(self, path: Path) -> None:
        if not await self._is_fit(path):
            return
        self._target = path
        self._summarise()
        draft = self.query_one("#draft", Browser)
        if self._draft is None:
            draft.show(self._start(path))  # a draft most often lies beside its target
        self._turn_to(draft)

    @work(exclusive=True, group="choice")
    async def _take_draft(self, choice: Path | str) -> None:
        if isinstance(choice, Path):
            if not await self._is_fit(choice):
                return
            self._draft, self._drafter = choice, self._with_draft
        else:
            self._draft, self._drafter = None, "lookup" if choice == "lookup" else "none"
        self._summarise()
        self.query_one("#load").focus()

    def _turn_to(self, browser: Browser) -> None:
        self.query_one(TabbedContent).active = f"{browser.id}-tab"
        browser.focus_list()

    async def _is_fit(self, path: Path) -> bool:
        problem = await asyncio.to_thread(problem_with, path)
        self.say(problem, wrong=True)
        return not problem

    def _start(self, path: Path | None) -> Path | None:
        """Where to begin to browse for another file than `path`: not where specchat keeps its own."""
        return None if any(path == shortcut.choice for shortcut in self._at_hand) else path

    def _summarise(self) -> None:
        target, draft = self._target, self._draft
        guessing = _("no draft") if self._drafter in ("none", "model") else _("prompt lookup")
        if draft and self._drafter == "model":
            guessing = _located(draft)
        elif draft and self._drafter == "both":
            guessing = _("lookup + {draft}").format(draft=_located(draft))
        elif draft:
            guessing = _("{drafter}; {draft} stays loaded").format(drafter=guessing, draft=visible(draft.name))
        chosen = _located(target) if target else _("none yet: choose one")
        self.query_one("#target-summary", Static).update(_("target  {chosen}").format(chosen=chosen))
        self.query_one("#draft-summary", Static).update(_("draft   {chosen}").format(chosen=guessing))
        self.query_one("#load", Button).disabled = target is None


def problem_with(path: Path) -> str:
    """Why the file can't be chosen, in words; empty if it can. Reads its head."""
    if not path_is_text(path):
        return sentence("file_name_not_unicode", {"path": str(path)})
    try:
        check_model_file(path)
    except ModelFileError as error:
        return sentence(error.code, error.params)
    return ""


def path_is_text(path: Path) -> bool:
    """Whether the engine can be told of the path, as UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _located(path: Path) -> str:
    return visible(f"{path.name}  ·  {path.parent}")
