"""A first look at the models: what it measures, when it ends, and that it leaves no trace but the costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from specchat.models.decoding.model import ContextFull
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.engine import first_look as module
from specchat.models.engine.first_look import PASSES, SECONDS, SURE, first_look
from support.clock import Clock
from support.fake_models import FakeModel, TimedModel, random_logits

V = 8
TARGET, DRAFT = [1, 1, 4, 8, 16, 2, 3, 6, 12, 32], [1, 1, 16]
"""Widths of the passes of a whole look. The first of one token builds its graph and isn't measured."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=clock, perf_counter=clock))
    return clock


def timed(clock: Clock, pass_seconds: float, token_seconds: float = 0.0, **options: int) -> TimedModel:
    return TimedModel(random_logits(1, V), V, clock, lambda width: pass_seconds + token_seconds * width, **options)


def pair_of(target: FakeModel, draft: FakeModel | None = None, clock: Clock | None = None) -> Any:
    def loaded(context: FakeModel) -> SimpleNamespace:
        tokenizer = SimpleNamespace(encode=lambda _text, special: [1, 2, 3] * 20 if not special else [])
        return SimpleNamespace(context=context, tokenizer=tokenizer)

    costs = RoundCosts(clock or Clock())
    return SimpleNamespace(target=loaded(target), draft=draft and loaded(draft), costs=costs)


def look(pair: Any, is_wanted: Callable[[], bool] = lambda: True) -> int:
    """Look as long as it lasts; the number of steps."""
    return len(list(first_look(pair, is_wanted)))


def test_a_look_on_a_quick_machine_measures_every_width_of_interest(clock: Clock) -> None:
    target, draft = timed(clock, 0.01, 0.001), timed(clock, 0.002, 0.0005)
    pair = pair_of(target, draft, clock)
    look(pair)
    assert (target.passes, draft.passes) == (TARGET, DRAFT)
    for width in set(TARGET):
        assert pair.costs.target.seconds(width, 0) == pytest.approx(0.01 + 0.001 * width, rel=0.1)
        assert pair.costs.target.count(width) == 1
    assert pair.costs.draft.seconds(1, 0) == pytest.approx(0.0025, rel=0.1)
    assert pair.costs.draft.seconds(16, 0) == pytest.approx(0.01, rel=0.1)


def test_it_ends_after_its_time(clock: Clock) -> None:
    target, draft = timed(clock, 0.1), timed(clock, 0.02)
    look(pair_of(target, draft, clock))
    assert clock.now == pytest.approx(SECONDS, abs=0.15)
    assert target.passes[:4] == TARGET[:4]
    assert draft.passes == DRAFT


def test_but_not_before_some_passes(clock: Clock) -> None:
    target = timed(clock, 10.0)
    look(pair_of(target, clock=clock))
    assert target.passes == TARGET[:PASSES]


def test_it_goes_in_steps_of_a_pass_or_two(clock: Clock) -> None:
    target = timed(clock, 0.001)
    looking = first_look(pair_of(target, clock=clock), lambda: True)
    seen = [len(target.passes) for _ in looking]
    assert seen == [2, 3, 4, 5, 6, 7, 8, 9, 10]


def test_what_is_known_well_is_not_measured_again_but_for_one_token(clock: Clock) -> None:
    target = timed(clock, 0.001)
    pair = pair_of(target, clock=clock)
    for width in TARGET:
        for _ in range(SURE - (width == 8)):
            pair.costs.target.add(width, 0, 0.001)
    look(pair)
    assert target.passes == [1, 1, 8]


def test_what_the_models_hold_is_kept_and_measured_at_its_depth(clock: Clock) -> None:
    target, draft = timed(clock, 0.001), timed(clock, 0.001)
    held = [5, 6, 7] * 30
    for model in (target, draft):
        model.tokens.extend(held)
    pair = pair_of(target, draft, clock)
    look(pair)
    assert target.tokens == draft.tokens == held
    assert pair.costs.is_fresh(len(held))


@pytest.mark.parametrize("answers", [0, 1, 2, 3, 4, 5])
def test_it_is_dropped_inside_a_pass_and_leaves_the_memories_as_they_were(clock: Clock, answers: int) -> None:
    target, draft = timed(clock, 0.001), timed(clock, 0.001)
    for model in (target, draft):
        model.tokens.extend([5, 6, 7])
    left = iter([True] * answers)
    look(pair_of(target, draft, clock), lambda: next(left, False))
    assert len(target.passes) + len(draft.passes) == answers
    assert target.tokens == draft.tokens == [5, 6, 7]


def test_a_model_that_cannot_roll_back_is_looked_at_only_while_it_holds_nothing(clock: Clock) -> None:
    target = timed(clock, 0.001, can_roll_back=False)
    look(pair_of(target, clock=clock))
    assert (target.passes, target.tokens) == (TARGET, [])
    target.tokens.extend([5, 6, 7])
    look(pair_of(target, clock=clock))
    assert (target.passes, target.tokens) == (TARGET, [5, 6, 7])


def test_a_full_context_ends_it(clock: Clock) -> None:
    target = timed(clock, 0.001, n_ctx=10)
    target.tokens.extend([5] * 5)
    look(pair_of(target, clock=clock))
    assert (target.passes, target.tokens) == ([1, 1, 4], [5] * 5)


def test_a_model_that_fails_ends_it(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_tokens: Sequence[int], *_arguments: object) -> None:
        raise ContextFull

    target = timed(clock, 0.001)
    monkeypatch.setattr(target, "evaluate", fail)
    assert look(pair_of(target, clock=clock)) == 0
