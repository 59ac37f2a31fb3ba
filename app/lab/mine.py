"""What was measured on this machine, as far as the Lab shows it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from specchat.app.chats.records import Message, Step
from specchat.app.conversation import Conversation
from specchat.app.display import clean
from specchat.models.decoding.cost import CostTable
from specchat.models.decoding.counters import Counters, count
from specchat.models.engine.messages import Position

ENOUGH = 3
"""Measurements from which on the cost of a width is shown: one pass alone may be far off."""


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """What a comparison found: the speed-up over plain decoding with `gamma` guesses a round."""

    gamma: int
    speedup: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of the chat: its beginning, safe to show, and its rounds."""

    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Mine:
    """All of it. Replies are in the order of the chat; `look` asks the engine about a token of the last one."""

    target: CostTable | None = None
    draft: CostTable | None = None
    replies: Sequence[Reply] = ()
    points: list[MeasuredPoint] = field(default_factory=list)
    """Of the pair that is loaded. They may come later."""
    look: Callable[[int], Awaitable[Position]] | None = None
    last_tokens: int = 0
    """Tokens of the reply that `look` knows."""

    @cached_property
    def passes(self) -> dict[int, float]:
        """V(n) in milliseconds by n, as measured; empty without V(1)."""
        found = _milliseconds(self.target)
        return dict(sorted(found.items())) if 1 in found else {}

    @cached_property
    def counters(self) -> Counters:
        """The figures of all the replies' rounds."""
        return count(step.round for reply in self.replies for step in reply.steps)

    @property
    def alpha(self) -> float | None:
        """α, as the replies' rounds show it."""
        return self.counters.alpha

    @property
    def c(self) -> float | None:
        """Seconds of a draft run ÷ those of a pass over one token."""
        if self.counters.c is not None:
            return self.counters.c
        runs = _milliseconds(self.draft)
        return runs[1] / self.passes[1] if 1 in runs and self.passes else None

    def pass_cost(self, width: int) -> float:
        """V(`width`) ÷ V(1): measured, or on the straight line between the measured widths around it."""
        import numpy as np

        known = list(self.passes)
        if width <= known[-1]:
            return float(np.interp(width, known, list(self.passes.values()))) / self.passes[1]
        return self.passes[known[-1]] / self.passes[1] * width / known[-1]


def measurements(conversation: Conversation) -> Mine:
    """What is known in a chat that is open. The engine is asked about the last reply alone, if that is the chat's."""
    target, draft = conversation.costs.known
    return Mine(
        target,
        draft,
        replies_of(conversation.messages),
        look=conversation.look,
        last_tokens=conversation.last_tokens,
    )


def replies_of(messages: Sequence[Message]) -> list[Reply]:
    """The replies among a chat's messages that have rounds to show."""
    return [
        Reply(" ".join(clean(message.content[:200]).split()), message.steps)
        for message in messages
        if message.role == "assistant" and message.steps
    ]


def _milliseconds(table: CostTable | None) -> dict[int, float]:
    return {cost.width: 1000 * cost.seconds for cost in table.widths if cost.count >= ENOUGH} if table else {}
