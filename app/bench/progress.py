"""The line that says how far a benchmark is, and how long it will still take."""

from __future__ import annotations

import time
from collections.abc import Callable

from specchat.app.bench.prompts import kind_name
from specchat.app.bench.report import draft_name, gamma_name
from specchat.app.bench.runner import Began, BenchEvent, Run, Stalled
from specchat.app.bench.sides import Side
from specchat.app.figures import number
from specchat.app.live import LiveLine
from specchat.app.words import _
from specchat.models.decoding.counters import Tally
from specchat.models.engine import messages


class ProgressLine:
    """Shows what the runner yields on one line of a terminal, and nothing where there is none."""

    def __init__(self, line: LiveLine, clock: Callable[[], float] = time.monotonic) -> None:
        self._line = line
        self._began: Began | None = None
        self._time = TimeLeft(clock)
        self._tally = Tally()

    def show(self, event: BenchEvent) -> None:
        """Take in an event, and show how far things are."""
        match event:
            case messages.Progress(stage="prefill"):
                pass
            case messages.Progress():
                share = event.done / max(event.total, 1)
                self._line.paint(lambda: _STAGES[event.stage]().format(share=share))
                return
            case Began():
                self._began, self._tally = event, Tally()
            case messages.Written():
                self._tally.add(event.round)
            case Stalled():
                self._tally = Tally()
        self._time.take(event)
        if self._began:
            self._line.paint(self._describe)

    def hashing(self, done: int, total: int) -> None:
        """Show how far the model files are read."""
        self._line.paint(lambda: _("computing checksums: {share:.0%}").format(share=done / max(total, 1)))

    def clear(self) -> None:
        """Take the line away."""
        self._line.clear()

    def _describe(self) -> str:
        assert self._began is not None
        step = self._began.step
        if not self._began.number:
            return _("warming up: {side}").format(side=_side(step.side))
        parts = [
            _("{number} of {total}").format(number=self._began.number, total=self._began.total),
            *filter(None, [self._time.left]),
            _side(step.side),
            kind_name(step.prompt.kind),
            _("{speed} tok/s").format(speed=number(self._tally.counters().tokens_per_second)),
        ]
        return " · ".join(parts)


class TimeLeft:
    """How long the replies that are left will take: as long as those before took, each."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start: float | None = None
        """When the first reply that counts began."""
        self._done = self._remaining = 0

    def take(self, event: BenchEvent) -> None:
        """Take in an event."""
        match event:
            case Began(number=number, total=total) if number:
                self._remaining = total - number + 1
                if self._start is None:
                    self._start = self._clock()
            case Run():
                self._done += 1

    @property
    def left(self) -> str:
        """In words; empty before a reply is done."""
        if self._start is None or not self._done:
            return ""
        return duration_left((self._clock() - self._start) / self._done * self._remaining)


def duration_left(seconds: float) -> str:
    """How long something will still take, roughly."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return _("{seconds:.0f} s left").format(seconds=seconds)
    if minutes < 90:
        return _("{minutes} min left").format(minutes=minutes)
    return _("{hours} h {minutes} min left").format(hours=minutes // 60, minutes=minutes % 60)


def _side(side: Side) -> str:
    if not side.draft:
        return _("without")
    return _("{draft}, γ {gamma}").format(draft=draft_name(side.draft), gamma=gamma_name(side.gamma))


_STAGES = {
    "target": lambda: _("loading the target: {share:.0%}"),
    "draft": lambda: _("loading the draft: {share:.0%}"),
}
