"""Runs a benchmark's replies through the engine, one after the other, and hands their rounds on.

Nothing is printed and nothing is counted here: the figures are `specchat.models.decoding.counters`'.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from specchat.app.bench.sides import PLAIN, Step
from specchat.models.decoding.cost import CostTable
from specchat.models.decoding.rounds import Round, StopReason
from specchat.models.engine import messages
from specchat.models.engine.client import EngineClient
from specchat.settings.values import Settings, Speculation

WARM_UP_TOKENS = 32
"""Length of the reply that is written after each load and not counted: first passes are dearer than later ones."""

TRIES = 3
"""How often a reply is written at most."""
STALL_SECONDS = 2.0
FEW_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Job:
    """The replies to be written, and how. γ and whether there is speculation at all are the steps', not `settings`'."""

    target: str
    steps: tuple[Step, ...]
    settings: Settings
    max_tokens: int
    seed: int
    """The first repeat's. Each later repeat has the next number, the same for all sides."""
    fresh: bool = True
    """Whether both models forget everything before each reply; if not, reading a prompt again takes no time."""


@dataclass(frozen=True, slots=True)
class Began:
    """A reply begins: the `number`-th of `total`. The one that warms up has the number 0."""

    step: Step
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """No reply is written with this draft: the engine refused it, and a `Notice` said why."""

    draft: str


@dataclass(frozen=True, slots=True)
class Stalled:
    """The machine stood still during a reply (see `is_stalled`), so the reply is written anew."""

    step: Step


@dataclass(frozen=True, slots=True)
class Run:
    """A reply that was written to its end. Reading the prompt took `prefill_seconds`, which are in no round."""

    step: Step
    seed: int
    rounds: tuple[Round, ...]
    prompt_tokens: int
    prefill_seconds: float
    stop_reason: StopReason
    text: str = ""
    """What was written. Raw."""

    @property
    def first_token_seconds(self) -> float | None:
        """From the prompt to the end of the first round; None where nothing was written."""
        return self.prefill_seconds + self.rounds[0].seconds if self.rounds else None


BenchEvent = messages.Event | Began | LeftOut | Stalled | Run


