"""When a process that says nothing counts as stuck."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from specchat.models.engine.messages import Event, Failed, Loaded, Prefilled, Progress, Ready, Written

SLOWER = 20
"""A round may take this many times the longest of the latest ones."""
LATEST = 16
"""Rounds that count as the latest."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a process with something to do may say nothing: while it starts or loads, and later.

    The former is slower, since files come from a cold disk and drivers compile their kernels at the first pass.
    """

    start: float = 120.0
    work: float = 30.0


class Silence:
    """How long a process has said nothing although it should."""

    def __init__(self, patience: Patience) -> None:
        self.seconds = 0.0
        self._patience = patience
        self._is_starting = True
        self._rounds: deque[float] = deque(maxlen=LATEST)

    @property
    def limit(self) -> float:
        """Seconds after which it is too long."""
        if self._is_starting:
            return self._patience.start
        return max(self._patience.work, SLOWER * max(self._rounds, default=0.0))

    def broken(self, event: Event) -> None:
        """The process said something, and perhaps how long its rounds take."""
        self.seconds = 0.0
        match event:
            case Progress(stage="target" | "draft"):
                self._is_starting = True
            case Ready() | Loaded() | Failed():
                self._is_starting = False
            case Prefilled(pass_seconds=float() as seconds):
                self._rounds.append(seconds)
            case Written():
                self._rounds.append(event.round.seconds)

    def lasted(self, seconds: float, *, is_busy: bool) -> None:
        """Nothing was heard for `seconds` more. A process with nothing to do may be silent."""
        self.seconds = self.seconds + seconds if is_busy else 0.0
