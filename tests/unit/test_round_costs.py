"""What rounds cost: passes, the rest of a round, and the draft's runs."""

from __future__ import annotations

import pytest

from specchat.models.decoding.cost import PaddedPass
from specchat.models.decoding.round_cost import Mean, PlainCost, RoundCosts
from support.clock import Clock


@pytest.fixture
def costs() -> RoundCosts:
    return RoundCosts(Clock())


def test_nothing_is_known_at_first(costs: RoundCosts) -> None:
    assert (costs.plain(0), costs.run(0), costs.review(16, 16, 0), costs.rounds(8, 0)) == (None, None, None, [])
    assert not costs.is_fresh(0)


def test_a_plain_round_is_a_pass_over_one_token_and_the_rest(costs: RoundCosts) -> None:
    costs.target.add(1, 100, 0.5)
    assert costs.plain(100) == PlainCost(pytest.approx(0.5), 0.0)
    costs.add_rest(1, 0.25)
    plain = costs.plain(100)
    assert plain == PlainCost(pytest.approx(0.5), 0.25)
    assert plain is not None
    assert plain.seconds == pytest.approx(0.75)
    assert (costs.is_fresh(100), costs.is_fresh(5000)) == (True, False)


def test_a_plain_round_is_not_guessed_from_wider_passes(costs: RoundCosts) -> None:
    costs.target.add(4, 0, 0.5)
    assert costs.plain(0) is None
    assert not costs.is_fresh(0)


def test_rounds_take_their_pass_and_the_rest_for_each_row_but_not_for_padding(costs: RoundCosts) -> None:
    for width, seconds in {1: 1.0, 2: 2.0, 3: 3.0, 4: 1.5}.items():
        costs.target.add(width, 0, seconds)
    costs.add_rest(4, 4 * 0.125)
    rounds = costs.rounds(3, 0)
    assert [found.width for found in rounds] == [1, 4, 4, 4]
    passes = [costs.target.seconds(width, 0) for width in (1, 4, 4, 4)]
    assert [found.seconds - 0.125 * rows for rows, found in enumerate(rounds, 1)] == pytest.approx(passes)
    assert costs.rounds(0, 0) == [PaddedPass(1, rounds[0].seconds)]


def test_the_rest_is_a_mean_that_forgets(costs: RoundCosts) -> None:
    costs.target.add(1, 0, 1.0)
    for _ in range(100):
        costs.add_rest(2, 2 * 0.1)
    for _ in range(50):
        costs.add_rest(1, 0.3)
    plain = costs.plain(0)
    assert plain is not None
    assert 0.29 < plain.rest_seconds < 0.3
    costs.forget_sampling()
    assert costs.plain(0) == PlainCost(pytest.approx(1.0), 0.0)


def test_a_mean_of_several_at_once_is_that_of_each_of_them() -> None:
    together, apart = Mean(), Mean()
    assert together.value is None
    together.add(3 * 0.5, 3)
    for _ in range(3):
        apart.add(0.5)
    assert together.value == apart.value == pytest.approx(0.5)
    together.add(4.0)
    apart.add(4.0)
    assert together.value == pytest.approx(apart.value, rel=0.05)


def test_a_drafts_run_is_guessed_by_the_models_sizes_until_it_is_measured(costs: RoundCosts) -> None:
    costs.forget_draft(0.25)
    assert costs.run(0) is None
    costs.target.add(1, 0, 0.8)
    assert costs.run(0) == pytest.approx(0.2)
    costs.draft.add(1, 0, 0.3)
    assert costs.run(0) == pytest.approx(0.3)
    costs.add_draw(0.01)
    assert costs.run(0) == pytest.approx(0.31)
    costs.forget_draft(0.5)
    costs.forget_sampling()
    assert costs.run(0) == pytest.approx(0.4)


def test_a_review_takes_the_drafts_pass_and_each_comparison(costs: RoundCosts) -> None:
    costs.target.add(1, 0, 1.0)
    costs.forget_draft(0.2)
    assert costs.review(20, 16, 0) == pytest.approx(0.2 * (1 + 0.1 * 20)), "a first guess"
    costs.draft.add(1, 0, 0.2)
    costs.draft.add(16, 0, 0.5)
    known = costs.draft.seconds(16, 0)
    assert costs.review(16, 16, 0) == known == pytest.approx(0.5, rel=0.1)
    costs.add_reviewed(16, 16 * 0.01)
    assert costs.review(16, 8, 0) == pytest.approx(0.5 + 8 * 0.01, rel=0.1)
