"""Prompt lookup, and what a draft model is asked."""

from __future__ import annotations

import numpy as np
import pytest

from specchat.models.decoding.lookup_drafter import LookupDrafter
from specchat.models.decoding.model import common_prefix, reuse_prefix
from specchat.models.decoding.model_drafter import ModelDrafter
from specchat.models.decoding.round_cost import RoundCosts
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
    assert LookupDrafter().propose([1], 3).reason == "no_match"


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


def confidences(text: list[int], most: int = 3) -> tuple[float, ...]:
    return LookupDrafter().propose(text, most).confidences


@pytest.mark.parametrize("length", [2, 5, 9])
def test_lookup_is_the_surer_the_longer_the_match(length: int) -> None:
    known = list(range(20, 20 + length))
    expected = [(length + i) / (length + i + 1) for i in range(3)]
    assert confidences([*known, 1, 2, 3, 9, *known]) == pytest.approx(expected)


def test_lookup_is_surer_where_several_matches_go_on_alike() -> None:
    one, two = [1, 2, 3, 4, 9, 1, 2], [1, 2, 3, 4, 8, 1, 2, 3, 4, 9, 1, 2]
    assert all(more > less for more, less in zip(confidences(two, 2), confidences(one, 2), strict=True))


def test_lookup_is_less_sure_from_where_matches_part() -> None:
    """Matches of two tokens, (2, 2): both go on with 3, then one with 4 and the other with 5."""
    text = [1, 2, 3, 5, 8, 1, 2, 3, 4, 9, 1, 2]
    first, second, third = confidences(text)
    assert first == pytest.approx(4 / (4 + 2 / 2))
    assert second == pytest.approx(2 / (4 + 2 / 3))
    assert third == pytest.approx(2 / (2 + 2 / 4)), "of what is left all agree"


def test_lookup_trusts_longer_matches_more() -> None:
    text = [7, 1, 2, 3, 8, 1, 2, 4, 9, 7, 1, 2]
    proposal = LookupDrafter().propose(text, 1)
    assert proposal.tokens == (3,)
    assert proposal.confidences == (pytest.approx(3 / (5 + 1)),)


def drafted(model: FakeModel) -> ModelDrafter:
    return ModelDrafter(model, SamplingChain(Sampling()), np.random.default_rng(0), 8, RoundCosts())


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
