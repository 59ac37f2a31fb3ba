"""Whether one more guess pays: against brute force, and by what it may know."""

from __future__ import annotations

import random

import pytest

from specchat.models.decoding.calibration import Calibration
from specchat.models.decoding.paying import PayingSteps, Prices

STEP = Prices(rounds=(1.0, 1.9, 2.0, 2.1, 2.1, 4.0), run=0.1, token=1.0)
"""A second token is dear, three more are nearly free."""


def brute_force(prices: Prices, made: int, reached: float, alphas: list[float], paid: int) -> tuple[float, int]:
    """By looking at all numbers of further guesses."""
    values = [(0.0, 0)]
    for further in range(1, min(len(alphas), prices.most - made) + 1):
        tokens, chance = 0.0, reached
        for alpha in alphas[:further]:
            chance *= alpha
            tokens += chance
        runs = max(further - paid, 0)
        cost = runs * prices.run + prices.rounds[made + further] - prices.rounds[made]
        values.append((tokens * prices.token - cost, further))
    return max(values, key=lambda value: (value[0], -value[1]))


@pytest.mark.parametrize("seed", range(50))
def test_gain_is_that_of_the_best_number(seed: int) -> None:
    dice = random.Random(seed)
    most = dice.randrange(1, 9)
    rounds = tuple(dice.uniform(0.5, 4) for _ in range(most + 1))
    prices = Prices(rounds, dice.uniform(0, 0.5), dice.uniform(0.2, 2))
    for made in range(most + 1):
        alphas = [dice.random() for _ in range(most + 3)]
        paid, reached = dice.randrange(3), dice.random()
        best, count = brute_force(prices, made, reached, alphas, paid)
        assert prices.gain(made, reached, alphas, paid) == (pytest.approx(best), count)


def test_steps_are_looked_past() -> None:
    assert STEP.gain(0, 1.0, [0.8])[0] == 0, "one guess alone doesn't pay"
    gain, count = STEP.gain(0, 1.0, [0.8] * 5)
    assert (gain, count) == (pytest.approx(0.8 + 0.64 + 0.512 + 0.4096 - 0.4 - 1.1), 4)


def test_where_nothing_pays_nothing_is_guessed() -> None:
    assert STEP.gain(0, 1.0, [0.2] * 5) == (0.0, 0)
    assert STEP.gain(5, 1.0, [1.0] * 5) == (0.0, 0), "there is no price for more"
    assert STEP.gain(0, 1.0, []) == (0.0, 0)


def test_a_free_guess_is_made_however_unlikely() -> None:
    assert STEP.gain(3, 0.01, [0.01], paid=1) == (pytest.approx(0.0001), 1)


# ------------------------------------------------------------------ steps


EVEN = Prices(rounds=(1.0, 1.3, 1.6, 1.9), run=0.05, token=1.0)
"""Each token costs as much as the last."""


def sure_of(typical: float) -> Calibration:
    """One that finds a guess accepted as often as its confidence says, and usually as often as `typical`."""
    calibration = Calibration()
    for _ in range(400):
        for confidence in (0.05, 0.5, 0.95):
            calibration.learn(confidence, 0, confidence)
    for _ in range(400):
        calibration.learn(typical, 0, typical)
    return calibration


def test_it_runs_while_a_usual_guess_pays() -> None:
    assert PayingSteps(STEP, sure_of(0.8)).runs()
    steps = PayingSteps(STEP, sure_of(0.3))
    assert not steps.runs()
    assert steps.reason == "costly"


def test_it_takes_a_guess_that_pays_and_stops_at_one_that_does_not() -> None:
    steps = PayingSteps(EVEN, sure_of(0.8))
    assert steps.runs()
    assert steps.takes(0.9)
    assert steps.runs()
    assert not steps.takes(0.05)
    assert steps.reason == "unsure"


def test_what_a_guess_is_worth_depends_on_those_before_it() -> None:
    sure, unsure = PayingSteps(EVEN, sure_of(0.6)), PayingSteps(EVEN, sure_of(0.6))
    assert sure.takes(0.95)
    assert unsure.takes(0.4)
    assert sure.runs()
    assert not unsure.runs(), "a second guess is reached too rarely"


def test_the_run_for_a_guess_is_paid_once_its_law_is_known() -> None:
    prices = Prices(rounds=(1.0, 1.2), run=0.5, token=1.0)
    steps = PayingSteps(prices, sure_of(0.5))
    assert not steps.runs()
    assert steps.takes(0.5)


def test_it_ends_where_there_is_no_price_for_more() -> None:
    prices = Prices(rounds=(1.0, 1.0, 1.0), run=0.0, token=1.0)
    steps = PayingSteps(prices, sure_of(0.9))
    made = 0
    while steps.runs() and steps.takes(0.9):
        made += 1
    assert (made, steps.reason) == (2, "most")
    assert not PayingSteps(Prices((1.0,), 0.0, 1.0), sure_of(0.9)).runs()


def test_a_drafter_that_is_never_sure_is_soon_not_run_any_more() -> None:
    """Else each round would pay for a run that comes to nothing."""
    calibration, runs = Calibration(), 0
    while PayingSteps(STEP, calibration).runs():
        assert not PayingSteps(STEP, calibration).takes(0.05)
        runs += 1
        assert runs < 30


def test_a_token_is_worth_more_on_a_slow_machine() -> None:
    slow = Prices(STEP.rounds, STEP.run, token=2.0)
    known = sure_of(0.5)
    assert not PayingSteps(STEP, known).runs()
    assert PayingSteps(slow, known).value() > 0
