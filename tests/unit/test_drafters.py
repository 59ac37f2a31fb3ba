"""Prompt lookup, and what a draft model is asked."""

from __future__ import annotations

import numpy as np

from specchat.models.decoding.drafters import LookupDrafter, ModelDrafter, common_prefix, reuse_prefix
from specchat.models.decoding.sampling import SamplingChain
from specchat.settings.values import Sampling
from support.fake_models import FakeModel, random_logits


def lookup(text: list[int], most: int = 3) -> tuple[int, ...]:
    return LookupDrafter().propose(text, most).tokens


def test_lookup_goes_on_as_the_text_did() -> None:
    assert lookup([1, 2, 3, 4, 5, 9, 1, 2]) == (3, 4, 5)


def test_lookup_prefers_the_longest_match_then_the_latest() -> None:
    assert lookup([7, 1, 2, 3, 0, 1, 2, 4, 0, 7, 1, 2], 1) == (3,)
    assert lookup([8, 1, 2, 3, 0, 1, 2, 4, 0, 7, 1, 2], 1) == (4,)


def test_lookup_without_a_match_guesses_nothing() -> None:
    assert lookup([1, 2, 3, 4]) == ()
    assert lookup([1]) == ()


def test_lookup_continues_a_loop_past_the_text() -> None:
    assert lookup([5, 6, 5, 6], 5) == (5, 6, 5, 6, 5)


def test_lookup_is_certain_of_its_guesses() -> None:
    proposal = LookupDrafter().propose([1, 2, 3, 1, 2], 1)
    (law,) = proposal.laws
    assert law.ids is not None
    assert (law.ids.tolist(), law.probabilities.tolist(), proposal.draft_runs) == ([3], [1.0], 0)


def test_lookup_keeps_up_with_a_growing_text() -> None:
    drafter = LookupDrafter()
    text = [1, 2, 3]
    for token in (9, 1, 2, 3, 9, 2):
        drafter.propose(text, 2)
        text.append(token)
        drafter.learn(text)
    assert drafter.propose([*text, 3], 2).tokens == lookup([*text, 3], 2) == (9, 2)


def drafted(model: FakeModel) -> ModelDrafter:
    return ModelDrafter(model, SamplingChain(Sampling()), np.random.default_rng(0), 8)


def test_a_draft_forgets_rejected_guesses_even_if_later_tokens_coincide() -> None:
    model = FakeModel(random_logits(1, 8), 8)
    drafter = drafted(model)
    guesses = drafter.propose([1, 2], 4).tokens
    other = (guesses[0] + 1) % 8
    text = [1, 2, other, *guesses[1:], 5]
    drafter.learn(text)
    assert model.tokens == [1, 2]


def test_a_draft_keeps_accepted_guesses() -> None:
    model = FakeModel(random_logits(1, 8), 8)
    drafter = drafted(model)
    guesses = drafter.propose([1, 2], 4).tokens
    drafter.learn([1, 2, *guesses[:2], (guesses[2] + 1) % 8])
    assert model.tokens == [1, 2, *guesses[:2]]


def test_a_draft_without_room_guesses_nothing() -> None:
    assert drafted(FakeModel(random_logits(1, 8), 8, n_ctx=4)).propose([1, 2, 3, 4, 5], 2).tokens == ()


def test_reuse_prefix_rolls_back_to_what_is_shared() -> None:
    model = FakeModel(random_logits(1, 8), 8)
    model.evaluate([1, 2, 3, 4], 0)
    assert reuse_prefix(model, [1, 2, 5]) == 2
    assert model.tokens == [1, 2]
    assert common_prefix([1, 2], [1, 2, 3]) == 2
