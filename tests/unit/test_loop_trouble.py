"""The loop where room is short, speculation is switched, memory is lost, or a person stops the draft."""

from __future__ import annotations

import itertools

import pytest

from specchat.settings.values import Sampling
from support.decoding import Run, reply
from support.fake_models import FakeModel, random_logits, scripted_logits

GREEDY = Sampling(temperature=0)
HOT = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
PROMPT = [1, 2, 3, 1, 2]
V = 6


class Forgetful(FakeModel):
    """Loses all it holds when it is to forget anything, without having said so."""

    def roll_back(self, length: int) -> None:
        if length < len(self.tokens):
            self.tokens.clear()


def model(seed: int = 1, **options: int) -> FakeModel:
    return FakeModel(random_logits(seed, V), V, **options)


def forgetful(seed: int = 1) -> Forgetful:
    return Forgetful(random_logits(seed, V), V)


# ------------------------------------------------------------------ room


@pytest.mark.parametrize("gamma", [3, 4, 5, 7])
def test_guesses_fill_both_contexts_and_never_more(gamma: int) -> None:
    for room, draft_room in itertools.product(range(5, 16), range(3, 16)):
        target, draft = model(n_ctx=room), model(n_ctx=draft_room)
        outcome = reply(Run(target, PROMPT, draft, gamma, sampling=HOT, most_tokens=0))
        assert len(outcome.rounds[0].guesses) == max(0, min(gamma, room - 5, draft_room - 4))
        assert (outcome.stop_reason, len(PROMPT) + len(outcome.tokens)) == ("context", room + 1)
        assert len(target.tokens) == room


def test_a_prompt_that_the_draft_has_no_room_for_is_not_read_by_it() -> None:
    draft = model(n_ctx=4)
    assert len(reply(Run(model(), PROMPT, draft, 3)).tokens) == 16
    assert draft.passes == []


# ------------------------------------------------------------------ switching


def test_rounds_say_how_they_came_about() -> None:
    gammas = [0, 0, 2, 2, 0, 1, 4, 4]
    outcome = reply(Run(model(), PROMPT, model(), gammas.__getitem__, sampling=HOT, most_tokens=17))
    off, guessed = (False, "", 1), (True, "model")
    told = [(round.speculating, round.drafter, round.width) for round in outcome.rounds]
    last_token = (True, "", 1)
    assert told == [off, off, (*guessed, 3), (*guessed, 3), off, (*guessed, 2), (*guessed, 5), last_token]


def test_speculation_may_be_on_without_a_guess() -> None:
    text = list(range(12))
    outcome = reply(Run(FakeModel(scripted_logits(text, 30), 30), text[:6], "lookup", most_tokens=4, sampling=GREEDY))
    assert [(round.speculating, round.drafter, round.width) for round in outcome.rounds] == [(True, "", 1)] * 4


# ------------------------------------------------------------------ lost memory


def test_a_target_that_forgets_more_than_it_should_reads_its_text_anew() -> None:
    target = forgetful()
    outcome = reply(Run(target, PROMPT, model(2), 3, sampling=GREEDY, most_tokens=40))
    assert outcome.tokens == reply(Run(model(), PROMPT, None, sampling=GREEDY, most_tokens=40)).tokens
    length, unread, widths = len(PROMPT), 1, []
    for round in outcome.rounds:
        widths.append(unread + len(round.guesses))
        length += round.tokens
        unread = length if round.rejected else 1
    assert [round.width for round in outcome.rounds] == widths == target.passes[-len(widths) :]
    assert max(widths) > 20


def test_a_draft_that_forgets_more_than_it_should_reads_the_text_anew() -> None:
    outcome = reply(Run(model(), PROMPT, forgetful(2), 3, sampling=GREEDY, most_tokens=40))
    like = reply(Run(model(), PROMPT, model(2), 3, sampling=GREEDY, most_tokens=40))
    assert [(round.guesses, round.accepted) for round in outcome.rounds] == [
        (round.guesses, round.accepted) for round in like.rounds
    ]
    first = next(n for n, round in enumerate(outcome.rounds) if round.accepted < 2)
    length = len(PROMPT) + sum(round.tokens for round in outcome.rounds[: first + 1])
    assert outcome.rounds[first + 1].caught_up == length - 1


# ------------------------------------------------------------------ stopping


def test_stopping_while_the_draft_catches_up_keeps_the_text() -> None:
    answers = iter([True, False])
    target, draft = model(), model(n_batch=4)
    run = Run(target, PROMPT, draft, lambda n: 0 if n < 6 else 2, draft_progress=lambda _done, _total: next(answers))
    outcome = reply(run)
    assert (outcome.stop_reason, len(outcome.tokens), len(outcome.rounds)) == ("cancelled", 6, 6)
    assert outcome.data == bytes(97 + token for token in outcome.tokens)
    assert target.tokens == [*PROMPT, *outcome.tokens][:-1]
    assert draft.tokens == PROMPT[:-1]


def test_stopping_there_gives_out_what_a_stop_string_held_back() -> None:
    answers = iter([True, False])
    text = [*PROMPT, 7, 8, 9, 10, 11, 12, 13]
    outcome = reply(
        Run(
            FakeModel(scripted_logits(text, 30), 30),
            PROMPT,
            FakeModel(scripted_logits(text, 30), 30, n_batch=4),
            lambda n: 0 if n < 6 else 2,
            sampling=GREEDY,
            stops=[b"lmx"],
            draft_progress=lambda _done, _total: next(answers),
        )
    )
    assert (outcome.stop_reason, outcome.data, len(outcome.rounds)) == ("cancelled", b"hijklm", 6)
