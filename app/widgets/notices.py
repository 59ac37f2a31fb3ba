"""Sentences above the prompt: what a person must hear of stays until it is taken away."""

from __future__ import annotations

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from specchat.app.widgets.look import LABEL
from specchat.app.words import _, plural

PASSING_SECONDS = 4.0
MOST_SHOWN = 3
MOST_ROWS = 10
"""Rows that those which are shown may have together, unless it is one."""


class Notices(Static):
    """The latest of the sentences that stay, and below them one that passes.

    Only what is shown can be taken away: what came before it appears then.
    """

    DEFAULT_CSS = """
    Notices { height: auto; max-height: 12; padding: 0 2; color: $text-warning; overflow-y: auto; }
    Notices.-empty { display: none; }
    """

    def __init__(self, id: str | None = None) -> None:
        super().__init__(markup=False, id=id, classes="-empty")
        self._staying: list[str] = []
        self._shown: list[str] = []
        """The last of those that stay."""
        self._passing = ""
        self._timer: Timer | None = None

    def say(self, text: str) -> None:
        """Show `text`, which may have several lines, until it is taken away. Said again, it comes last."""
        if text in self._staying:
            self._staying.remove(text)
        self._staying.append(text)
        self._paint()

    def mention(self, text: str) -> None:
        """Show `text` for a moment."""
        self._passing = text
        if self._timer:
            self._timer.stop()
        self._timer = self.set_timer(PASSING_SECONDS, self._pass)
        self._paint()

    def dismiss(self) -> bool:
        """Take away what is shown; whether there was anything that stays."""
        had = bool(self._staying)
        del self._staying[len(self._staying) - len(self._shown) :]
        self._pass()
        return had

    def on_resize(self) -> None:
        """Show as many as fit now."""
        if self._shown != self._fitting():
            self._paint()

    def _pass(self) -> None:
        self._passing = ""
        self._paint()

    def _paint(self) -> None:
        self._shown = self._fitting()
        lines = [_marked(text) for text in self._shown]
        if self._staying:
            more = len(self._staying) - len(self._shown)
            before = plural("{count} more before · ", "{count} more before · ", more).format(count=more) if more else ""
            lines.append(Content.styled(before + _("Esc takes this away"), LABEL))
        if self._passing:
            lines.append(Content.styled(self._passing, LABEL))
        self.update(Content("\n").join(lines))
        self.set_class(not lines, "-empty")

    def _fitting(self) -> list[str]:
        """The latest, as many as there is room for, but at least one."""
        width = self.content_size.width or self.app.size.width
        shown: list[str] = []
        rows = 0
        for text in reversed(self._staying[-MOST_SHOWN:]):
            rows += _marked(text).get_height({}, width)
            if shown and rows > MOST_ROWS:
                break
            shown.insert(0, text)
        return shown


def _marked(text: str) -> Content:
    return Content(f"! {text}")
