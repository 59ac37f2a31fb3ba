"""Speed-ups with intervals: exact cases, and that the intervals hold the truth as often as they say."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import pytest

from specchat.app.bench.intervals import SpeedUp, SpeedUps, speed_ups, t_quantile
from specchat.app.bench.prompts import builtin_prompts
from specchat.app.bench.results import compare
from specchat.app.bench.sides import PLAIN, Side, Step, plan
from support.benches import make_run

KINDS = tuple(prompt.kind for prompt in builtin_prompts())
NOISE = 0.1
"""Standard deviation of the logarithm of a run's speed."""
BENCHMARKS = 500


@pytest.mark.parametrize(
    ("freedom", "point"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (16, 2.120), (30, 2.042), (1000, 1.962)]
)
def test_students_t_is_that_of_the_tables(freedom: int, point: float) -> None:
    assert t_quantile(freedom) == pytest.approx(point, abs=6e-4)


def test_a_speed_up_is_a_geometric_mean_and_the_same_for_the_same_data() -> None:
    pairs = {"code": [math.log(2), math.log(8)], "story": [math.log(1), math.log(1)]}
    ups = speed_ups(pairs)
    assert ups.kinds["code"].ratio == pytest.approx(4)
    assert ups.kinds["story"].ratio == pytest.approx(1)
    assert ups.overall.ratio == pytest.approx(2)
    assert ups.overall.pairs == 4
    assert ups == speed_ups(pairs)


def test_one_repeat_has_no_interval() -> None:
    ups = speed_ups({"code": [0.3], "story": [0.1]})
    for up in (ups.overall, *ups.kinds.values()):
        assert up.ratio is not None
        assert (up.low, up.high, up.verdict) == (None, None, "one_repeat")


def test_a_kind_without_pairs_has_no_part_in_the_mean() -> None:
    ups = speed_ups({"code": [math.log(2)] * 2, "story": []})
    assert ups.overall.ratio == pytest.approx(2)
    assert (ups.kinds["story"].ratio, ups.kinds["story"].verdict) == (None, "nothing")
    assert speed_ups({}).overall.verdict == "nothing"


def test_a_kind_that_was_cut_short_gets_its_interval_from_the_spread_of_the_others() -> None:
    rng = random.Random(4)
    pairs = noisy(rng, dict.fromkeys(KINDS, 0.2), 3)
    pairs["story"] = pairs["story"][:1]
    ups = speed_ups(pairs)
    assert width(ups.kinds["story"]) == pytest.approx(width(ups.kinds["code"]) * math.sqrt(3), rel=0.2)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.01, 1.5, "helps"),
        (0.5, 0.99, "hurts"),
        (0.9, 1.2, "no_clear_difference"),
        (1.004, 1.2, "no_clear_difference"),
        (0.8, 0.996, "no_clear_difference"),
    ],
)
def test_the_verdict_is_what_the_interval_says(low: float, high: float, verdict: str) -> None:
    assert SpeedUp(1.1, low, high, 3).verdict == verdict


def test_more_noise_makes_wider_intervals_and_more_repeats_narrower_ones() -> None:
    quiet, loud = [0.5, 0.51, 0.49], [0.5, 0.7, 0.3]
    assert width(speed_ups({"code": quiet}).overall) < width(speed_ups({"code": loud}).overall)
    assert width(speed_ups({"code": loud * 4}).overall) < width(speed_ups({"code": loud}).overall) / 2


def test_an_interval_reaches_further_to_the_side_of_the_outlier() -> None:
    up = speed_ups({"code": [0.0, 0.0, 0.0, 0.6]}).overall
    assert up.ratio is not None
    assert up.low is not None
    assert up.high is not None
    assert up.high / up.ratio > up.ratio / up.low


@dataclass(frozen=True)
class Simulated:
    """A benchmark whose truth is known: each kind's true speed-up, and what was made of noisy runs."""

    truth: Mapping[str, float]
    measured: SpeedUps


@pytest.mark.parametrize("repeats", [3, 5])
def test_intervals_hold_the_truth_as_often_as_they_should(repeats: int) -> None:
    rng = random.Random(repeats)
    benchmarks = [simulate(rng, repeats) for _ in range(BENCHMARKS)]
    kinds = [covers(done.measured.kinds[kind], truth) for done in benchmarks for kind, truth in done.truth.items()]
    overall = [covers(done.measured.overall, mean(done.truth)) for done in benchmarks]
    assert fmean(kinds) >= 0.92
    assert fmean(overall) >= 0.92
    assert fmean(kinds) <= 0.98, "wider than they need be"


def test_a_single_prompt_is_treated_fairly_too() -> None:
    rng = random.Random(1)
    benchmarks = [simulate(rng, 3, KINDS[:1]) for _ in range(BENCHMARKS)]
    assert fmean(covers(done.measured.overall, mean(done.truth)) for done in benchmarks) >= 0.9


def test_the_verdict_on_a_draft_that_does_nothing_is_seldom_wrong() -> None:
    rng = random.Random(2)
    verdicts = [speed_ups(noisy(rng, dict.fromkeys(KINDS, 0.0), 3), 400).overall.verdict for _ in range(200)]
    assert verdicts.count("no_clear_difference") >= 0.92 * 200


def test_whole_benchmarks_hold_the_truth_also_while_the_machine_slows_down() -> None:
    """From runs to verdicts, in the order of the plan, on a machine that loses a third of its speed on the way."""
    rng = random.Random(3)
    side = Side("lookup", 3)
    steps = plan(["lookup"], [3], builtin_prompts(), 3)
    held = []
    for _ in range(40):
        truth = {kind: rng.uniform(-0.2, 0.7) for kind in KINDS}
        [result] = compare([make_run(step, drifting(rng, truth, step, i / len(steps))) for i, step in enumerate(steps)])
        assert (result.draft, result.gamma) == (side.draft, side.gamma)
        found = result.overall
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= math.exp(fmean(truth.values())) <= found.high)
    assert fmean(held) >= 0.85


def drifting(rng: random.Random, truth: Mapping[str, float], step: Step, done: float) -> float:
    gain = 0.0 if step.side == PLAIN else truth[step.prompt.kind]
    return 20 * math.exp(gain - 0.4 * done + rng.gauss(0, NOISE))


def simulate(rng: random.Random, repeats: int, kinds: Sequence[str] = KINDS) -> Simulated:
    truth = {kind: rng.uniform(-0.2, 0.7) for kind in kinds}
    return Simulated(truth, speed_ups(noisy(rng, truth, repeats), 400))


def noisy(rng: random.Random, truth: Mapping[str, float], repeats: int) -> dict[str, list[float]]:
    """Logarithms of ratios, each of two runs with noise of their own."""
    return {
        kind: [gain + rng.gauss(0, NOISE) - rng.gauss(0, NOISE) for _ in range(repeats)] for kind, gain in truth.items()
    }


def mean(truth: Mapping[str, float]) -> float:
    return fmean(truth.values())


def covers(up: SpeedUp, truth: float) -> bool:
    assert up.low is not None
    assert up.high is not None
    return up.low <= math.exp(truth) <= up.high


def width(up: SpeedUp) -> float:
    assert up.low is not None
    assert up.high is not None
    return math.log(up.high / up.low)
