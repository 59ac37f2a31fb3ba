"""Adds up a reply's rounds as they come, for the counter. Nothing here is done per token."""

from __future__ import annotations

from dataclasses import replace

from specchat.app.conversation import Conversation
from specchat.app.reasons import SteadyReason
from specchat.app.widgets.panel import CounterState
from specchat.app.widgets.speedline import SpeedSamples
from specchat.models.decoding.counters import Counters, Tally
from specchat.models.decoding.rounds import Round
from specchat.models.engine.messages import ModelInfo


class Counting:
    """The figures of the reply that is being written, or of the last one."""

    def __init__(self, conversation: Conversation) -> None:
        self.stage = ""
        """What is being waited for, in words."""
        self._conversation = conversation
        self._reply: Tally | None = None
        self._target: ModelInfo | None = None
        """What wrote that reply."""
        self._prompt = 0
        self._samples = SpeedSamples()
        self._reason = SteadyReason()

    def begin(self, prompt: int) -> None:
        """A reply to a prompt of so many tokens begins."""
        self._reply = Tally()
        self._prompt = prompt
        self._target = self._conversation.loaded.target if self._conversation.loaded else None

    def add(self, round: Round) -> None:
        """It has one round more."""
        assert self._reply is not None
        self._reply.add(round)
        self._samples.add(round)
        self._reason.add(round)

    def end(self) -> None:
        """It has ended; its figures stay."""
        self._samples.end_reply()

    def forget(self) -> None:
        """Another chat is open."""
        self._reply = None
        self._reason = SteadyReason()

    @property
    def state(self) -> CounterState:
        """All that the counter shows."""
        now = self._conversation
        reply = self._reply.counters() if self._reply else None
        state = CounterState(
            speculation=now.speculation,
            drafter=now.guessing,
            reply=reply,
            context=self._context(reply),
            now=self._samples.now,
            samples=self._samples.samples,
            session_on=_unless_empty(now.on.counters()),
            session_off=_unless_empty(now.off.counters()),
            stage=self.stage,
        )
        return replace(state, reason=self._reason.line(is_on=state.is_on))

    def _context(self, reply: Counters | None) -> float | None:
        """Which part of the context the prompt and the reply fill, if it is still theirs."""
        loaded = self._conversation.loaded
        if reply is None or loaded is None or loaded.target != self._target:
            return None
        return min((self._prompt + reply.tokens) / loaded.target.ctx, 1.0)


def _unless_empty(counters: Counters) -> Counters | None:
    return counters if counters.tokens else None
