"""What the side panel and the strip share: their state, and parts that are painted only where they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from specchat.app.widgets.kept_lines import KeptLines
from specchat.app.widgets.speedline import Sample
from specchat.app.widgets.words_help import explain
from specchat.app.words import _
from specchat.models.decoding.counters import Counters, count
from specchat.models.engine.messages import DrafterName
from specchat.settings.values import Speculation

_NOTHING = count(())


@dataclass(frozen=True, slots=True)
class CounterState:
    """All that the counter shows. Counters are None before the first reply, and then show as dashes."""

    speculation: Speculation = field(default_factory=Speculation)
    drafter: DrafterName = "none"
    reply: Counters | None = None
    """Of the reply that is being written, or of the last one."""
    now: float | None = None
    """Tokens a second over the last moments."""
    samples: tuple[Sample, ...] = ()
    session_on: Counters | None = None
    """Of this session's rounds with speculation on."""
    session_off: Counters | None = None
    context: float | None = None
    """Which part of the target's context is full, 0 … 1, after the last round."""
    reason: str = ""
    """Why the latest rounds guessed as many tokens as they did, in words."""
    stage: str = ""
    """What is being waited for, in words."""

    @property
    def is_on(self) -> bool:
        """Whether anything may be guessed."""
        return self.drafter != "none" and self.speculation.enabled and self.speculation.gamma != 0

    @property
    def figures(self) -> Counters:
        """The reply's; those of nothing before the first one."""
        return self.reply or _NOTHING

    @property
    def speed_up(self) -> float | None:
        """The reply's, if anything was guessed in it."""
        return self.figures.speed_up if self.figures.drafted else None

    @property
    def accepted_of_drafted(self) -> str:
        """Both numbers, or a dash before the first reply."""
        if self.reply is None:
            return "–"
        return _("{accepted} of {drafted}").format(accepted=self.reply.accepted, drafted=self.reply.drafted)

    def count(self, value: int) -> str:
        """One of the reply's numbers, or a dash before the first reply."""
        return "–" if self.reply is None else f"{value:,}"


Draw = Callable[[CounterState, int], Content]
"""Draws a state into some columns."""


@dataclass(frozen=True, slots=True)
class Part:
    """A few lines of the counter, and the words that a tooltip over them explains."""

    draw: Draw
    words: tuple[str, ...] = ()
    height: int = 1


class Figures(KeptLines):
    """Parts below each other. They are one widget, since Textual takes as long for each widget as for many lines."""

    DEFAULT_CSS = """
    Figures { height: auto; }
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__()
        self.state = CounterState()
        """What is to be shown."""
        self._rows = [part for part in parts for _row in range(part.height)]
        self._parts = {self._rows.index(part): part for part in parts}
        """By the row in which they begin."""
        self._drawn: dict[int, Content] = {}
        self._styles: dict[str | Style, RichStyle] = {}

    def draw(self) -> None:
        """Paint those parts anew in which the state looks different now."""
        width, changed = self.size.width, []
        for y, part in self._parts.items():
            content = part.draw(self.state, width)
            if y not in self._drawn or not self._drawn[y].is_same(content):
                self._drawn[y] = content
                self.lines[y : y + part.height] = self._strips(content, part.height)
                changed.append(Region(0, y, width, part.height))
        if changed:
            self.refresh(*changed)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's own
        """The number of lines, which never changes."""
        return len(self._rows)

    def on_resize(self) -> None:
        """Draw all for another width, or for the first one."""
        self._drawn.clear()
        self.draw()

    def notify_style_update(self) -> None:
        """Draw all in other colours."""
        super().notify_style_update()
        self._drawn.clear()
        self._styles.clear()

    def prepare(self) -> None:
        """Draw if nothing is drawn."""
        if not self._drawn:
            self.draw()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Explain what the mouse is on."""
        words = self._rows[event.y].words
        self.tooltip = explain(*words) if words else None

    def _strips(self, content: Content, height: int) -> list[Strip]:
        width = self.size.width
        lines = [*content.split("\n"), *[Content("")] * height][:height]
        padded = (line.truncate(width, ellipsis=True, pad=True) for line in lines)
        return [Strip(self._segments(line), width) for line in padded]

    def _segments(self, line: Content) -> list[Segment]:
        """The pieces of a line. None may lie over another: Textual's own way allows for that, and takes longer."""
        pieces, place = [], 0
        for start, end, style in line.spans:
            pieces += [(line.plain[place:start], ""), (line.plain[start:end], style)]
            place = end
        pieces.append((line.plain[place:], ""))
        return [Segment(text, self._style(style)) for text, style in pieces if text]

    def _style(self, words: str | Style) -> RichStyle:
        if words not in self._styles:
            self._styles[words] = (self.visual_style + Style.parse(str(words))).rich_style
        return self._styles[words]


class Panel(Widget):
    """Parts below each other, with room around them."""

    BLANK = True  # around them, which spares drawing it below them at each repaint

    def __init__(self, parts: Sequence[Part], id: str | None = None) -> None:
        super().__init__(id=id)
        self._figures = Figures(parts)

    def compose(self) -> ComposeResult:
        yield self._figures

    def show(self, state: CounterState) -> None:
        """Show `state` now, or when the panel appears.

        A hidden widget that asked to be painted would make Textual arrange all widgets anew.
        """
        self._figures.state = state
        if self.display:
            self._figures.draw()
