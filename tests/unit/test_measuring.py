"""What rounds say of time, on a clock that only the models, the sampling and the reader move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from specchat.models.decoding import prefill
from specchat.models.decoding.cost import PassCosts
from specchat.models.decoding.counters import count
from specchat.models.decoding.distribution import Distribution
from specchat.models.decoding.loop import Ending, Plan, SpeculativeDecoder
from specchat.models.decoding.model import Logits, Progress
from specchat.models.decoding.model_drafter import ModelDrafter
from specchat.models.decoding.pace import FixedPace
from specchat.models.decoding.round_cost import PlainCost, RoundCosts
from specchat.models.decoding.rounds import Round
from specchat.models.decoding.sampling import Row, SamplingChain
from specchat.models.decoding.verification import block_rule
from specchat.settings.values import Sampling
from support.clock import Clock, rule_decoding
from support.fake_models import FakeModel, random_logits

PROMPT = [1, 2, 3, 1, 2, 3, 4, 1, 2]
V = 6
PASS, DEARER = {1: 1.0, 2: 1.5, 4: 2.0}, 8.0
"""Seconds of a target pass by its width, and what it takes more where the one before had another."""
SAMPLING, PACE, READER = 0.25, 0.03125, 0.125
"""Seconds for a row of logits, for a plan, and of whoever takes the rounds. All sums are exact in binary."""
PLAIN = PlainCost(PASS[1], SAMPLING)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    rule_decoding(clock, monkeypatch)
    return clock


class Target(FakeModel):
    """Passes take `PASS`, as with a compute graph that is kept while the width stays the same."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(random_logits(1, V), V)
        self._clock = clock

    def evaluate(
        self, tokens: Sequence[int], rows: int, progress: Progress | None = None, *, padding: int = 0
    ) -> Logits:
        width = len(tokens) + padding
        changed = self.passes[-1:] != [width]
        self._clock.now += PASS.get(width, 0.0) + changed * DEARER
        return super().evaluate(tokens, rows, progress, padding=padding)


class Draft(FakeModel):
    """The target's twin, whose runs take what is scripted."""

    def __init__(self, clock: Clock, script: Sequence[float]) -> None:
        super().__init__(random_logits(1, V), V)
        self._clock = clock
        self._script = iter(script)

    def evaluate(
        self, tokens: Sequence[int], rows: int, progress: Progress | None = None, *, padding: int = 0
    ) -> Logits:
        self._clock.now += next(self._script)
        return super().evaluate(tokens, rows, progress, padding=padding)


class Chain(SamplingChain):
    """Takes `SAMPLING` for each row."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(Sampling(temperature=0))
        self._clock = clock

    def distribution(self, logits: Row, recent: Sequence[int]) -> Distribution:
        self._clock.now += SAMPLING
        return super().distribution(logits, recent)


@dataclass
class Passes(PassCosts):
    """Remembers what was added: width, depth, seconds."""

    clock: Clock
    added: list[tuple[int, int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.clock)

    def add(self, width: int, depth: int, seconds: float) -> None:
        self.added.append((width, depth, seconds))
        super().add(width, depth, seconds)


class Costs(RoundCosts):
    """Remembers what was added of the passes, and of the rest: rows, seconds."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.target: Passes = Passes(clock)
        self.draft: Passes = Passes(clock)
        self.rests: list[tuple[int, float]] = []

    def add_rest(self, rows: int, seconds: float) -> None:
        self.rests.append((rows, seconds))
        super().add_rest(rows, seconds)


def drafter(clock: Clock, costs: RoundCosts, script: Sequence[float]) -> ModelDrafter:
    """One that samples in no time."""
    chain = SamplingChain(Sampling(temperature=0))
    return ModelDrafter(Draft(clock, script), chain, np.random.default_rng(0), V, costs)


def write(clock: Clock, costs: RoundCosts, gammas: Sequence[int], script: Sequence[float] = ()) -> list[Round]:
    """A round for each of `gammas`, after a prompt that was read unmeasured."""
    target, chain = Target(clock), Chain(clock)
    prefill.read_prompt(target, PROMPT, chain, costs, measure=False)
    guessing, plans = drafter(clock, costs, script), iter(gammas)
    if script:
        guessing.catch_up(PROMPT)

    def plan() -> Plan:
        clock.now += PACE
        gamma = next(plans)
        return Plan(FixedPace(gamma, None, guessing) if gamma else None, block_rule)

    tokens = sum(gammas) + len(gammas)
    ending = Ending(tokens, lambda _token: False, (), lambda: False)
    rng = np.random.default_rng(1)
    decoder = SpeculativeDecoder(target, PROMPT, chain, rng, plan, lambda _token: b"x", ending, costs)
    rounds = []
    for step in decoder.steps():
        rounds.append(step.round)
        clock.now += READER
    return rounds


CATCHING_UP, FIRST, RUN = 0.125, 0.75, 0.0625
RUNS = [CATCHING_UP, FIRST, RUN, RUN, CATCHING_UP, CATCHING_UP, RUN, RUN]
"""Of the prompt, then of three guesses, one and three. Catching up with what was written isn't a run."""
DEPTH = len(PROMPT)


