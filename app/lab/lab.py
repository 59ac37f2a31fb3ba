"""The Lab as a whole: six pages, the one that is open, and which of its two forms is shown. No screen is needed."""

from __future__ import annotations

from collections.abc import Sequence

from specchat.app.lab.costs import CostMine, CostToy
from specchat.app.lab.laws import LawToy
from specchat.app.lab.mine import Mine
from specchat.app.lab.page import Control, Page, View, step
from specchat.app.lab.position import LawMine
from specchat.app.lab.questions import Quiz
from specchat.app.lab.replay import Replay
from specchat.app.lab.rounds import RoundsToy
from specchat.app.lab.rows import Row, plain
from specchat.app.lab.speed import SpeedMine, SpeedToy
from specchat.app.lab.variants import Table
from specchat.app.words import _

PAGES = 6


class Lab:
    """What a reader does to it, and what it shows."""

    def __init__(self, mine: Mine | None = None) -> None:
        mine = mine or Mine()
        self.pages: Sequence[Page] = (
            Page(_("Why checking is cheap"), CostToy(), CostMine(mine)),
            Page(_("A reply, round by round"), RoundsToy(), Replay(mine)),
            Page(_("Why the text stays the target's"), LawToy(), LawMine(mine)),
            Page(_("How much faster"), SpeedToy(), SpeedMine(mine)),
            Page(_("Three questions"), Quiz()),
            Page(_("Variants, and which run here"), Table()),
        )
        self.at = 0
        """The page that is open, from 0."""
        self.is_mine = False
        self._selected = dict.fromkeys(range(PAGES), 0)

    @property
    def page(self) -> Page:
        """The page that is open."""
        return self.pages[self.at]

    @property
    def view(self) -> View:
        """What is shown of it."""
        mine = self.page.mine
        return mine if self.is_mine and mine is not None else self.page.toy

    @property
    def controls(self) -> Sequence[Control]:
        """What can be set now."""
        return () if self.view.missing else self.view.controls

    @property
    def selected(self) -> int:
        """Which of the controls the keys act on."""
        return min(self._selected[self.at], max(len(self.controls) - 1, 0))

    def turn(self, to: int) -> None:
        """Open a page, or the nearest there is."""
        self.at = step(to, 0, 0, PAGES - 1)

    def select(self, control: int) -> None:
        """Let the keys act on another control, or on the nearest there is."""
        self._selected[self.at] = step(control, 0, 0, max(len(self.controls) - 1, 0))

    def change(self, by: int) -> None:
        """Move the selected control."""
        if self.controls:
            self.controls[self.selected].change(by)

    def do(self, key: str) -> bool:
        """Do what `key` does on this page; whether it does anything."""
        for deed in () if self.view.missing else self.view.deeds:
            if deed.key == key:
                deed.do()
                return True
        return False

    def switch(self) -> None:
        """Show the other form of the pages that have two."""
        self.is_mine = not self.is_mine

    def figure(self, width: int) -> list[Row]:
        """What is drawn now; without measurements, nothing."""
        if self.view.missing:
            return [plain(_("Nothing to show yet."))]
        return self.view.figure(width)

    def words(self) -> str:
        """What is said now; without measurements, how to come by them."""
        return self.view.missing or self.view.words()
