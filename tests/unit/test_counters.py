"""Figures from rounds: every word of the table once by hand, and the identities between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round

SPECULATIVE = Round(
    guesses=(11, 12, 13, 14),
    accepted=2,
    token=15,
    speculating=True,
    drafter="model",
    width=5,
    stopped=False,
    draft_runs=4,
    caught_up=1,
    run_seconds=0.01,
    alpha_sum=1.4,
    alpha_weight=2.0,
    seconds_draft=0.04,
    seconds_verify=0.15,
    seconds_sampling=0.005,
    seconds=0.2,
    plain_seconds=0.1,
    pass_seconds=0.08,
)
PLAIN = replace(
    SPECULATIVE,
    guesses=(),
    accepted=0,
    speculating=True,
    drafter="",
    width=1,
    draft_runs=0,
    caught_up=0,
    run_seconds=None,
    alpha_sum=0.0,
    alpha_weight=0.0,
    seconds_draft=0.0,
    seconds_verify=0.09,
    seconds_sampling=0.001,
    seconds=0.1,
)
STOPPED = replace(SPECULATIVE, accepted=1, token=None, stopped=True)


def test_every_figure_by_hand() -> None:
    counters = count([SPECULATIVE, PLAIN, STOPPED])
    assert counters.target_passes == 3
    assert counters.draft_runs == 8
    assert counters.caught_up == 2
    assert counters.drafted == 8
    assert counters.accepted == 3
    assert counters.rejected == 1
    assert counters.unused == 4
    assert counters.tokens == 3 + 1 + 1
    assert counters.acceptance_rate == pytest.approx(3 / 8)
    assert counters.tokens_per_pass == pytest.approx(5 / 3)
    assert counters.seconds == pytest.approx(0.5)
    assert counters.tokens_per_second == pytest.approx(10)
    assert counters.alpha == pytest.approx(0.7)
    assert counters.c == pytest.approx(0.125)
    assert counters.tokens_per_second_without == pytest.approx(10)
    assert counters.speed_up == pytest.approx(1)


def test_acceptance_by_position_counts_each_place_where_something_was_guessed() -> None:
    short = replace(SPECULATIVE, guesses=(11, 12), accepted=2)
    counters = count([SPECULATIVE, PLAIN, STOPPED, short])
    assert counters.drafted_at == (3, 3, 2, 2)
    assert counters.accepted_at == (3, 2, 0, 0)
    assert counters.acceptance_by_position == pytest.approx((1, 2 / 3, 0, 0))
    assert sum(counters.drafted_at) == counters.drafted
    assert sum(counters.accepted_at) == counters.accepted
    assert count([PLAIN]).acceptance_by_position == ()


def test_the_parts_of_time_add_up() -> None:
    counters = count([SPECULATIVE, PLAIN, STOPPED])
    parts = counters.seconds_draft + counters.seconds_verify + counters.seconds_sampling + counters.seconds_other
    assert parts == pytest.approx(counters.seconds)
    assert counters.seconds_other == pytest.approx(0.5 - 0.08 - 0.39 - 0.011)


def test_nothing_written_yet_has_no_ratios() -> None:
    counters = count([])
    ratios = (
        counters.acceptance_rate,
        counters.tokens_per_pass,
        counters.tokens_per_second,
        counters.alpha,
        counters.c,
        counters.tokens_per_second_without,
        counters.speed_up,
    )
    assert ratios == (None,) * 7


def test_without_is_unknown_while_plain_cost_is() -> None:
    counters = count([replace(SPECULATIVE, plain_seconds=None, pass_seconds=None)])
    assert (counters.tokens_per_second_without, counters.speed_up, counters.c) == (None, None, None)


def test_without_prices_each_round_at_its_own_depth() -> None:
    deep = replace(SPECULATIVE, plain_seconds=0.3)
    assert count([SPECULATIVE, deep]).tokens_per_second_without == pytest.approx(6 / (3 * 0.1 + 3 * 0.3))
