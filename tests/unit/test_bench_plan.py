"""The order of a benchmark's replies: each side in every place alike, each draft beside plain replies of its own."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import pytest

from specchat.app.bench.prompts import Prompt
from specchat.app.bench.runner import without
from specchat.app.bench.sides import LOOKUP, PLAIN, SWEEP, Side, Step, gammas, plan

PROMPTS = tuple(Prompt(kind, kind) for kind in "abcdefgh")


def test_a_sweep_tries_six_numbers_and_auto() -> None:
    assert gammas("sweep") == SWEEP == (1, 3, 5, 7, 11, 15, "auto")
    assert gammas("auto") == ("auto",)
    assert gammas(4) == (4,)


@pytest.mark.parametrize(
    ("side", "drafter"),
    [
        (PLAIN, "none"),
        (Side(LOOKUP, "auto"), "lookup"),
        (Side(LOOKUP, 3), "lookup"),
        (Side("a.gguf", 3), "model"),
        (Side("a.gguf", "auto"), "both"),
    ],
)
def test_who_guesses_is_what_the_chat_would_choose(side: Side, drafter: str) -> None:
    assert side.drafter == drafter


def test_every_side_answers_every_prompt_in_every_repeat_once() -> None:
    steps = plan([LOOKUP], SWEEP, PROMPTS, 3)
    assert len(steps) == len(set(steps)) == 8 * 8 * 3
    assert {step.side for step in steps} == {PLAIN, *(Side(LOOKUP, gamma) for gamma in SWEEP)}


def test_two_sides_take_turns_at_being_first() -> None:
    steps = plan([LOOKUP], ["auto"], PROMPTS, 2)
    first = [next(group).side for _, group in groupby(steps, lambda step: (step.repeat, step.prompt))]
    assert first == [PLAIN, Side(LOOKUP, "auto")] * 4 + [Side(LOOKUP, "auto"), PLAIN] * 4


def test_each_side_has_the_same_mean_place_in_two_repeats() -> None:
    steps = plan([LOOKUP], SWEEP, PROMPTS[:1], 2)
    places = Counter[Side]()
    for place, step in enumerate(steps):
        places[step.side] += place
    assert len(set(places.values())) == 1


def test_each_side_is_in_every_place_for_some_prompt() -> None:
    steps = plan([LOOKUP], SWEEP, PROMPTS, 1)
    places = {(step.side, place % 8) for place, step in enumerate(steps)}
    assert len(places) == 8 * 8


def test_each_file_is_loaded_once_a_repeat_and_the_order_is_turned_round() -> None:
    steps = plan(["a", "b"], ["auto"], PROMPTS, 4)
    loads = [loaded for loaded, _ in groupby(step.loaded for step in steps)]
    assert loads == ["a", "b", "a", "b", "a"]
    assert [step.loaded for step in steps[:: len(steps) // 8]] == ["a", "b", "b", "a", "a", "b", "b", "a"]


def test_each_file_has_plain_replies_of_its_own_and_lookup_goes_with_the_first() -> None:
    steps = plan(["a", LOOKUP, "b"], [3], PROMPTS, 1)
    sides = {loaded: {step.side.draft for step in steps if step.loaded == loaded} for loaded in ("a", "b")}
    assert sides == {"a": {"", "a", LOOKUP}, "b": {"", "b"}}


def test_lookup_alone_loads_no_draft() -> None:
    assert {step.loaded for step in plan([LOOKUP], ["auto"], PROMPTS, 1)} == {""}


# ------------------------------------------------------------------ drafts that can't be used


def drafts(steps: list[Step]) -> set[tuple[str, str]]:
    return {(step.loaded, step.side.draft) for step in steps}


def test_what_is_left_without_a_draft_needs_no_plain_replies_for_it() -> None:
    steps = plan(["a", "b"], [3], PROMPTS, 2)
    assert drafts(without(steps, ["a"])) == {("b", ""), ("b", "b")}
    assert without(steps, ["a", "b"]) == []


def test_lookup_goes_on_without_the_file_it_went_with() -> None:
    steps = plan(["a", LOOKUP], [3], PROMPTS, 2)
    assert drafts(without(steps, ["a"])) == {("", ""), ("", LOOKUP)}
