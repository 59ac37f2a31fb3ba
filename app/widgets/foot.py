"""The lines below a message: a sentence where there is something to say, and what a reply took."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from specchat.app.widgets.strip import FIGURE_WORDS, reply_line
from specchat.app.widgets.words_help import explain
from specchat.models.decoding.counters import Counters


class Foot(Widget):
    """The sentence is wrapped; the figures are one line, with as many of them as there is room for."""

    DEFAULT_CSS = """
    Foot { height: auto; color: $foreground-muted; }
    Foot.-empty { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(classes="-empty")
        self._sentence = ""
        self._counters: Counters | None = None

    def say(self, sentence: str, counters: Counters | None = None) -> None:
        """Show these; nothing at all where there is neither."""
        self._sentence, self._counters = sentence, counters
        self.tooltip = explain(*FIGURE_WORDS) if counters else None
        self.set_class(not sentence and counters is None, "-empty")
        self.refresh(layout=True)

    def render(self) -> Content:
        """What is painted. One line of figures at any width, so the height can be asked for before that is known."""
        lines = [self._sentence] if self._sentence else []
        if self._counters:
            lines.append(reply_line(self._counters, self.size.width))
        return Content("\n".join(lines))
