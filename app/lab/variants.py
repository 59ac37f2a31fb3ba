"""Page 6: variants of the idea, what their authors report, and which of them run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.rows import EMPTY, Row, cell, cut, plain
from specchat.app.widgets.look import ACCEPTED, LABEL, VALUE
from specchat.app.words import _


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the table. `is_same` says whether its authors prove the output unchanged."""

    name: str
    paper: str
    reported: str
    is_same: str
    runs_here: bool
    about: str


def variants() -> tuple[Variant, ...]:
    """All rows."""
    return (_draft_model(), _prompt_lookup(), _skipping_layers(), _medusa(), _eagle())


def _draft_model() -> Variant:
    return Variant(
        _("draft model"),
        _("Leviathan et al. 2022, Chen et al. 2023"),
        "2–3×, 2–2.5×",
        _("yes"),
        True,
        _(
            "A small model of the same family guesses. Leviathan et al. report 2–3× for T5-XXL, Chen et al. 2–2.5× "
            "for Chinchilla 70B on 16 accelerators. It needs a second model with the same vocabulary, small enough "
            "that a guess is cheap (c) and good enough that it is kept (α)."
        ),
    )


def _prompt_lookup() -> Variant:
    return Variant(
        _("prompt lookup"),
        _("Saxena 2023"),
        _("by the text"),
        _("yes"),
        True,
        _(
            "No second model: what followed the last time the text said the same is guessed again. It needs "
            "nothing and costs next to nothing, and it helps where a text repeats itself: summaries, edits of code."
        ),
    )


def _skipping_layers() -> Variant:
    return Variant(
        _("skipping layers"),
        _("Zhang et al. 2023"),
        "≤ 2×",
        _("yes"),
        False,
        _(
            "The target drafts for itself with some of its layers left out (self-speculation). It needs no second "
            "model, but a search for the layers to leave out, and its guesses cost more than a small model's."
        ),
    )


def _medusa() -> Variant:
    return Variant(
        _("Medusa heads"),
        _("Cai et al. 2024"),
        "> 2.2×, 2.3–3.6×",
        _("not in general"),
        False,
        _(
            "Small heads on the target guess several tokens ahead. They must be trained: heads alone give more "
            "than 2.2×; 2.3–3.6× where the model is trained along with them, which changes the model. Its own way "
            "of accepting guesses gives up the exact distribution for speed."
        ),
    )


def _eagle() -> Variant:
    return Variant(
        "EAGLE",
        _("Li et al. 2024"),
        "2.7–3.5×",
        _("yes"),
        False,
        _(
            "A small network guesses from what the target has just computed inside, not from the text alone. It "
            "must be trained for each target; the distribution of the output stays the target's."
        ),
    )


class Table:
    """The table, with one row chosen to tell more of."""

    missing = ""
    deeds: Sequence[Deed] = ()

    def __init__(self) -> None:
        self.at = 0

    @property
    def controls(self) -> Sequence[Control]:
        """Which row."""
        return [Control(_("more about"), variants()[self.at].name, self._move)]

    def figure(self, width: int) -> list[Row]:
        """The table."""
        head = plain(
            cell("", 2)
            + cell(_("what guesses"), 17)
            + cell(_("authors report"), 18)
            + cell(_("text unchanged"), 16)
            + _("runs in specchat")
        )
        rows = [head, *(self._row(i, row) for i, row in enumerate(variants())), EMPTY, self._source(), *self._notes()]
        return [cut(row, width) for row in rows]

    def words(self) -> str:
        """More about the chosen row."""
        return variants()[self.at].about

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {
            "variants": [
                {"name": v.name, "paper": v.paper, "reported": v.reported, "unchanged": v.is_same, "here": v.runs_here}
                for v in variants()
            ]
        }

    def _row(self, i: int, row: Variant) -> Row:
        style = VALUE if i == self.at else ""
        here = (_("yes"), ACCEPTED) if row.runs_here else (_("not yet"), LABEL)
        return (
            ("▸ " if i == self.at else "  ", VALUE),
            (cell(row.name, 17), style),
            (cell(row.reported, 18), style),
            (cell(row.is_same, 16), style),
            here,
        )

    def _source(self) -> Row:
        return ((variants()[self.at].paper, VALUE),)

    def _notes(self) -> list[Row]:
        return [
            plain(_("These are the authors' figures, for their models on their machines.")),
            plain(_("A busy machine (many users at once) gains less; vLLM's documentation agrees.")),
        ]

    def _move(self, by: int) -> None:
        self.at = step(self.at, by, 0, len(variants()) - 1)
