"""Where two texts part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specchat.app.bench.runner import Run
from specchat.app.bench.sides import PLAIN, Side, Step
from specchat.app.compare.difference import NEAR_TIE, Word, describe, first_difference, tokens_of
from support.benches import DRAFT, PROMPTS
from support.rounds import make_round

SIDE = Side(DRAFT, 3)


def written(side: Side, *rounds: tuple[tuple[int, ...], int, int | None], text: str = "") -> Run:
    """A run of rounds, each its guesses, how many of them were accepted, and the target's token."""
    made = tuple(
        replace(make_round(len(guesses), accepted), guesses=guesses, token=token) for guesses, accepted, token in rounds
    )
    return Run(Step(DRAFT, side, PROMPTS[0], 0), 1, made, 20, 0.5, "length", text)


def test_only_what_is_in_the_text_is_compared() -> None:
    plain = written(PLAIN, ((), 0, 5), ((), 0, 6), ((), 0, 7))
    drafted = written(SIDE, ((5, 9, 9), 1, 6), ((7,), 1, None))
    assert tokens_of(drafted) == [5, 6, 7]
    assert first_difference(plain, drafted) is None


@pytest.mark.parametrize(("other", "place"), [((5, 6, 8), 2), ((4,), 0), ((5, 6), 2), ((5, 6, 7, 8), 3)])
def test_the_first_token_that_differs_is_found(other: tuple[int, ...], place: int) -> None:
    plain = written(PLAIN, *(((), 0, token) for token in (5, 6, 7)))
    assert first_difference(plain, written(SIDE, *(((), 0, token) for token in other))) == place


def test_a_difference_tells_where_it_is() -> None:
    plain = written(PLAIN, text="The gull flew over the sea.")
    drafted = written(SIDE, text="The gull flew under the sea.")
    found = describe(plain, drafted, 3)
    assert (found.shared, found.without, found.with_draft) == ("The gull flew ", "over the sea.", "under the sea.")
    assert (found.gap, found.is_near_tie) == (None, False)


def test_one_text_may_end_where_the_other_goes_on() -> None:
    found = describe(written(PLAIN, text="The end"), written(SIDE, text="The end, or not"), 2)
    assert (found.shared, found.without, found.with_draft) == ("The end", "", ", or not")


@pytest.mark.parametrize(("gap", "is_tie"), [(NEAR_TIE / 2, True), (NEAR_TIE * 2, False)])
def test_a_near_tie_is_one_of_the_two_likeliest_logits(gap: float, is_tie: bool) -> None:
    words = (Word("a", 12.0), Word("b", 12.0 - gap), Word("c", 1.0))
    found = describe(written(PLAIN, text="a"), written(SIDE, text="b"), 0, words)
    assert found.gap == pytest.approx(gap)
    assert found.is_near_tie is is_tie
