"""What passes cost: found, followed, kept; and which widths are worth padding to."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from specchat.models.decoding.cost import DEPTH, FRESH_SECONDS, WIDEST, CostTable, DepthFactor, PassCosts, WidthCost
from support.clock import Clock

MEASURED = {1: 0.077, 2: 0.132, 3: 0.148, 4: 0.120, 5: 0.158, 6: 0.190, 8: 0.195, 12: 0.276, 16: 0.297}
"""Seconds of a real machine's passes: neither flat nor monotone."""


class Machine:
    """Passes on a clock of its own. Each takes what `costs` says, times `pace`, give or take `noise`."""

    def __init__(self, costs: dict[int, float], noise: float = 0.0) -> None:
        self.clock = Clock()
        self.known = PassCosts(self.clock)
        self.pace = 1.0
        self._costs = costs
        self._noise = noise
        self._dice = random.Random(1)

    def run(self, *widths: int, times: int = 1, depth: int = 0) -> None:
        """Measure these widths in turn."""
        for width in widths * times:
            self.take(width, self._costs[width] * self.pace * (1 + self._noise * self._dice.uniform(-1, 1)), depth)

    def take(self, width: int, seconds: float, depth: int = 0) -> None:
        """Measure a pass that takes so long."""
        self.clock.now += seconds
        self.known.add(width, depth, seconds)

    def error(self, width: int, depth: int = 0) -> float:
        """How far what is known of a width is from the truth, as a share of it."""
        return self.seconds(width, depth) / (self._costs[width] * self.pace) - 1

    def seconds(self, width: int, depth: int = 0) -> float:
        seconds = self.known.seconds(width, depth)
        assert seconds is not None
        return seconds


# ------------------------------------------------------------------ what is found


def test_nothing_is_known_at_first() -> None:
    costs = PassCosts(Clock())
    assert (costs.seconds(1, 0), costs.cheapest(4, 0), costs.count(1)) == (None, [], 0)
    assert costs.table() == CostTable((), ())


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_constant_costs_are_found(noise: float) -> None:
    machine = Machine(MEASURED, noise)
    machine.run(*MEASURED, times=30)
    assert [machine.error(width) for width in MEASURED] == pytest.approx(
        [0] * len(MEASURED), abs=0.04 if noise else 0.002
    )
    assert [machine.known.count(width) for width in MEASURED] == [30] * len(MEASURED)


def test_of_one_pass_the_next_ones_cost_is_that_and_of_a_wider_one_somewhat_more() -> None:
    machine = Machine(MEASURED)
    machine.run(1)
    assert machine.error(1) == pytest.approx(0)
    assert MEASURED[1] < machine.seconds(2) < machine.seconds(8) < 8 * MEASURED[1]


def test_widths_between_and_beyond_the_known_ones_lie_on_straight_lines() -> None:
    machine = Machine({4: 0.1, 8: 0.2, 16: 0.3})
    machine.run(4, 8, 16, times=20)
    assert machine.seconds(6) == pytest.approx(0.15, rel=0.01)
    assert machine.seconds(32) == pytest.approx(0.1 + 28 * 0.2 / 12, rel=0.01)
    assert machine.seconds(1) == pytest.approx(0.1, rel=0.01)


def test_what_is_beyond_a_cheaper_width_costs_no_less_than_that() -> None:
    machine = Machine({1: 0.2, 8: 0.1})
    machine.run(1, 8, times=10)
    assert machine.seconds(20) == machine.seconds(8) == pytest.approx(0.1, rel=0.05)


def test_a_wide_pass_may_cost_as_little_as_a_narrow_one() -> None:
    machine = Machine({1: 0.02, 16: 0.021})
    machine.run(1)
    assert machine.seconds(16) > 4 * 0.02
    machine.run(16, times=2)
    assert machine.error(16) == pytest.approx(0, abs=0.2)


def test_a_new_width_between_others_is_found_at_once() -> None:
    machine = Machine(MEASURED)
    machine.run(1, 8, times=10)
    machine.run(4)
    assert machine.error(4) == pytest.approx(0, abs=0.05)
    assert machine.error(1) == pytest.approx(0, abs=0.05)


def test_passes_that_read_a_prompt_are_left_out() -> None:
    machine = Machine(MEASURED)
    machine.take(WIDEST + 1, 5.0)
    machine.take(WIDEST, 0.0)
    assert machine.known.seconds(1, 0) is None
    machine.take(WIDEST, 1.0)
    assert machine.seconds(WIDEST) == pytest.approx(1.0)