class Runner:
    """One benchmark on an engine that nothing else uses meanwhile."""

    def __init__(self, engine: EngineClient, job: Job) -> None:
        self.costs: dict[str, CostTable] = {}
        """What passes of each model cost, by its path, as far as the engine has told."""
        self._engine = engine
        self._job = job
        self._loaded: str | None = None
        """The draft's file that is loaded; None before the first load."""
        self._done = 0

    async def run(self) -> AsyncGenerator[BenchEvent, None]:
        """Do all steps: gives what the engine says as it comes, `Began` before each reply and `Run` after it.

        A reply that was stopped is no `Run`. Raises `EngineFailure`. Leaving the iteration early (close it, or
        cancel) stops the reply at hand.
        """
        self._engine.on_measured = self._keep_costs
        steps = list(self._job.steps)
        while steps:
            file = steps[0].loaded
            is_new = file != self._loaded
            if is_new:
                async with aclosing(self._load(file)) as loading:
                    async for told in loading:
                        yield told
            if refused := self._refused({step.side.draft for step in steps}, file):
                for draft in refused:
                    yield LeftOut(draft)
                steps = without(steps, refused)
                continue
            count = next((i for i, step in enumerate(steps) if step.loaded != file), len(steps))
            async with aclosing(self._write(steps[:count], len(steps), warm_up=is_new)) as written:
                async for event in written:
                    yield event
            del steps[:count]

    async def _load(self, file: str) -> AsyncGenerator[messages.Event, None]:
        settings, target = self._job.settings, self._job.target
        self._loaded = file
        events = self._engine.load(
            messages.ModelFile(target, settings.target),
            messages.ModelFile(file, settings.draft) if file else None,
            target_costs=self.costs.get(target),
            draft_costs=self.costs.get(file),
        )
        async with aclosing(events):
            async for event in events:
                if isinstance(event, messages.Loaded) and not event.target.can_roll_back:
                    yield messages.Notice("no_rollback", {"path": target})
                yield event

    def _refused(self, drafts: Iterable[str], file: str) -> list[str]:
        """Those of `drafts` that can't guess, as far as the load of `file` shows."""
        loaded = self._engine.loaded
        if loaded is None:  # the process is lost, and the next request says so
            return []
        if not loaded.target.can_roll_back:
            return sorted(draft for draft in drafts if draft)
        return [file] if file and loaded.draft is None else []

    async def _write(self, steps: Sequence[Step], left: int, *, warm_up: bool) -> AsyncGenerator[BenchEvent, None]:
        """Write the replies of `steps`, the first of `left` that are to be written."""
        total = self._done + left
        if warm_up:
            first = next((step for step in steps if step.side != PLAIN), steps[0])
            yield Began(first, 0, total)
            async with aclosing(self._reply(first, min(WARM_UP_TOKENS, self._job.max_tokens))) as events:
                async for event in events:
                    if not isinstance(event, Run):
                        yield event
        for step in steps:
            self._done += 1
            yield Began(step, self._done, total)
            async with aclosing(self._undisturbed(step)) as undisturbed:
                async for told in undisturbed:
                    yield told

    async def _undisturbed(self, step: Step) -> AsyncGenerator[messages.Event | Stalled | Run, None]:
        """Write a reply, and anew if the machine stood still meanwhile; the last try counts whatever it is."""
        for left in reversed(range(TRIES)):
            stalled = False
            async with aclosing(self._reply(step, self._job.max_tokens)) as events:
                async for event in events:
                    stalled = isinstance(event, Run) and left > 0 and is_stalled(event)
                    yield Stalled(step) if stalled else event
            if not stalled:
                return

    async def _reply(self, step: Step, max_tokens: int) -> AsyncGenerator[messages.Event | Run, None]:
        seed = self._job.seed + step.repeat
        prefilled: messages.Prefilled | None = None
        rounds: list[Round] = []
        text = ""
        async with aclosing(self._generate(step, seed, max_tokens)) as events:
            async for event in events:
                yield event
                match event:
                    case messages.Prefilled():
                        prefilled = event
                    case messages.Written():
                        rounds.append(event.round)
                        text += event.text
                    case messages.Done(stop_reason=reason) if prefilled and reason != "cancelled":
                        text += event.text
                        yield Run(step, seed, tuple(rounds), prefilled.tokens, prefilled.seconds, reason, text)

    def _generate(self, step: Step, seed: int, max_tokens: int) -> AsyncGenerator[messages.Event, None]:
        settings = self._job.settings
        said = [*step.prompt.before, messages.ChatMessage("user", step.prompt.text)]
        if settings.reply.system:
            said.insert(0, messages.ChatMessage("system", settings.reply.system))
        return self._engine.generate(
            tuple(said),
            sampling=replace(settings.sampling, seed=seed),
            speculation=Speculation(step.side != PLAIN, step.side.gamma, settings.speculation.rule),
            drafter=step.side.drafter,
            max_tokens=max_tokens,
            fresh=self._job.fresh,
        )

    def _keep_costs(self, load: messages.Load, measured: messages.Measured) -> None:
        self.costs[load.target.path] = measured.target
        if load.draft and measured.draft:
            self.costs[load.draft.path] = measured.draft


def is_stalled(run: Run) -> bool:
    """Whether one round took seconds, and longer than all the others together: no draft does that, nor its lack.

    A machine that slept does, or another program that took it over. A reply of few rounds says nothing.
    """
    seconds = [round.seconds for round in run.rounds]
    return len(seconds) >= FEW_ROUNDS and max(seconds) > max(STALL_SECONDS, sum(seconds) / 2)


def without(steps: Iterable[Step], refused: Sequence[str]) -> list[Step]:
    """`steps` but for those with these drafts, and but for plain ones that nothing is left to compare with."""
    kept = [
        replace(step, loaded="" if step.loaded in refused else step.loaded)
        for step in steps
        if step.side.draft not in refused
    ]
    compared = {(step.loaded, step.repeat) for step in kept if step.side != PLAIN}
    return [step for step in kept if (step.loaded, step.repeat) in compared]
