"""One side of a comparison: who writes, how fast, and the text as it comes."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from specchat.app.bench.report import draft_name, gamma_name
from specchat.app.bench.sides import Side
from specchat.app.compare.session import Live
from specchat.app.display import clean
from specchat.app.figures import number
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.words import _


class CompareSide(Vertical):
    """Empty until it is told whose side it is."""

    DEFAULT_CSS = """
    CompareSide { height: auto; padding: 0 1 1 0; }
    CompareSide Static { height: auto; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._head = Static()
        self._text = Static(markup=False)
        self._shown = ""

    def compose(self) -> ComposeResult:
        """The head and the text."""
        yield self._head
        yield self._text

    def show(self, side: Side, live: Live | None) -> None:
        """Show what is written now, or was last."""
        self._head.update(_head(side, live))
        text = clean(live.text) if live else ""
        if text != self._shown:
            self._shown = text
            self._text.update(text)


def _head(side: Side, live: Live | None) -> Content:
    """`▔ SmolLM2-135M-Instruct.Q4_1.gguf, γ 3  18.9 tok/s · 60 of 72 accepted`."""
    if side.draft:
        name = _("▔ {draft}, γ {gamma}").format(draft=draft_name(side.draft), gamma=gamma_name(side.gamma))
        head = Content.styled(name, f"{VALUE} {ACCEPTED}")
    else:
        head = Content.styled(_("· without"), f"{VALUE} {PLAIN}")
    if live is None or not live.replies:
        return head
    counters = live.current.counters()
    parts = [_("{speed} tok/s").format(speed=number(counters.tokens_per_second))]
    if counters.drafted:
        said = _("{accepted} of {drafted} accepted")
        parts.append(said.format(accepted=counters.accepted, drafted=counters.drafted))
    return Content.assemble(head, ("  " + " · ".join(parts), LABEL))