# ------------------------------------------------------------------ depth


def test_a_long_context_costs_a_factor_of_its_own() -> None:
    machine = Machine(MEASURED)
    machine.run(1, 4, times=20)
    machine.pace = 1.5
    machine.run(1, 4, times=20, depth=3 * DEPTH)
    assert [machine.error(width, 3 * DEPTH + 5) for width in (1, 4)] == pytest.approx([0, 0], abs=0.02)
    assert machine.error(1, 9 * DEPTH) == pytest.approx(0, abs=0.02), "the nearest known depth tells"
    machine.run(1, depth=4 * DEPTH)
    assert machine.error(1, 4 * DEPTH) == pytest.approx(0, abs=0.02), "a new depth begins as the nearest"
    machine.pace = 1.0
    assert [machine.error(width, 500) for width in (1, 4)] == pytest.approx([0, 0], abs=0.1)
    machine.run(1, times=10)
    assert [machine.error(width, 500) for width in (1, 4)] == pytest.approx([0, 0], abs=0.05)


def test_what_was_measured_lately_is_fresh_at_its_depth() -> None:
    machine = Machine({1: 1.0})
    machine.run(1, depth=DEPTH - 1)
    assert machine.known.is_fresh(1, 0)
    assert not machine.known.is_fresh(2, 0)
    assert not machine.known.is_fresh(1, DEPTH)
    machine.clock.now += FRESH_SECONDS
    assert machine.known.is_fresh(1, 0)
    machine.clock.now += 0.001
    assert not machine.known.is_fresh(1, 0)
    assert machine.error(1) == pytest.approx(0), "what is old still counts"


# ------------------------------------------------------------------ what changes


@pytest.mark.parametrize("pace", [1.5, 1 / 1.5])
def test_a_machine_that_changes_its_pace_is_followed_at_widths_not_visited(pace: float) -> None:
    machine = Machine(MEASURED, noise=0.03)
    machine.run(1, 4, 8, times=10)
    for step in range(200):
        machine.pace = pace ** (step / 200)
        machine.run(4)
    machine.pace = pace
    machine.run(4, times=50)
    assert machine.error(4) == pytest.approx(0, abs=0.03)
    assert machine.error(1) == pytest.approx(0, abs=0.08)
    assert machine.error(8) == pytest.approx(0, abs=0.08)


def test_after_a_pause_one_pass_tells_of_all_widths() -> None:
    machine = Machine(MEASURED)
    machine.run(1, 4, 8, times=10)
    machine.clock.now += 600
    machine.pace = 1.3
    machine.run(4)
    assert [machine.error(width) for width in (1, 4, 8)] == pytest.approx([0, 0, 0], abs=0.03)


def test_a_slow_pass_hardly_moves_anything() -> None:
    machine = Machine(MEASURED)
    machine.run(1, 4, times=50)
    machine.take(4, 3 * MEASURED[4])
    assert [machine.error(width) for width in (1, 4)] == pytest.approx([0, 0], abs=0.06)


@pytest.mark.parametrize("times", [1, 2])
def test_passes_in_which_the_machine_slept_change_nothing(times: int) -> None:
    machine = Machine(MEASURED)
    machine.run(1, 4, times=10)
    before = machine.known.table()
    for _ in range(times):
        machine.take(4, 3600.0)
    assert machine.known.table() == before


def test_only_slow_passes_in_a_row_are_a_change() -> None:
    machine = Machine(MEASURED)
    machine.run(4, times=10)
    for _ in range(5):
        machine.take(4, 3600.0)
        machine.run(4)
    assert machine.error(4) == pytest.approx(0)


@pytest.mark.parametrize("factor", [0.5, 2.0, 10.0])
def test_a_lasting_change_is_followed_within_a_few_seconds(factor: float) -> None:
    machine = Machine(MEASURED)
    machine.run(1, times=100)
    machine.pace = factor
    machine.run(1, times=60)
    assert machine.error(1) == pytest.approx(0, abs=0.1)


# ------------------------------------------------------------------ padding


def widths(costs: dict[int, float], most: int, measured: Sequence[int] = ()) -> list[int]:
    """The widths of the cheapest passes for 1, 2, … `most` tokens."""
    machine = Machine(costs)
    machine.run(*(measured or costs), times=20)
    return [found.width for found in machine.known.cheapest(most, 0)]


