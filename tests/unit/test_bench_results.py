"""From runs to figures: pairs, means, and that everything is counted from rounds."""

from __future__ import annotations

from dataclasses import replace
from statistics import geometric_mean

import pytest

from specchat.app.bench.results import compare, run_result
from specchat.app.bench.runner import Run
from specchat.app.bench.sides import LOOKUP, PLAIN, Step
from specchat.models.decoding.counters import count
from support.benches import DRAFT, PROMPTS, make_run, make_runs


def rate(step: Step) -> float:
    """Code is doubled by the draft and the story isn't; each repeat is slower than the one before."""
    gain = 1 if step.side == PLAIN or step.prompt.kind == "story" else 2
    return 40 * gain / (step.repeat + 1)


def test_a_speed_up_is_that_of_the_pairs_and_drift_cancels_out() -> None:
    [side] = compare(make_runs(rate))
    assert (side.draft, side.drafter, side.gamma) == (DRAFT, "model", 3)
    code, story = side.kinds["code"], side.kinds["story"]
    assert (code.speed_up, story.speed_up) == (pytest.approx(2), pytest.approx(1))
    assert (code.low, code.high) == (pytest.approx(2), pytest.approx(2))
    assert (code.verdict, story.verdict) == ("helps", "no_clear_difference")
    assert side.overall.speed_up == pytest.approx(2**0.5)


def test_speeds_are_geometric_means_whose_ratio_is_the_speed_up() -> None:
    [side] = compare(make_runs(rate))
    for comparison in (*side.kinds.values(), side.overall):
        speeds = comparison.with_draft.tokens_per_second, comparison.without_draft.tokens_per_second
        assert comparison.speed_up == pytest.approx(speeds[0] / speeds[1])  # type: ignore[operator]
    assert side.kinds["story"].with_draft.tokens_per_second == pytest.approx(geometric_mean([40, 20, 40 / 3]))


def test_figures_are_the_counters_of_all_rounds() -> None:
    runs = make_runs(rate)
    [side] = compare(runs)
    ours = [run for run in runs if run.step.side.draft and run.step.prompt.kind == "code"]
    counters = count(round for run in ours for round in run.rounds)
    figures = side.kinds["code"].with_draft
    for name in ("tokens", "target_passes", "draft_runs", "drafted", "accepted", "rejected", "unused", "alpha", "c"):
        assert getattr(figures, name) == getattr(counters, name), name
    for name in ("tokens_per_pass", "acceptance_rate", "tokens_per_second_without", "acceptance_by_position"):
        assert getattr(figures, name) == getattr(counters, name), name
    for name in ("seconds", "seconds_draft", "seconds_verify", "seconds_sampling", "seconds_other"):
        assert getattr(figures, name) == pytest.approx(getattr(counters, name)), name
    assert figures.replies == 3
    assert figures.acceptance_by_position == (1.0, 1.0, 0.0)
    assert side.overall.with_draft.tokens == 2 * figures.tokens


def test_the_first_token_comes_after_the_prompt_and_one_round() -> None:
    runs = make_runs(lambda _: 10.0, repeats=1)
    [side] = compare(runs)
    assert side.overall.with_draft.seconds_prefill == pytest.approx(0.5)
    assert side.overall.with_draft.seconds_first_token == pytest.approx(0.5 + 3 / 10)
    assert side.overall.without_draft.seconds_first_token == pytest.approx(0.5 + 1 / 10)


def test_each_draft_is_compared_with_the_plain_replies_of_its_own_load() -> None:
    speeds = {("a", ""): 10.0, ("a", "a"): 20.0, ("a", LOOKUP): 15.0, ("b", ""): 5.0, ("b", "b"): 20.0}
    runs = make_runs(lambda step: speeds[step.loaded, step.side.draft], ["a", LOOKUP, "b"])
    found = {side.draft: side.overall for side in compare(runs)}
    assert {draft: overall.speed_up for draft, overall in found.items()} == pytest.approx({"a": 2, LOOKUP: 1.5, "b": 4})
    assert found["b"].without_draft.tokens_per_second == pytest.approx(5)


def test_what_has_no_partner_yet_is_left_out() -> None:
    runs = make_runs(rate)
    cut = runs[: len(runs) // 3 + 1]  # the second repeat has one run
    assert compare(cut) == compare(cut[:-1])
    assert compare(runs[:1]) == ()


def test_an_empty_reply_has_no_speed_and_is_in_no_pair() -> None:
    runs = make_runs(rate)
    empty = [emptied(run) if run.step.prompt.kind == "code" and run.step.repeat == 0 else run for run in runs]
    [side] = compare(empty)
    assert (side.kinds["code"].pairs, side.kinds["story"].pairs) == (2, 3)
    assert run_result(emptied(runs[0])).tokens_per_second == 0
    nothing = [emptied(run) if run.step.prompt.kind == "code" else run for run in runs]
    [side] = compare(nothing)
    assert side.kinds["code"].verdict == "nothing"
    assert side.overall.speed_up == pytest.approx(1)


@pytest.mark.parametrize("of", [PLAIN.draft, DRAFT])
def test_one_empty_reply_is_enough_to_spoil_a_pair(of: str) -> None:
    runs = make_runs(rate)
    [side] = compare([emptied(run) if run.step.side.draft == of and not run.step.repeat else run for run in runs])
    assert (side.kinds["code"].pairs, side.overall.pairs) == (2, 4)


def emptied(run: Run) -> Run:
    """The same, but the model ended the reply at once."""
    return replace(run, rounds=(replace(run.rounds[0], guesses=(), accepted=0, token=None, stopped=True),))


def test_a_run_is_kept_as_it_was() -> None:
    step = Step("", PLAIN, PROMPTS[0], 2)
    result = run_result(make_run(step, 10.0))
    assert (result.kind, result.repeat, result.seed, result.draft, result.gamma) == ("code", 2, 3, "", 0)
    assert (result.tokens, result.target_passes) == (12, 12)
    assert (result.seconds, result.tokens_per_second) == (pytest.approx(1.2), pytest.approx(10))
    assert (result.seconds_prefill, result.seconds_first_token) == (0.5, pytest.approx(0.6))
