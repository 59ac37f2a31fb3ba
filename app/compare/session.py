"""A comparison while it is made: lends the chat's engine to the benchmark's runner, and makes the result of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field

from specchat.app.bench.document import Document
from specchat.app.bench.progress import TimeLeft
from specchat.app.bench.prompts import CHAT
from specchat.app.bench.recording import Recording
from specchat.app.bench.results import of_side
from specchat.app.bench.runner import Began, BenchEvent, LeftOut, Run, Runner, Stalled
from specchat.app.bench.sides import PLAIN, Side
from specchat.app.chats.records import StoreError
from specchat.app.chats.store import Store
from specchat.app.compare.difference import Difference, Word, describe, first_difference
from specchat.app.compare.document import Asked, Compared, Text, Told
from specchat.app.compare.order import Order, job_of
from specchat.app.compare.reason import reason_of
from specchat.app.conversation import Conversation
from specchat.app.history.archive import Archive, measurement
from specchat.models.decoding.counters import Tally
from specchat.models.decoding.rounds import Round
from specchat.models.engine import messages
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineDied, EngineFailure
from specchat.models.errors import CodedError

PLAIN_KEY = ""
"""Stands for the target alone where else a draft is named."""

SHOWN_WORDS = 3
"""Tokens that are told of where two replies part."""


@dataclass
class Live:
    """What a side is writing, or wrote last, and the rounds of all its replies so far."""

    text: str = ""
    current: Tally = field(default_factory=Tally)
    replies: int = 0

    def begin(self) -> None:
        """Another reply begins."""
        self.text, self.current = "", Tally()
        self.replies += 1


class Session:
    """One comparison. `run` makes it; all else may be looked at meanwhile."""

    def __init__(self, conversation: Conversation, store: Store, order: Order) -> None:
        self.order = order
        self.live: dict[str, Live] = {}
        """By draft; the target alone is `PLAIN_KEY`."""
        self.began: Began | None = None
        """The reply that is being written."""
        self.stage: messages.Progress | None = None
        """What is being loaded or read."""
        self.time = TimeLeft()
        self.told: list[CodedError | LeftOut | Stalled] = []
        """What a person must hear of."""
        self.result: Compared | None = None
        self.is_over = False
        self._conversation = conversation
        self._store = store
        self._job = job_of(order, conversation)
        self._recording: Recording | None = None
        self._runner: Runner | None = None
        self._differences: dict[Side, Difference | None] = {}
        self._is_complete = False

    async def run(self, changed: Callable[[], None]) -> None:
        """Write all replies, and keep what was measured, also where this is cancelled or fails.

        The engine is left with what the comparison loaded: `Conversation.load` and `read_again` bring the chat back.
        """
        try:
            async with self._conversation.lent() as engine:
                await self._measure(engine, changed)
            self._is_complete = True
        except EngineFailure as failure:
            self.told.append(failure)
        finally:
            self.began = self.stage = None
            await self._conclude()
            self.is_over = True
            changed()

    @property
    def is_greedy(self) -> bool:
        """Whether the likeliest token is always taken, so that texts can be compared."""
        return self._job.settings.sampling.temperature == 0

    async def _measure(self, engine: EngineClient, changed: Callable[[], None]) -> None:
        ready = await engine.start()
        self._recording = Recording(self._job, self.order.prompts, CHAT, ready)
        self._runner = Runner(engine, self._job)
        async with aclosing(self._runner.run()) as events:
            async for event in events:
                self._take(event)
                self._recording.add(event)
                if isinstance(event, Run) and self.is_greedy:
                    await self._differ(engine, event)
                changed()

    def _take(self, event: BenchEvent) -> None:
        self.time.take(event)
        match event:
            case messages.Progress():
                self.stage = event
            case messages.Prefilled() | messages.Loaded():
                self.stage = None
            case messages.Notice(code="draft_left_out"):
                pass  # said of a reply; here it is `LeftOut`
            case messages.Notice():
                self.told.append(CodedError(event.code, event.params))
            case LeftOut() | Stalled():
                self.told.append(event)
                if isinstance(event, Stalled):
                    self._live(event.step.side).begin()
            case Began():
                self.began = event
                self._live(event.step.side).begin()
            case messages.Written() if self.began:
                live = self._live(self.began.step.side)
                live.text += event.text
                live.current.add(event.round)
            case messages.Done() if self.began:
                self._live(self.began.step.side).text += event.text

    def _live(self, side: Side) -> Live:
        return self.live.setdefault(side.draft, Live())

    async def _differ(self, engine: EngineClient, run: Run) -> None:
        """Compare a reply of the first repeat with its counterpart, as long as the engine still holds it."""
        assert self._recording is not None
        if run.step.repeat or run.step.prompt != self.order.prompts[0]:
            return
        others = [
            other
            for other in self._recording.runs
            if (other.step.loaded, other.step.repeat, other.step.prompt) == (run.step.loaded, 0, run.step.prompt)
            and (other.step.side == PLAIN) != (run.step.side == PLAIN)
        ]
        for other in others:
            plain, drafted = (run, other) if run.step.side == PLAIN else (other, run)
            place = first_difference(plain, drafted)
            found = None if place is None else describe(plain, drafted, place, await _words(engine, place))
            self._differences[drafted.step.side] = found

    async def _conclude(self) -> None:
        """Make the result of what was written, and keep it."""
        if self._recording is None or self._runner is None or not self._recording.runs:
            return
        document = self._recording.document(self._runner.costs, {}, partial=not self._is_complete)
        runs = self._recording.runs
        self.result = Compared(
            measured=document,
            prompts=tuple(
                Asked(kind=prompt.kind, text=prompt.text, before=prompt.before) for prompt in self.order.prompts
            ),
            sides=tuple(self._told(document)),
            texts=tuple(Text(text=run.text) for run in runs),
        )
        kept = measurement(self.order.source, document, runs, self._recording.ready, self.result)
        try:
            await Archive(self._store).keep(kept)
        except StoreError as problem:
            self.told.append(problem)

    def _told(self, document: Document) -> list[Told]:
        assert self._recording is not None
        told = []
        for result in document.sides:
            side = Side(result.draft, result.gamma)
            on, off = of_side(self._recording.runs, side, tuple(result.kinds))
            reason = reason_of(_rounds(on), _rounds(off))
            difference = self._differences.get(side)
            same = difference is None if side in self._differences else None
            told.append(Told(draft=side.draft, gamma=side.gamma, reason=reason, difference=difference, same_text=same))
        return told


async def _words(engine: EngineClient, place: int) -> tuple[Word, ...]:
    """The likeliest tokens at a place of the reply that was written last; none where they aren't known any more."""
    try:
        found = await engine.look(place)
    except EngineDied:
        raise
    except EngineFailure:
        return ()
    known = ((word.piece.decode("utf-8", "replace"), word.logit) for word in found.words)
    words = [Word(text, logit) for text, logit in known if logit is not None]
    return tuple(sorted(words, key=lambda word: -word.logit)[:SHOWN_WORDS])


def _rounds(runs: Iterable[Run]) -> Iterable[Round]:
    return (round for run in runs for round in run.rounds)
