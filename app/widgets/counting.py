"""Adds up a reply's rounds as they come, for the counter. Nothing here is done per token."""

from __future__ import annotations

from specchat.app.conversation import Conversation
from specchat.app.widgets.panel import CounterState
from specchat.app.widgets.speedline import SpeedSamples
from specchat.models.decoding.counters import Counters, Tally
from specchat.models.decoding.rounds import Round


class Counting:
    """The figures of the reply that is being written, or of the last one."""

    def __init__(self, conversation: Conversation) -> None:
        self.stage = ""
        """What is being waited for, in words."""
        self._conversation = conversation
        self._reply: Tally | None = None
        self._samples = SpeedSamples()

    def begin(self) -> None:
        """A reply begins."""
        self._reply = Tally()

    def add(self, round: Round) -> None:
        """It has one round more."""
        assert self._reply is not None
        self._reply.add(round)
        self._samples.add(round)

    def end(self) -> None:
        """It has ended; its figures stay."""
        self._samples.end_reply()

    def forget(self) -> None:
        """Another chat is open."""
        self._reply = None

    @property
    def state(self) -> CounterState:
        """All that the counter shows."""
        now = self._conversation
        return CounterState(
            speculation=now.speculation,
            drafter=now.drafter,
            reply=self._reply.counters() if self._reply else None,
            now=self._samples.now,
            samples=self._samples.samples,
            session_on=_unless_empty(now.on.counters()),
            session_off=_unless_empty(now.off.counters()),
            stage=self.stage,
        )


def _unless_empty(counters: Counters) -> Counters | None:
    return counters if counters.tokens else None
