"""The papers' formulas, and simulations that agree with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from specchat.models import theory

RNG = np.random.default_rng(7)
LAWS = [(RNG.dirichlet(np.full(n, 0.7)), RNG.dirichlet(np.full(n, 0.7))) for n in (2, 3, 5, 8, 30)]
LAWS += [(np.array([1.0, 0.0]), np.array([0.0, 1.0])), (np.array([0.3, 0.7]), np.array([0.3, 0.7]))]
ALPHAS = np.round(np.linspace(0, 1, 21), 2)


@pytest.mark.parametrize(("p", "q"), LAWS)
def test_the_rules_books_add_up_to_p_for_any_p_and_q(p: np.ndarray, q: np.ndarray) -> None:
    books = theory.account(p, q)
    assert books.accepted + books.replaced == pytest.approx(p)
    assert books.accepted.sum() == pytest.approx(theory.acceptance_rate(p, q))
    assert books.refused == pytest.approx(books.replaced.sum())
    assert (books.accepted <= q + 1e-12).all()


@pytest.mark.parametrize(("p", "q"), LAWS)
def test_draws_by_the_rule_follow_p(p: np.ndarray, q: np.ndarray) -> None:
    runs = 40_000
    draws = theory.simulate_rule(p, q, runs, seed=3)
    for law, shares in ((p, draws.written), (q, draws.guessed)):
        error = np.sqrt(law * (1 - law) / runs)
        assert (np.abs(shares - law) <= 5 * error + 1e-12).all()
        assert shares.sum() == pytest.approx(1)


def test_speed_up_is_at_most_gamma_plus_one_and_reaches_it() -> None:
    gammas = np.arange(33)
    for c in (0.0, 0.01, 0.5, 3.0):
        table = theory.speed_up(ALPHAS[:, None], gammas, c)
        assert (table <= gammas + 1 + 1e-9).all()
    assert theory.speed_up(1.0, gammas, 0.0) == pytest.approx(gammas + 1)


def test_some_gamma_helps_exactly_where_alpha_is_greater_than_c() -> None:
    for alpha in ALPHAS:
        for c in (0.0, 0.05, 0.1, 0.35, 0.5, 0.9, 1.0, 1.5):
            helps = theory.speed_up(alpha, np.arange(1, 200), c).max() > 1 + 1e-12
            assert helps == theory.can_help(alpha, c), (alpha, c)
            assert (theory.best_gamma(alpha, c, 32) > 0) == helps


def test_the_gain_is_at_least_what_the_papers_corollary_promises() -> None:
    for alpha, c in ((0.3, 0.1), (0.7, 0.2), (0.95, 0.9)):  # Leviathan et al. 2022, Corollary 3.9
        best = theory.best_gamma(alpha, c, 32)
        assert float(theory.speed_up(alpha, best, c)) >= (1 + alpha) / (1 + c) - 1e-12


def test_the_limit_at_alpha_one_is_reached_smoothly() -> None:
    gammas = np.array([0, 1, 4, 12, 32])
    assert theory.tokens_per_pass(1.0, gammas) == pytest.approx(gammas + 1)
    for below in (1e-3, 1e-6, 1e-9, 1e-12):
        exact = [sum((1 - below) ** i for i in range(gamma + 1)) for gamma in gammas]
        assert theory.tokens_per_pass(1 - below, gammas) == pytest.approx(exact, rel=1e-9)
    assert theory.tokens_per_pass(0.0, gammas) == pytest.approx(np.ones(5))


@pytest.mark.parametrize(("alpha", "gamma"), [(0.0, 3), (0.3, 1), (0.7, 4), (0.88, 4), (0.97, 12), (1.0, 5)])
def test_simulated_passes_agree_with_the_closed_form(alpha: float, gamma: int) -> None:
    average = theory.simulate_tokens_per_pass(alpha, gamma, 20_000, seed=5)
    assert abs(average.mean - float(theory.tokens_per_pass(alpha, gamma))) <= 4 * average.error + 1e-9


CHANCES: list[Sequence[float]] = [
    [0.64, 0.93, 0.95, 0.97, 0.97],
    [0.2] * 9,
    [1.0] * 10,
    [0.0] * 6,
    [0.5],
]


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize("gamma", [1, 3, 4, 8, 20])
def test_simulated_texts_agree_with_the_exact_expectation(chances: Sequence[float], gamma: int) -> None:
    average = theory.simulate_passes(chances, gamma, 10_000, seed=2)
    assert abs(average.mean - theory.passes_needed(chances, gamma)) <= 4 * average.error + 1e-9


def test_a_text_takes_as_many_passes_as_it_must() -> None:
    assert theory.passes_needed([1.0] * 10, 4) == 2  # 5 + 5
    assert theory.passes_needed([1.0] * 11, 4) == 3
    assert theory.passes_needed([0.0] * 6, 4) == 6
    assert theory.passes_needed([0.5], 4) == 1
    assert theory.passes_needed([0.25, 0.5], 1) == pytest.approx(0.25 + 0.75 * 2)


def test_a_seed_repeats_a_simulation() -> None:
    one, other = (theory.simulate_passes([0.5] * 9, 4, 1000, seed) for seed in (1, 1))
    assert one == other != theory.simulate_passes([0.5] * 9, 4, 1000, 2)


def test_real_passes_take_the_place_of_one_pass() -> None:
    free = theory.speed_up_with_costs(0.7, 4, 0.1, [1.0] * 5)
    assert free == pytest.approx(float(theory.speed_up(0.7, 4, 0.1)))
    assert theory.speed_up_with_costs(0.7, 4, 0.1, [1, 1, 1, 1, 2.0]) == pytest.approx(free * 1.4 / 2.4)


def test_a_pass_takes_the_longer_of_moving_and_computing() -> None:
    toy = theory.PassToy(13, 1)
    assert (toy.writing(5), toy.checking(5)) == (65, 13)
    assert (toy.writing(5, 12), toy.checking(5, 12)) == (65, 65)
    assert toy.writing(5, 11) > toy.checking(5, 11)
    for others in range(30):
        assert toy.writing(5, others) == 5 * max(13, others + 1)
        assert toy.checking(5, others) == max(13, 5 * (others + 1))
