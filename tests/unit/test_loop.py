"""The loop: passes, stops, switching, seeds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specchat.models.decoding.counters import count
from specchat.settings.values import Sampling
from support.decoding import Outcome, Run, reply
from support.fake_models import FakeModel, random_logits, scripted_logits

GREEDY = Sampling(temperature=0)
HOT = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
PENALISED = replace(HOT, repeat_penalty=1.5, presence_penalty=2, frequency_penalty=0.5, penalty_window=4)
PROMPT = [1, 2, 3, 1, 2]
V = 6


def model(seed: int = 1, **options: int | bool) -> FakeModel:
    return FakeModel(random_logits(seed, V), V, **options)  # type: ignore[arg-type]


def scripted(text: list[int], **options: int) -> FakeModel:
    return FakeModel(scripted_logits(text, 30), 30, **options)


def check_counts(outcome: Outcome) -> None:
    counters = count(outcome.rounds)
    assert counters.drafted == counters.accepted + counters.rejected + counters.unused
    assert counters.unused >= 0
    assert counters.tokens == sum(round.tokens for round in outcome.rounds)
    for round in outcome.rounds:
        assert round.rejected <= 1
        assert round.width == len(round.guesses) + 1
        assert round.seconds >= round.seconds_draft + round.seconds_verify + round.seconds_sampling


def test_plain_decoding_is_one_pass_a_token() -> None:
    target = model()
    outcome = reply(Run(target, PROMPT, None, most_tokens=7))
    assert len(outcome.tokens) == len(outcome.rounds) == 7
    assert target.passes[-7:] == [1] * 7
    assert target.tokens == [*PROMPT, *outcome.tokens][:-1]
    assert outcome.stop_reason == "length"


@pytest.mark.parametrize("gamma", range(9))
@pytest.mark.parametrize("draft", ["good", "bad", "lookup"])
def test_greedy_text_is_plain_decodings(gamma: int, draft: str) -> None:
    plain = reply(Run(model(), PROMPT, None, sampling=GREEDY, most_tokens=40))
    drafter = {"good": model(), "bad": model(2), "lookup": "lookup"}[draft]
    outcome = reply(Run(model(), PROMPT, drafter, gamma, sampling=GREEDY, most_tokens=40))
    assert outcome.tokens == plain.tokens
    check_counts(outcome)
    if draft == "good":
        assert count(outcome.rounds).rejected == 0
        assert count(outcome.rounds).alpha in (None, pytest.approx(1))


@pytest.mark.parametrize("sampling", [GREEDY, HOT, PENALISED], ids=["greedy", "hot", "penalised"])
def test_the_target_as_its_own_draft_is_always_accepted(sampling: Sampling) -> None:
    outcome = reply(Run(model(), PROMPT, model(), 4, sampling=sampling, most_tokens=50))
    counters = count(outcome.rounds)
    assert (counters.drafted, counters.target_passes, counters.draft_runs) == (40, 10, 40)
    assert counters.accepted == 40
    assert counters.tokens_per_pass == 5


def test_draft_runs_are_one_a_guess_and_catching_up_is_apart() -> None:
    draft = model()
    outcome = reply(Run(model(), PROMPT, draft, 3, sampling=HOT, most_tokens=9))
    assert [round.draft_runs for round in outcome.rounds] == [3, 3, 0]
    assert [round.caught_up for round in outcome.rounds] == [0, 1, 0]
    assert draft.passes == [4, 1, 1, 1, 2, 1, 1]


def test_switching_inside_a_reply_lets_the_draft_catch_up_in_one_chunk() -> None:
    draft = model()
    outcome = reply(Run(model(), PROMPT, draft, lambda n: 0 if n < 6 else 2, sampling=HOT, most_tokens=12))
    assert [len(round.guesses) for round in outcome.rounds[:7]] == [0, 0, 0, 0, 0, 0, 2]
    assert outcome.rounds[6].caught_up == 6
    assert draft.passes[:2] == [4, 7]


def test_a_seed_repeats_a_reply_and_another_does_not() -> None:
    def text(seed: int) -> list[int]:
        return reply(Run(model(), PROMPT, model(2), 3, sampling=HOT, seed=seed, most_tokens=30)).tokens

    assert text(5) == text(5) != text(6)


def test_generation_ends_at_an_end_token_of_the_target() -> None:
    text = [*PROMPT, 7, 8, 29, 9]
    outcome = reply(Run(scripted(text), PROMPT, None, sampling=GREEDY, ends=frozenset([29])))
    assert (outcome.tokens, outcome.stop_reason) == ([7, 8], "end")
    assert outcome.rounds[-1].token is None


def test_an_end_token_among_accepted_guesses_drops_what_follows() -> None:
    text = [*PROMPT, 7, 8, 29, 9, 9, 9]
    target = scripted(text)
    outcome = reply(Run(target, PROMPT, scripted(text), 4, sampling=GREEDY, ends=frozenset([29])))
    assert (outcome.tokens, outcome.stop_reason) == ([7, 8], "end")
    (round,) = outcome.rounds
    assert (round.accepted, round.rejected, round.token, round.tokens) == (2, 0, None, 2)
    assert count(outcome.rounds).unused == 2
    assert target.tokens == [*PROMPT, 7, 8]
    check_counts(outcome)


def test_an_end_token_that_replaces_a_guess_is_not_a_rejection() -> None:
    outcome = reply(
        Run(scripted([*PROMPT, 7, 29]), PROMPT, scripted([*PROMPT, 7, 8, 9]), 2, sampling=GREEDY, ends=frozenset([29]))
    )
    assert (outcome.tokens, count(outcome.rounds).rejected, count(outcome.rounds).unused) == ([7], 0, 1)


@pytest.mark.parametrize("gamma", [0, 1, 3, 8])
def test_the_token_limit_is_never_passed(gamma: int) -> None:
    outcome = reply(Run(model(), PROMPT, model(), gamma, sampling=HOT, most_tokens=6))
    assert len(outcome.tokens) == 6
    assert outcome.stop_reason == "length"


@pytest.mark.parametrize("gamma", [0, 3])
def test_a_full_context_ends_the_reply(gamma: int) -> None:
    target = model(n_ctx=16)
    outcome = reply(Run(target, PROMPT, model(), gamma, sampling=HOT, most_tokens=0))
    assert outcome.stop_reason == "context"
    assert len(PROMPT) + len(outcome.tokens) == 17
    check_counts(outcome)


def test_a_draft_with_a_smaller_context_stops_guessing() -> None:
    outcome = reply(Run(model(), PROMPT, model(n_ctx=12), 3, sampling=HOT, most_tokens=30))
    assert len(outcome.tokens) == 30
    assert outcome.rounds[0].guesses
    assert not outcome.rounds[-1].guesses


def test_guesses_fit_one_pass() -> None:
    outcome = reply(Run(model(n_batch=4), PROMPT, model(), 8, sampling=HOT))
    assert max(round.width for round in outcome.rounds) == 4


def test_a_target_that_cannot_roll_back_decodes_plainly() -> None:
    target = model(can_roll_back=False)
    outcome = reply(Run(target, PROMPT, model(), 3, sampling=HOT))
    assert all(round.width == 1 for round in outcome.rounds)
    assert sum(target.passes) == len(PROMPT) + 16 - 1


def test_cancelling_keeps_what_is_written() -> None:
    calls = iter([False, False, True])
    outcome = reply(Run(model(), PROMPT, None, sampling=HOT, cancelled=lambda: next(calls)))
    assert (len(outcome.tokens), outcome.stop_reason) == (2, "cancelled")


def test_ids_the_draft_lacks_are_neither_guessed_nor_shown_to_it() -> None:
    small = FakeModel(random_logits(3, 4), 4)
    outcome = reply(Run(model(), [5, 4, 5], small, 3, sampling=HOT, most_tokens=60))
    assert any(token >= 4 for token in outcome.tokens)
    assert all(guess < 4 for round in outcome.rounds for guess in round.guesses)
    assert max(small.tokens) < 4


def test_ids_only_the_draft_has_are_never_guessed() -> None:
    large = FakeModel(random_logits(3, 9), 9)
    outcome = reply(Run(model(), PROMPT, large, 3, sampling=HOT, most_tokens=60))
    assert all(guess < V for round in outcome.rounds for guess in round.guesses)


def test_plain_cost_is_known_from_the_first_round_on() -> None:
    outcome = reply(Run(model(), PROMPT, model(), 3, sampling=HOT))
    assert all(round.pass_seconds and round.plain_seconds for round in outcome.rounds)
    counters = count(outcome.rounds)
    assert counters.c is not None
    assert counters.speed_up is not None


def test_a_new_reply_reuses_the_common_prefix_in_both_models() -> None:
    target, draft = model(), model()
    first = reply(Run(target, PROMPT, draft, 3, sampling=HOT, most_tokens=8))
    target.passes.clear()
    draft.passes.clear()
    longer = [*PROMPT, *first.tokens, 4, 4, 4, 4, 4, 4]
    reply(Run(target, longer, draft, 3, sampling=HOT, most_tokens=1))
    assert sum(target.passes) <= 6 + 1
    assert sum(draft.passes) <= 6 + 2


STOPS = [
    (b"hi", [7, 8], b"", []),
    (b"ij", [7, 8, 9, 10, 11], b"h", [7]),
    (b"lmn", [7, 8, 9, 10, 11, 12, 13, 14], b"hijk", [7, 8, 9, 10]),
    (b"zz", [7, 8, 9], b"hij", [7, 8, 9]),
]


@pytest.mark.parametrize(("stop", "script", "text", "tokens"), STOPS)
@pytest.mark.parametrize("gamma", [0, 1, 3])
def test_stop_strings_straddle_tokens_and_rounds(
    stop: bytes, script: list[int], text: bytes, tokens: list[int], gamma: int
) -> None:
    whole = [*PROMPT, *script, 29]
    run = Run(scripted(whole), PROMPT, scripted(whole), gamma, sampling=GREEDY, ends=frozenset([29]), stops=[stop])
    outcome = reply(run)
    assert outcome.data == text
    assert sum(round.tokens for round in outcome.rounds) == len(tokens)
    assert outcome.stop_reason == ("end" if stop == b"zz" else "stop")
    check_counts(outcome)
    if outcome.stop_reason == "stop":
        assert count(outcome.rounds).rejected == 0


def test_a_stop_string_inside_one_token_keeps_the_text_before_it() -> None:
    whole = [*PROMPT, 7, 8, 9]
    pieces = {7: b"abc", 8: b"dSTOPe", 9: b"f"}
    run = Run(scripted(whole), PROMPT, None, sampling=GREEDY, stops=[b"STOP"], piece=lambda token: pieces[token])
    outcome = reply(run)
    assert outcome.data == b"abcd"
    assert sum(round.tokens for round in outcome.rounds) == 2


@pytest.mark.parametrize("gamma", [0, 3])
@pytest.mark.parametrize("stops", [[b"k", b"jk", b"ij"], [b"hijk", b"ij"], [b"ij", b"hij"]])
def test_the_first_stop_string_to_be_complete_counts_and_of_several_the_longest(gamma: int, stops: list[bytes]) -> None:
    whole = [*PROMPT, 7, 8, 9, 10]
    run = Run(scripted(whole), PROMPT, scripted(whole), gamma, sampling=GREEDY, stops=stops)
    assert reply(run).data == (b"" if b"hij" in stops else b"h")


def test_rounds_wait_only_while_a_stop_string_may_be_beginning() -> None:
    whole = [*PROMPT, 7, 8, 9, 10, 29]
    run = Run(scripted(whole), PROMPT, None, sampling=GREEDY, stops=[b"ix"], ends=frozenset([29]))
    outcome = reply(run)
    assert outcome.data == b"hijk"
    assert [round.token for round in outcome.rounds] == [7, 8, 9, 10, None]


def test_text_is_the_same_whether_or_not_rounds_were_held_back() -> None:
    run = Run(model(), PROMPT, model(2), 3, sampling=HOT, most_tokens=30)
    free, held = reply(run), reply(replace(run, target=model(), draft=model(2), stops=[b"abcabcabcabc"]))
    assert free.data == held.data
