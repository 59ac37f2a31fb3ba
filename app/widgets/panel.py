"""What the side panel and the strip share: their state, parts that repaint only where they change, and how often."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from specchat.app.widgets.speedline import Sample
from specchat.app.widgets.words_help import explain
from specchat.app.words import _
from specchat.models.decoding.counters import Counters, count
from specchat.models.engine.messages import DrafterName
from specchat.settings.values import Speculation

REPAINT_SECONDS = 1 / 15

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
    device: str = ""
    stage: str = ""
    """What is being waited for, in words."""

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


class Repaints:
    """Calls `paint` at once, or as soon as the last call is `REPAINT_SECONDS` ago.

    `clock` gives seconds, `later` calls back after some.
    """

    def __init__(
        self,
        paint: Callable[[], object],
        clock: Callable[[], float],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._paint = paint
        self._clock = clock
        self._later = later
        self._last = float("-inf")
        self._waiting = False

    def ask(self) -> None:
        """There is something new to paint."""
        if self._waiting:
            return
        wait = self._last + REPAINT_SECONDS - self._clock()
        if wait <= 0:
            self._now()
        else:
            self._waiting = True
            self._later(wait, self._now)

    def _now(self) -> None:
        self._waiting = False
        self._last = self._clock()
        self._paint()


class Part(Widget):
    """A few lines of the counter, with a tooltip that explains their `words`."""

    DEFAULT_CSS = """
    Part {
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, draw: Draw, words: Sequence[str] = (), height: int = 1) -> None:
        super().__init__()
        self._draw = draw
        self._state = CounterState()
        self._painted: Content | None = None
        self.styles.height = height
        if words:
            self.tooltip = explain(*words)

    def show(self, state: CounterState) -> None:
        """Repaint if `state` looks different here."""
        self._state = state
        if self._painted is None or not self._painted.is_same(self._draw(state, self.size.width)):
            self.refresh()

    def render(self) -> Content:
        """What is painted."""
        self._painted = self._draw(self._state, self.size.width)
        return self._painted


class Panel(Widget):
    """Parts below each other, fed by `show`."""

    def __init__(
        self, parts: Sequence[Part], *, clock: Callable[[], float] = time.monotonic, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._parts = parts
        self._state = CounterState()
        self._repaints = Repaints(self._paint, clock, self.set_timer)

    def compose(self) -> ComposeResult:
        yield from self._parts

    def show(self, state: CounterState) -> None:
        """Show `state`, at the latest `REPAINT_SECONDS` from now."""
        self._state = state
        self._repaints.ask()

    def _paint(self) -> None:
        for part in self._parts:
            part.show(self._state)
