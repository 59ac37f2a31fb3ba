"""α̂ from confidences: found, kept up to date, and never sure of what it can't know."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from specchat.models.decoding.calibration import Calibration

Truth = Callable[[float, int], float]
"""The probability that a guess of a confidence, at a place, is accepted."""

CONFIDENCES = (0.2, 0.5, 0.8, 0.95)


def logistic(intercept: float, slope: float, place_slope: float = 0.0) -> Truth:
    def truth(confidence: float, place: int) -> float:
        logit = math.log(confidence / (1 - confidence))
        return 1 / (1 + math.exp(-intercept - slope * logit - place_slope * math.log1p(place)))

    return truth


def taught(truth: Truth, rounds: int, *, dice: bool, known: Calibration | None = None) -> Calibration:
    """One that saw rounds of four guesses; the labels are probabilities, or tosses with those."""
    calibration, rng = known or Calibration(), random.Random(3)
    for _ in range(rounds):
        for place in range(4):
            confidence = rng.uniform(0.05, 0.99)
            chance = truth(confidence, place)
            calibration.learn(confidence, place, float(rng.random() < chance) if dice else chance)
    return calibration


def errors(calibration: Calibration, truth: Truth) -> list[float]:
    return [abs(calibration.alpha(c, place) - truth(c, place)) for c in CONFIDENCES for place in (0, 3)]


TRUTHS = {
    "as confident": logistic(0.0, 1.0),
    "modest": logistic(1.5, 0.8),
    "boastful": logistic(-2.0, 0.7),
    "hopeless": logistic(-4.0, 0.1),
    "worse later": logistic(1.0, 1.0, -0.8),
}


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS.keys())
def test_a_logistic_law_is_found_from_probabilities(truth: Truth) -> None:
    assert max(errors(taught(truth, 200, dice=False), truth)) < 0.07


@pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS.keys())
def test_and_from_tosses_though_less_exactly(truth: Truth) -> None:
    assert max(errors(taught(truth, 200, dice=True), truth)) < 0.2


def test_a_few_guesses_tell_already() -> None:
    for truth in TRUTHS.values():
        assert sum(errors(taught(truth, 10, dice=False), truth)) < sum(errors(Calibration(), truth))


@pytest.mark.parametrize(("before", "after"), [("modest", "hopeless"), ("hopeless", "as confident")])
def test_a_change_is_followed(before: str, after: str) -> None:
    old = taught(TRUTHS[before], 200, dice=False)
    new = taught(TRUTHS[after], 60, dice=False, known=old)
    assert max(errors(new, TRUTHS[after])) < 0.15


def test_at_first_the_surer_the_likelier() -> None:
    alphas = [Calibration().alpha(confidence, 0) for confidence in CONFIDENCES]
    assert alphas == sorted(alphas)
    assert 0.05 < alphas[0] < 0.5 < alphas[-1] < 0.99


def test_what_is_not_known_draws_alphas_to_the_middle() -> None:
    truth = TRUTHS["as confident"]
    fresh, known = Calibration(), taught(truth, 100, dice=False)
    assert 0.5 < fresh.alpha(0.9, 0) < known.alpha(0.9, 0)
    assert 0.5 > fresh.alpha(0.03, 0) > known.alpha(0.03, 0)


@pytest.mark.parametrize("confidence", [0.0, 1e-9, 1.0])
def test_a_confidence_beyond_bounds_is_a_bound(confidence: float) -> None:
    calibration = Calibration()
    for label in (0.0, 1.0) * 100:
        calibration.learn(confidence, 0, label)
        assert 0 < calibration.alpha(confidence, 0) < 1


def test_endless_agreement_can_still_be_unlearnt() -> None:
    calibration = Calibration()
    for _ in range(2000):
        calibration.learn(0.9, 0, 1.0)
    for _ in range(2):
        calibration.learn(0.9, 0, 0.0)
    assert calibration.alpha(0.9, 0) > 0.95, "by a surprise or two nothing is overturned"
    for _ in range(40):
        calibration.learn(0.9, 0, 0.0)
    assert calibration.alpha(0.9, 0) < 0.3


def test_what_hardly_counts_hardly_teaches() -> None:
    fresh, slightly, wholly = Calibration(), Calibration(), Calibration()
    slightly.learn(0.8, 1, 0.0, 0.1)
    wholly.learn(0.8, 1, 0.0)
    assert fresh.alpha(0.8, 1) > slightly.alpha(0.8, 1) > wholly.alpha(0.8, 1)
    assert fresh.typical > slightly.typical > wholly.typical
    fresh.learn(0.8, 1, 0.0, 0.0)
    assert fresh.typical == Calibration().typical


# ------------------------------------------------------------------ the typical guess


def test_the_typical_guess_is_a_mean_of_the_latest() -> None:
    calibration = Calibration()
    first = calibration.typical
    for label in [1.0] * 200 + [0.2] * 100:
        calibration.learn(0.5, 0, label)
    assert 0.2 < calibration.typical < 0.22
    assert 0.5 < first < 0.9


def test_guesses_that_were_not_made_count_as_typical_but_less() -> None:
    made, declined = Calibration(), Calibration()
    for _ in range(10):
        made.learn(0.1, 0, 0.1)
        declined.decline(0.1)
    assert 0.1 < made.typical < declined.typical < Calibration().typical
    assert declined.alpha(0.1, 0) == Calibration().alpha(0.1, 0), "how such guesses fare isn't known"
    for _ in range(300):
        declined.decline(0.1)
    assert declined.typical == pytest.approx(0.1, abs=0.02)