def test_a_pass_is_padded_to_a_wider_one_that_costs_less() -> None:
    assert widths(MEASURED, 6) == [1, 4, 4, 4, 5, 6]
    assert widths(MEASURED, 9) == [1, 4, 4, 4, 5, 6, 7, 8, 9]
    assert widths(MEASURED, 3) == [1, 2, 3], "what the wider pass costs doesn't matter where it has no room"


def test_the_cheapest_passes_say_what_they_take() -> None:
    machine = Machine(MEASURED)
    machine.run(*MEASURED, times=20)
    known = machine.known.cheapest(4, 0)
    assert [found.seconds for found in known] == pytest.approx([0.077, 0.120, 0.120, 0.120], rel=0.01)
    assert [found.seconds for found in machine.known.cheapest(4, 0)] == [machine.seconds(w) for w in (1, 4, 4, 4)]


def test_a_little_cheaper_is_noise_and_nothing_is_padded() -> None:
    assert widths({1: 0.1, 2: 0.15, 3: 0.147}, 3) == [1, 2, 3]
    assert widths({1: 0.1, 2: 0.15, 3: 0.145}, 3) == [1, 3, 3]


def test_the_deepest_of_several_steps_is_taken() -> None:
    costs = {1: 0.2, 2: 0.3, 3: 0.19, 4: 0.25, 5: 0.1, 6: 0.3}
    assert widths(costs, 6) == [5, 5, 5, 5, 5, 6]


def test_a_width_that_was_never_measured_does_not_stand_in_the_way() -> None:
    assert widths({1: 0.105, 3: 0.1}, 3) == [3, 2, 3]


def test_a_flat_machine_pads_nothing() -> None:
    flat = dict.fromkeys(range(1, 9), 0.02)
    assert widths(flat, 8) == list(range(1, 9))


# ------------------------------------------------------------------ what is kept


def test_a_table_comes_back_as_it_was() -> None:
    machine = Machine(MEASURED, noise=0.05)
    machine.run(*MEASURED, times=5)
    machine.pace = 1.4
    machine.run(1, 4, times=30, depth=2 * DEPTH)
    table = machine.known.table()
    assert [cost.width for cost in table.widths] == list(MEASURED)
    assert [factor.depth for factor in table.depths] == [2 * DEPTH]
    again = PassCosts(Clock())
    again.restore(table)
    for width in range(1, 20):
        for depth in (0, 2 * DEPTH):
            assert again.seconds(width, depth) == pytest.approx(machine.seconds(width, depth))
    kept = again.table()
    assert [(cost.width, cost.count) for cost in kept.widths] == [(cost.width, cost.count) for cost in table.widths]
    assert [cost.seconds for cost in kept.widths] == pytest.approx([cost.seconds for cost in table.widths])
    assert not again.is_fresh(1, 0)


@pytest.mark.parametrize("pace", [0.5, 1.0, 2.5])
def test_a_restored_table_takes_its_scale_from_the_first_pass(pace: float) -> None:
    table = CostTable(tuple(WidthCost(width, seconds, 50) for width, seconds in MEASURED.items()), ())
    machine = Machine(MEASURED)
    machine.known.restore(table)
    machine.pace = pace
    machine.run(1)
    assert [machine.error(width) for width in MEASURED] == pytest.approx([0] * len(MEASURED), abs=0.06)
    machine.run(1, times=3)
    assert [machine.error(width) for width in MEASURED] == pytest.approx([0] * len(MEASURED), abs=0.03)


def test_of_a_restored_table_what_was_hardly_measured_gives_way_first() -> None:
    table = CostTable((WidthCost(1, 0.1, 100), WidthCost(4, 0.3, 1)), (DepthFactor(DEPTH, 1.2, 5),))
    machine = Machine({1: 0.1, 4: 0.2})
    machine.known.restore(table)
    machine.run(1, times=3)
    machine.run(4, times=3)
    assert abs(machine.error(1)) < 0.12, "it was 50 % wrong of the other"
    machine.run(1, 4, times=30)
    assert [machine.error(width) for width in (1, 4)] == pytest.approx([0, 0], abs=0.03)
    assert machine.seconds(1, DEPTH) == pytest.approx(1.2 * machine.seconds(1, 0))
