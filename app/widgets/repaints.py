"""How often the screen is painted while a reply is written."""

from __future__ import annotations

from collections.abc import Callable

REPAINT_SECONDS = 1 / 12
"""Each repaint takes its time from the engine where that uses all cores, so there are no more of them than it takes to
show a round within 100 ms. Textual adds up to a sixtieth of a second."""


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
