"""What rounds say of time, on a clock that only the models, the sampling and the reader move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from specchat.models.decoding import drafters, loop, prefill
from specchat.models.decoding.cost import PlainCost, PlainCosts
from specchat.models.decoding.counters import count
from specchat.models.decoding.distribution import Distribution
from specchat.models.decoding.drafters import ModelDrafter
from specchat.models.decoding.loop import Ending, Plan, SpeculativeDecoder
from specchat.models.decoding.model import Logits, Progress
from specchat.models.decoding.rounds import Round
from specchat.models.decoding.sampling import Row, SamplingChain
from specchat.models.decoding.verification import block_rule
from specchat.settings.values import Sampling
from support.fake_models import FakeModel, random_logits

PROMPT = [1, 2, 3, 1, 2, 3, 4, 1, 2]
V = 6
PASS, DEARER = {1: 1.0, 2: 1.5, 4: 2.0}, 8.0
"""Seconds of a target pass by its width, and what it takes more where the one before had another."""
SAMPLING, PACE, READER = 0.25, 0.03125, 0.125
"""Seconds for a row of logits, for a plan, and of whoever takes the rounds. All sums are exact in binary."""
PLAIN = PlainCost(PASS[1], SAMPLING)


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (loop, prefill, drafters):
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=clock))
    return clock


class Target(FakeModel):
    """Passes take `PASS`, as with a compute graph that is kept while the width stays the same."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(random_logits(1, V), V)
        self._clock = clock

    def evaluate(self, tokens: Sequence[int], rows: int, progress: Progress | None = None) -> Logits:
        changed = self.passes[-1:] != [len(tokens)]
        self._clock.now += PASS.get(len(tokens), 0.0) + changed * DEARER
        return super().evaluate(tokens, rows, progress)


class Draft(FakeModel):
    """The target's twin, whose runs take what is scripted."""

    def __init__(self, clock: Clock, script: Sequence[float]) -> None:
        super().__init__(random_logits(1, V), V)
        self._clock = clock
        self._script = iter(script)

    def evaluate(self, tokens: Sequence[int], rows: int, progress: Progress | None = None) -> Logits:
        self._clock.now += next(self._script)
        return super().evaluate(tokens, rows, progress)


class Chain(SamplingChain):
    """Takes `SAMPLING` for each row."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(Sampling(temperature=0))
        self._clock = clock

    def distribution(self, logits: Row, recent: Sequence[int]) -> Distribution:
        self._clock.now += SAMPLING
        return super().distribution(logits, recent)


@dataclass
class Costs(PlainCosts):
    """Remembers what was added."""

    clock: Clock
    added: list[tuple[int, PlainCost]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.clock)

    def add(self, depth: int, cost: PlainCost) -> None:
        self.added.append((depth, cost))
        super().add(depth, cost)


def drafter(clock: Clock, script: Sequence[float]) -> ModelDrafter:
    """One that samples in no time."""
    return ModelDrafter(Draft(clock, script), SamplingChain(Sampling(temperature=0)), np.random.default_rng(0), V)


def write(clock: Clock, costs: PlainCosts, gammas: Sequence[int], script: Sequence[float] = ()) -> list[Round]:
    """A round for each of `gammas`, after a prompt that was read unmeasured."""
    target, chain = Target(clock), Chain(clock)
    prefill.read_prompt(target, PROMPT, chain, costs, measure=False)
    guessing, plans = drafter(clock, script), iter(gammas)
    if script:
        guessing.catch_up(PROMPT)

    def pace() -> Plan:
        clock.now += PACE
        return Plan(next(plans), guessing, block_rule)

    tokens = sum(gammas) + len(gammas)
    ending = Ending(tokens, lambda _token: False, (), lambda: False)
    rng = np.random.default_rng(1)
    decoder = SpeculativeDecoder(target, PROMPT, chain, rng, pace, lambda _token: b"x", ending, costs)
    rounds = []
    for step in decoder.steps():
        rounds.append(step.round)
        clock.now += READER
    return rounds


CATCHING_UP = 0.5
RUNS = [CATCHING_UP, 0.75, 0.0625, 0.125, CATCHING_UP, CATCHING_UP, 0.5, 0.25]
"""Of the prompt, then of three guesses, one and three. Catching up with what was written isn't a run."""


def test_the_parts_of_a_rounds_time(clock: Clock) -> None:
    rounds = write(clock, Costs(clock), [3, 0, 0, 1, 3], RUNS)
    assert [round.accepted for round in rounds] == [3, 0, 0, 1, 3]
    draft = [0.75 + 0.0625 + 0.125, 0, 0, CATCHING_UP, CATCHING_UP + 0.5 + 0.25]
    verify = [DEARER + 2, DEARER + 1, 1, DEARER + 1.5, DEARER + 2]
    assert [round.seconds_draft for round in rounds] == draft
    assert [round.seconds_verify for round in rounds] == verify
    assert [round.seconds_sampling for round in rounds] == [SAMPLING * n for n in (4, 1, 1, 2, 4)]
    parts = [sum(three) for three in zip(draft, verify, (1, 0.25, 0.25, 0.5, 1), strict=True)]
    between = [PACE, *[PACE + READER] * 4]
    assert [round.seconds for round in rounds] == [a + b for a, b in zip(parts, between, strict=True)]
    assert count(rounds).seconds_other == sum(between)


def test_a_drafts_run_is_the_median_of_those_that_read_one_token(clock: Clock) -> None:
    rounds = write(clock, Costs(clock), [3, 0, 0, 1, 3], RUNS)
    assert [round.caught_up for round in rounds] == [0, 0, 0, 3, 1]
    assert [round.run_seconds for round in rounds] == [0.125, None, None, 0.125, 0.375]


def test_plain_decodings_cost_leaves_out_the_first_of_several_plain_rounds(clock: Clock) -> None:
    costs = Costs(clock)
    script = [CATCHING_UP, *[0.0] * 8]
    rounds = write(clock, costs, [0, 0, 0, 3, 0, 3, 0, 0], script)
    depth = len(PROMPT)
    assert costs.added == [(depth + 2, PLAIN), (depth + 3, PLAIN), (depth + 14, PLAIN)]
    known = [None, *[PLAIN] * 7]
    assert [round.plain_seconds for round in rounds] == [cost and cost.seconds for cost in known]
    assert [round.pass_seconds for round in rounds] == [cost and cost.pass_seconds for cost in known]


def test_plain_cost_stays_unknown_while_every_plain_round_is_a_lone_one(clock: Clock) -> None:
    rounds = write(clock, Costs(clock), [0, 3, 0, 3, 0], [CATCHING_UP, *[0.0] * 8])
    assert [(round.plain_seconds, round.pass_seconds) for round in rounds] == [(None, None)] * 5


def test_reading_the_prompt_measures_the_pass_and_the_sampling(clock: Clock) -> None:
    costs = Costs(clock)
    prefill.read_prompt(Target(clock), PROMPT, Chain(clock), costs, measure=True)
    assert costs.added == [(len(PROMPT) - 1, PLAIN)] * 3
