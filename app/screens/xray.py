"""The X-ray of a reply: where every token of it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from specchat.app.actions import BY_NAME
from specchat.app.chats.records import Step
from specchat.app.display import clean
from specchat.app.widgets.counter import REASON_WORDS
from specchat.app.widgets.look import LABEL, VALUE
from specchat.app.widgets.strip import FIGURE_WORDS, figures_line
from specchat.app.widgets.words_help import explain
from specchat.app.widgets.xray_facts import facts
from specchat.app.widgets.xray_text import legend
from specchat.app.widgets.xray_view import XrayView
from specchat.app.words import _
from specchat.models.decoding.counters import count


class XrayScreen(ModalScreen[None]):
    """Shows the rounds of one reply, `steps`; `title` says which reply it is."""

    DEFAULT_CSS = """
    XrayScreen {
        #all { background: $background; padding: 0 1; }
        Static { height: auto; }
        #facts { height: 4; }
        #title, #facts { text-wrap: nowrap; text-overflow: ellipsis; }
        &.-tall XrayView { margin: 1 0; }
    }
    """

    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012  (Textual's own declaration allows no other)

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(("escape", *BY_NAME["xray"].keys)), "dismiss", _("close")),
    ]

    def __init__(self, steps: Sequence[Step], title: str) -> None:
        super().__init__()
        self._steps = steps
        self._title = " ".join(clean(title).split())

    def compose(self) -> ComposeResult:
        figures = count(step.round for step in self._steps)
        with Vertical(id="all"):  # else the chat would show between the widgets where a ground covers nothing
            yield Static(Content.assemble((_("X-ray"), VALUE), "  ", (self._title, LABEL)), id="title")
            yield Static(Content.styled(figures_line(figures), LABEL)).with_tooltip(explain(*FIGURE_WORDS))
            words = (_("accepted"), _("rejected"), _("replacement"), _("bonus"), _("plain"), _("round"))
            yield Static(legend()).with_tooltip(explain(*words))
            yield XrayView(self._steps)
            of_rounds = (_("unused"), _("draft, verify, sampling, other"), *REASON_WORDS, _("padding"))
            yield Static(self._facts(0), id="facts").with_tooltip(explain(*of_rounds))
        yield Footer(show_command_palette=False)

    @on(XrayView.Marked)
    def _tell(self, marked: XrayView.Marked) -> None:
        self.query_one("#facts", Static).update(self._facts(marked.round), layout=False)

    def _facts(self, round: int) -> Content:
        if not self._steps:
            return Content.styled(_("Nothing was written."), LABEL)
        return facts(self._steps[round], round + 1, len(self._steps))
