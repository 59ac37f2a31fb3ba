"""What the history tells: measured comparisons, and sums of ordinary chats. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from specchat.app.bench.intervals import Verdict
from specchat.app.chats.records import Setup
from specchat.models.decoding.counters import Counters

Source = Literal["compare", "tournament", "bench"]
"""Where a measurement was made: on the compare screen, there with several drafts, or by `specchat bench`."""

Guesser = Literal["model", "lookup", "both", "none"]
"""Who guessed: the draft model, lookup in the text, either in turns, or nobody."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a draft brought in one measurement, for one kind of prompt or (with an empty `kind`) for all of them."""

    bench: int
    """The measurement's number in the database."""
    source: Source
    when: datetime
    partial: bool
    """It ended before all replies were written."""
    setup: Setup
    """Its draft is the one that guessed, empty for lookup alone."""
    guesser: Guesser
    gamma: str
    kind: str
    temperature: float
    speed_up: float | None
    low: float | None
    high: float | None
    """Ends of the 95 % interval; None where nothing was repeated."""
    pairs: int
    verdict: Verdict
    on: Counters
    """Of all compared replies with the draft."""
    off: Counters
    """Of the plain ones they were compared with."""


@dataclass(frozen=True, slots=True)
class ChatSums:
    """All rounds of ordinary chats by one setup, drafter and kind of prompt, with speculation on and off apart.

    The texts were different ones, so the two speeds are no measurement.
    """

    setup: Setup
    guesser: Guesser
    kind: str
    replies: int
    when: datetime
    """Of the latest reply."""
    on: Counters
    off: Counters


@dataclass(frozen=True, slots=True)
class History:
    """All of it: measurements with the latest first, and sums of chats with the most tokens first."""

    entries: tuple[Entry, ...]
    chats: tuple[ChatSums, ...]
