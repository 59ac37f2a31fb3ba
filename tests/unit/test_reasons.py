"""The reasons of the rounds' guesses: short sentences that stay long enough to be read."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import get_args

import pytest
from rich.cells import cell_len

from specchat.app.reasons import STEADY_SECONDS, SteadyReason, commonest_reason, reason_line
from specchat.models.decoding.rounds import Reason, Round
from specchat.settings.values import MAX_GAMMA
from support.rounds import make_round

ROOM = 30
"""Cells that are left for a reason in the strip, in 80 columns."""


def round_of(reason: Reason, guesses: int, *, seconds: float = 0.1, on: bool = True) -> Round:
    return replace(make_round(guesses, 0, on=on, seconds=seconds), reason=reason)


@pytest.mark.parametrize("reason", [reason for reason in get_args(Reason) if reason])
def test_every_reason_is_a_short_sentence_with_and_without_guesses(reason: Reason) -> None:
    lines = [reason_line(reason, guesses) for guesses in range(MAX_GAMMA + 1)]
    assert all(0 < cell_len(line) <= ROOM for line in lines)
    assert lines[0].startswith("plain: ")


@pytest.mark.parametrize(
    ("reason", "guesses", "line"),
    [
        ("costly", 3, "3 guesses: more wouldn't pay"),
        ("costly", 1, "1 guess: more wouldn't pay"),
        ("unsure", 2, "2 guesses: unsure of the next"),
        ("no_match", 5, "5 guesses: the match ended"),
        ("no_match", 0, "plain: no such text before"),
        ("fixed", 3, "3 guesses: γ is fixed"),
        ("fixed", 0, "plain: γ is 0"),
        ("plain", 0, "plain: guessing wouldn't pay"),
        ("measuring", 0, "plain: measuring the cost"),
        ("off", 0, "plain: the draft is off"),
    ],
)
def test_the_sentences(reason: Reason, guesses: int, line: str) -> None:
    assert reason_line(reason, guesses) == line


def test_rounds_from_before_there_were_reasons_have_none() -> None:
    assert [reason_line("", guesses) for guesses in (0, 3)] == ["", ""]


def test_the_commonest_reason_comes_with_its_commonest_number_of_guesses() -> None:
    rounds = [*(round_of("costly", guesses) for guesses in (2, 4, 4, 5)), *(round_of("unsure", 3) for _ in range(3))]
    assert commonest_reason(rounds) == "4 guesses: more wouldn't pay"


# ------------------------------------------------------------------ what is shown


def shown(*rounds: Round) -> list[str]:
    """What is shown after each round, where speculation is on."""
    steady = SteadyReason()
    lines = []
    for round in rounds:
        steady.add(round)
        lines.append(steady.line(is_on=True))
    return lines


def test_the_first_reason_is_shown_at_once_and_the_next_ones_once_a_second() -> None:
    rounds = [round_of("costly", 3), *(round_of("unsure", guesses, seconds=0.3) for guesses in (1, 2, 2, 4))]
    assert shown(*rounds) == ["3 guesses: more wouldn't pay"] * 4 + ["2 guesses: unsure of the next"]


def test_it_changes_at_most_once_a_second_however_fast_rounds_are() -> None:
    reasons: list[Reason] = ["costly", "unsure", "most"]
    lines = shown(*(round_of(reasons[i % 3], i % 7, seconds=0.01) for i in range(1000)))
    changes = sum(before != after for before, after in pairwise(lines))
    assert 0 < changes <= 1000 * 0.01 / STEADY_SECONDS


def test_slow_rounds_have_their_own() -> None:
    assert shown(round_of("plain", 0), round_of("costly", 2, seconds=1.5)) == [
        "plain: guessing wouldn't pay",
        "2 guesses: more wouldn't pay",
    ]


def test_a_switch_is_shown_at_once() -> None:
    steady = SteadyReason()
    steady.add(round_of("costly", 3))
    assert steady.line(is_on=False) == ""
    steady.add(round_of("off", 0, on=False))
    assert (steady.line(is_on=False), steady.line(is_on=True)) == ("plain: the draft is off", "")


def test_a_target_that_can_undo_nothing_is_never_on() -> None:
    steady = SteadyReason()
    steady.add(round_of("no_rollback", 0))
    assert steady.line(is_on=False) == "plain: the target can't undo"


def test_before_any_round_there_is_none() -> None:
    steady = SteadyReason()
    assert (steady.line(is_on=True), steady.line(is_on=False)) == ("", "")