def test_the_parts_of_a_rounds_time(clock: Clock) -> None:
    rounds = write(clock, Costs(clock), [3, 0, 0, 1, 3], RUNS)
    assert [round.accepted for round in rounds] == [3, 0, 0, 1, 3]
    draft = [FIRST + 2 * RUN, 0, 0, CATCHING_UP, CATCHING_UP + 2 * RUN]
    verify = [DEARER + 2, DEARER + 1, 1, DEARER + 1.5, DEARER + 2]
    assert [round.seconds_draft for round in rounds] == draft
    assert [round.seconds_verify for round in rounds] == verify
    assert [round.seconds_sampling for round in rounds] == [SAMPLING * n for n in (4, 1, 1, 2, 4)]
    parts = [sum(three) for three in zip(draft, verify, (1, 0.25, 0.25, 0.5, 1), strict=True)]
    between = [PACE, *[PACE + READER] * 4]
    assert [round.seconds for round in rounds] == [a + b for a, b in zip(parts, between, strict=True)]
    assert count(rounds).seconds_other == sum(between)


def test_the_drafts_passes_are_measured_but_for_the_first_which_may_build_kernels(clock: Clock) -> None:
    costs = Costs(clock)
    write(clock, costs, [3, 0, 0, 1, 3], RUNS)
    one = [(1, DEPTH, RUN), (1, DEPTH + 1, RUN)]
    later = [(2, DEPTH + 6, CATCHING_UP), (1, DEPTH + 8, RUN), (1, DEPTH + 9, RUN)]
    assert costs.draft.added == [*one, (4, DEPTH + 2, CATCHING_UP), *later]


def test_a_drafts_run_is_one_that_reads_one_token(clock: Clock) -> None:
    rounds = write(clock, Costs(clock), [3, 0, 0, 1, 3], RUNS)
    assert [round.caught_up for round in rounds] == [0, 0, 0, 3, 1]
    run = pytest.approx(RUN, rel=0.02)
    assert [round.run_seconds for round in rounds] == [run, None, None, run, run]


def test_a_drafts_run_is_unknown_while_it_read_more_each_time(clock: Clock) -> None:
    script = [CATCHING_UP] * 4
    rounds = write(clock, Costs(clock), [1, 1, 1], script)
    assert [(round.caught_up, round.run_seconds) for round in rounds] == [(0, None), (1, None), (1, None)]


def test_plain_decodings_cost_leaves_out_the_first_of_several_plain_rounds(clock: Clock) -> None:
    costs = Costs(clock)
    script = [CATCHING_UP, *[0.0] * 8]
    rounds = write(clock, costs, [0, 0, 0, 3, 0, 3, 0, 0], script)
    wide = [(4, DEPTH + 6, DEARER + PASS[4]), (4, DEPTH + 11, DEARER + PASS[4])]
    assert costs.target.added == [(1, DEPTH + 1, 1.0), (1, DEPTH + 2, 1.0), *wide, (1, DEPTH + 13, 1.0)]
    assert costs.rests == [(rows, rows * SAMPLING) for rows in (1, 1, 4, 4, 1)]
    assert [round.plain_seconds for round in rounds] == [None, *[pytest.approx(PLAIN.seconds)] * 7]
    assert [round.pass_seconds for round in rounds] == [None, *[pytest.approx(PLAIN.pass_seconds)] * 7]


def test_plain_cost_stays_unknown_while_every_plain_round_is_a_lone_one(clock: Clock) -> None:
    rounds = write(clock, Costs(clock), [0, 3, 0, 3, 0], [CATCHING_UP, *[0.0] * 8])
    assert [(round.plain_seconds, round.pass_seconds) for round in rounds] == [(None, None)] * 5


def test_reading_the_prompt_measures_the_pass_and_the_sampling(clock: Clock) -> None:
    costs = Costs(clock)
    prefill.read_prompt(Target(clock), PROMPT, Chain(clock), costs, measure=True)
    assert costs.target.added == [(1, DEPTH - 1, PASS[1])] * 3
    assert costs.rests == [(1, SAMPLING)] * 3
    assert costs.plain(DEPTH) == PLAIN


def test_a_guesss_draw_and_a_reviews_comparisons_are_measured(clock: Clock) -> None:
    costs = RoundCosts(clock)
    guessing = ModelDrafter(Draft(clock, [FIRST, RUN, RUN, 0.1]), Chain(clock), np.random.default_rng(0), V, costs)
    guessing.propose(PROMPT, 3)
    assert costs.run(DEPTH) == pytest.approx(RUN + SAMPLING)
    guessing.learn([*PROMPT, 0, 0, 0])
    assert guessing.review([*PROMPT, 0, 0, 0], [0.5] * 2).read == 2
    known = costs.draft.seconds(2, DEPTH)
    assert known is not None
    assert costs.review(2, 2, DEPTH) == pytest.approx(known + 2 * SAMPLING)
