"""How full the target's context is, in a few cells."""

from __future__ import annotations

from textual.content import Content

from specchat.app.widgets.look import LABEL, labelled
from specchat.app.words import _

_CELLS = 5


def context_meter(share: float | None) -> Content:
    """`ctx ▓▓░░░  31 %`, always of one width; a dash where `share`, 0 … 1, isn't known."""
    full = round((share or 0.0) * _CELLS)
    bar = "▓" * full + "░" * (_CELLS - full)
    return Content.assemble((_("ctx "), LABEL), (bar, LABEL), " ", _percent(share))


def short_context_meter(share: float | None) -> Content:
    """The same without its bar."""
    return Content.assemble((_("ctx "), LABEL), _percent(share))


def _percent(share: float | None) -> Content:
    return labelled(_("{rate} %"), rate=("–" if share is None else str(int(100 * share))).rjust(3))
