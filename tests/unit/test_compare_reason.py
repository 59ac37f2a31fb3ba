"""Why a draft pays or doesn't: the formula, its limits, and what they promise."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from specchat.app.compare.reason import alpha_for, best_gamma, reason_of, tokens_a_round
from specchat.models.decoding.rounds import Round
from support.rounds import make_round

PLAIN = replace(make_round(0, 0, on=False, seconds=0.1), seconds_draft=0.0, seconds_verify=0.1, seconds_sampling=0.0)


def guessed(accepted: int, *, alpha: float = 0.7, run: float = 0.02, verify: float = 0.15, rest: float = 0.01) -> Round:
    """A round of three guesses on a machine where a pass over one token takes 0.1 s."""
    return replace(
        make_round(3, accepted),
        alpha_sum=3 * alpha,
        alpha_weight=3.0,
        run_seconds=run,
        pass_seconds=0.1,
        seconds_draft=3 * run,
        seconds_verify=verify,
        seconds_sampling=rest,
        seconds=3 * run + verify + rest,
    )


def test_what_a_round_brings_and_costs_is_taken_from_the_rounds() -> None:
    reason = reason_of([guessed(3), guessed(1)], [PLAIN] * 4)
    assert reason is not None
    assert (reason.gamma, reason.alpha, reason.tokens) == (3, pytest.approx(0.7), 3)
    assert (reason.c, reason.verify, reason.rest) == (pytest.approx(0.2), pytest.approx(1.5), pytest.approx(0.1))
    assert reason.speed_up == pytest.approx(3 / (0.6 + 1.5 + 0.1))


def test_at_each_limit_a_round_takes_as_long_as_the_plain_tokens_it_brings() -> None:
    rounds = [guessed(2), guessed(1), guessed(0)]
    reason = reason_of(rounds, [PLAIN])
    assert reason is not None
    assert reason.c_needed is not None and reason.verify_needed is not None and reason.alpha_needed is not None
    for limit in (
        {"run": 0.1 * reason.c_needed},
        {"verify": 0.1 * reason.verify_needed},
    ):
        other = reason_of([guessed(2, **limit), guessed(1, **limit), guessed(0, **limit)], [PLAIN])
        assert other is not None
        assert other.speed_up == pytest.approx(1)
    assert tokens_a_round(reason.alpha_needed, 3) == pytest.approx(reason.cost)


def test_plain_rounds_among_those_of_a_pace_are_no_part_of_it() -> None:
    alone = reason_of([guessed(2)], [PLAIN])
    among = reason_of([PLAIN, guessed(2), PLAIN, PLAIN], [PLAIN])
    assert alone is not None and among == msgspec.structs.replace(alone, share=0.25)


def test_where_nothing_was_guessed_there_is_nothing_to_say() -> None:
    assert reason_of([PLAIN], [PLAIN]) is None


def test_no_alpha_does_what_even_full_acceptance_would_not() -> None:
    assert alpha_for(4.5, 3) is None
    assert alpha_for(4.0, 3) == pytest.approx(1)
    assert alpha_for(1.0, 3) == pytest.approx(0)
    reason = reason_of([guessed(0, verify=0.9)], [PLAIN])
    assert reason is not None
    assert (reason.alpha_needed, reason.c_needed) == (None, None)


def test_the_best_number_of_guesses_is_one_whose_pass_was_measured() -> None:
    reason = reason_of([guessed(2, alpha=0.8)], [PLAIN])
    assert reason is not None
    best = best_gamma(reason, {1: 0.1, 4: 0.15, 8: 0.16})
    assert best is not None
    assert best[0] == 7
    expected = tokens_a_round(0.8, 7) / (7 * 0.2 + 1.6 + reason.rest)
    assert best[1] == pytest.approx(expected)
    assert best_gamma(reason, {1: 0.1}) is None
    assert best_gamma(reason, {}) is None
