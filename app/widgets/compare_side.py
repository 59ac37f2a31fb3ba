"""One side of a comparison: who writes, how fast, and the text as it comes."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from specchat.app.bench.report import draft_name, gamma_name
from specchat.app.compare.session import PLAIN_KEY, Live
from specchat.app.display import clean
from specchat.app.figures import number
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.words import _
from specchat.settings.values import Gamma


class CompareSide(Vertical):
    """The side of `draft`; the target alone is `PLAIN_KEY`."""

    DEFAULT_CSS = """
    CompareSide { height: auto; padding: 0 1 1 0; }
    CompareSide Static { height: auto; }
    """

    def __init__(self, draft: str, gamma: Gamma) -> None:
        super().__init__()
        self._is_plain = draft == PLAIN_KEY
        self._name = (
            _("· without")
            if self._is_plain
            else _("▔ {draft}, γ {gamma}").format(draft=draft_name(draft), gamma=gamma_name(gamma))
        )
        self._head = Static(self._title(None))
        self._text = Static(markup=False)
        self._shown = ""

    def compose(self) -> ComposeResult:
        """The head and the text."""
        yield self._head
        yield self._text

    def show(self, live: Live | None) -> None:
        """Show what is written now, or was last."""
        self._head.update(self._title(live))
        text = clean(live.text) if live else ""
        if text != self._shown:
            self._shown = text
            self._text.update(text)

    def _title(self, live: Live | None) -> Content:
        style = PLAIN if self._is_plain else ACCEPTED
        head = Content.styled(self._name, f"{VALUE} {style}")
        if live is None or not live.replies:
            return head
        counters = live.current.counters()
        parts = [_("{speed} tok/s").format(speed=number(counters.tokens_per_second))]
        if counters.drafted:
            said = _("{accepted} of {drafted} accepted")
            parts.append(said.format(accepted=counters.accepted, drafted=counters.drafted))
        return Content.assemble(head, ("  " + " · ".join(parts), LABEL))
