"""The two lists of the picker, side by side: targets, and the drafts of the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Literal

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Static

from specchat.app.library.shelf import LOOKUP, NONE, PairKey, Shelf
from specchat.app.widgets.model_list import ModelList, Row
from specchat.app.words import _, visible
from specchat.models.files.facts import Facts
from specchat.models.files.library import Model
from specchat.models.files.pairs import Offer

Side = Literal["targets", "drafts"]


class Sides(Horizontal):
    """Shows what `shelf` holds. A person is on one side at a time, whose list is filtered by what is typed.

    `judge` is called when drafts of another target are to be shown; `know_drafts` takes what comes of it.
    """

    DEFAULT_CSS = """
    Sides {
        height: 1fr;
        min-height: 5;
        Vertical { width: 1fr; }
        #targets-side { margin-right: 2; }
        .heading { height: 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
        .active .heading { color: $foreground; text-style: bold underline; }
    }
    """

    class Moved(Message):
        """A cursor is on another row, or more is known of its row."""

    def __init__(self, shelf: Shelf, judge: Callable[[Facts, Sequence[Model]], object]) -> None:
        super().__init__()
        self.side: Side = "targets"
        """The side one is on."""
        self._shelf = shelf
        self._judge = judge
        self._typed = ""
        self._at: dict[Side, Hashable] = {}
        """The rows that a person has moved to; without one, a cursor is where it begins."""
        self._judged: Path | None = None
        self._offers: Sequence[Offer] | None = ()
        """The drafts of the target `_judged`; None until they are known."""

    def compose(self) -> ComposeResult:
        """A heading and a list each."""
        for side in ("targets", "drafts"):
            with Vertical(id=f"{side}-side"):
                yield Static(id=f"{side}-heading", classes="heading", markup=False)
                yield ModelList(id=side)

    @property
    def target(self) -> Model | None:
        """The target under the cursor, alone or in a pair."""
        row = self.row("targets")
        path = row.key.target if row and isinstance(row.key, PairKey) else row.key if row else None
        return self._shelf.models.get(path) if isinstance(path, Path) else None

    @property
    def offer(self) -> Offer | None:
        """The draft under the cursor, if it is a model."""
        row = self.row("drafts")
        return next((offer for offer in self._offers or () if row and offer.model.path == row.key), None)

    def row(self, side: Side) -> Row | None:
        """The row under a side's cursor."""
        return self._list(side).current

    # ------------------------------------------------------------------ what a person does

    def filter(self, typed: str) -> None:
        """Show the rows of this side that hold what is typed."""
        if typed != self._typed:
            self._typed = typed
            self._at.pop(self.side, None)
            self.show_all()

    def move(self, step: str) -> None:
        """Move this side's cursor; `step` is the name of one of the list's actions."""
        moved = self._list(self.side)
        getattr(moved, f"action_{step}")()
        self._keep(self.side, moved)

    def click(self, side: Side, index: int) -> None:
        """Go to a row by its place."""
        clicked = self._list(side)
        clicked.highlighted = index
        self._keep(side, clicked)
        self.turn_to(side)

    def turn_to(self, side: Side) -> None:
        """Go to a side, of which then everything is shown."""
        here = self.row(self.side)
        if here and self._typed:  # what was found by typing stays under the cursor without it
            self._at[self.side] = here.key
        self.side, self._typed = side, ""
        self.show_all()

    def go_to(self, path: Path) -> None:
        """Show everything, with this side's cursor on the model `path`."""
        self._at[self.side] = path
        self._typed = ""
        self.show_all(anew=True)

    # ------------------------------------------------------------------ what is shown

    def show_all(self, *, anew: bool = False) -> None:
        """Show both lists; with `anew`, the drafts are judged again, since there are more models."""
        for side in ("targets", "drafts"):
            self.query_one(f"#{side}-side").set_class(side == self.side, "active")
        rows = self._shelf.target_rows(self._typed if self.side == "targets" else "")
        self._list("targets").show(rows, at=self._at.get("targets", self._shelf.preferred()))
        self._head("targets", _("Target · {order}").format(order=self._shelf.order))
        self._follow(anew=anew)

    def know_drafts(self, target: Path, offers: Sequence[Offer], *, is_done: bool) -> None:
        """Show `offers` if they are still those of the target under the cursor."""
        if target == self._judged and (is_done or self._offers is None):
            self._offers = offers
            self._show_drafts()

    def _follow(self, *, anew: bool = False) -> None:
        target = self.target
        facts = target.facts if target else None
        path = target.path if target and facts else None
        if path != self._judged:
            self._judged, self._offers, anew = path, None if facts else (), True
            self._at.pop("drafts", None)
        if facts and anew:
            self._judge(facts, list(self._shelf.models.values()))
        self._show_drafts()

    def _show_drafts(self) -> None:
        drafts, target = self._list("drafts"), self.target
        rows = self._shelf.draft_rows(self._offers, self._typed if self.side == "drafts" else "")
        drafts.show(rows, at=self._at.get("drafts", self._first_draft()))
        if self._offers is None and "drafts" not in self._at:
            drafts.highlighted = None  # Enter is to load nothing before the best draft is known
        name = visible(target.found.name) if target else ""
        self._head("drafts", _("Draft for {target}").format(target=name) if name else _("Draft"))
        self.post_message(self.Moved())

    def _first_draft(self) -> Hashable:
        """Where the cursor begins among the drafts: on that of the pair, on the one in use, else on the best."""
        row, present, target = self.row("targets"), self._shelf.present, self.target
        if row and isinstance(row.key, PairKey):
            return row.key.draft
        if present and target and target.path == present.target:
            return present.draft or (NONE if present.drafter == "none" else LOOKUP)
        return None

    def _keep(self, side: Side, moved: ModelList) -> None:
        if moved.current:
            self._at[side] = moved.current.key
        if side == "targets":
            self._follow()
        else:
            self.post_message(self.Moved())

    def _list(self, side: Side) -> ModelList:
        return self.query_one(f"#{side}", ModelList)

    def _head(self, side: Side, text: str) -> None:
        self.query_one(f"#{side}-heading", Static).update(text)
