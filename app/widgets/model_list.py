"""A list whose rows have a name on the left and figures on the right, whatever its width."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from specchat.app.cells import filled

_GAP = 2
_BESIDE = " ◂ "
_LEAST = 22
"""Cells that a name gets before its figures do."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `key` tells it from the others (None: a heading, which can't be chosen).

    `columns` are the figures, of which the first give way where there is no room for all. A row that `is_off` is
    greyed, and can be looked at all the same. Texts must be fit to be shown.
    """

    key: Hashable
    name: str
    columns: tuple[str, ...] = ()
    mark: str = " "
    is_off: bool = False
    partner: str = ""
    """A second name, behind `◂`; where there is no room for both, each gets half of it."""


class ModelList(OptionList, can_focus=False):
    """Shows rows, one of which is the current one. The keys stay with the line that one types in."""

    DEFAULT_CSS = """
    ModelList { height: 1fr; }
    """

    def __init__(self, id: str) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self._rows: Sequence[Row] = ()

    @property
    def rows(self) -> Sequence[Row]:
        """What is shown."""
        return self._rows

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return None if self.highlighted is None else self._rows[self.highlighted]

    def show(self, rows: Sequence[Row], at: Hashable = None) -> None:
        """Show `rows`, with the cursor on the one whose key is `at`; on the first, where there is none."""
        self._rows = rows
        keys = [row.key for row in rows]
        self.set_options(self._laid_out())
        if at is not None and at in keys:
            self.highlighted = keys.index(at)
        else:
            self.highlighted = next((index for index, key in enumerate(keys) if key is not None), None)

    def on_resize(self, _event: events.Resize) -> None:
        """Lay the rows out anew."""
        at = self.highlighted
        self.set_options(self._laid_out())
        self.highlighted = at

    def _laid_out(self) -> list[Option]:
        width = self.scrollable_content_region.width - 1  # for the scrollbar that may come
        widths = _column_widths(self._rows, width)
        return [Option(_content(row, widths, width), disabled=row.key is None) for row in self._rows]


def _column_widths(rows: Sequence[Row], width: int) -> list[int]:
    """How wide each column is, from the last on; those that have no room are left out."""
    most = max((len(row.columns) for row in rows), default=0)
    widths: list[int] = []
    for place in range(most):
        cells = [cell_len(row.columns[-1 - place]) for row in rows if len(row.columns) > place]
        if sum(widths) + _GAP * (len(widths) + 1) + max(cells) + _LEAST > width:
            break
        widths.append(max(cells))
    return widths[::-1]


def _content(row: Row, widths: Sequence[int], width: int) -> Content:
    if row.key is None:
        return Content(filled(row.name, width))  # what is disabled is greyed anyway
    shown = row.columns[len(row.columns) - len(widths) :] if len(row.columns) >= len(widths) else row.columns
    widths = widths[len(widths) - len(shown) :]
    figures = "".join(" " * (_GAP + room - cell_len(text)) + text for text, room in zip(shown, widths, strict=True))
    name = _names(row, max(width - 2 - cell_len(figures), 0))
    style = "dim" if row.is_off else ""
    return Content.assemble((f"{row.mark} {name}", style), (figures, "dim"))


def _names(row: Row, width: int) -> str:
    """What a row is called, in exactly `width` cells."""
    if not row.partner:
        return filled(row.name, width)
    room = max(width - cell_len(_BESIDE), 0)
    left = min(cell_len(row.name), max(room - cell_len(row.partner), room // 2))
    return f"{filled(row.name, left)}{_BESIDE}{filled(row.partner, room - left)}"
