"""Reading the prompt stops one token short, keeps what is held, and measures plain decoding once."""

from __future__ import annotations

import pytest

from specchat.models.decoding.model import Cancelled
from specchat.models.decoding.prefill import read_prompt
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.sampling import SamplingChain
from specchat.settings.values import Sampling
from support.fake_models import FakeModel, random_logits

CHAIN = SamplingChain(Sampling())
PROMPT = [1, 2, 3, 4, 5, 6, 7, 0, 1, 2]


def model(**options: bool) -> FakeModel:
    return FakeModel(random_logits(1, 8), 8, **options)  # type: ignore[arg-type]


def test_the_last_token_is_left_to_the_first_round() -> None:
    target = model()
    assert read_prompt(target, PROMPT, CHAIN, RoundCosts(), measure=True) == 0
    assert target.tokens == PROMPT[:-1]


def test_plain_cost_is_measured_by_reading_the_last_tokens_one_by_one() -> None:
    target, costs = model(), RoundCosts()
    read_prompt(target, PROMPT, CHAIN, costs, measure=True)
    assert target.passes == [5, 1, 1, 1, 1]
    assert costs.is_fresh(9)
    longer = [*PROMPT, 3, 3, 3, 3]
    assert read_prompt(target, longer, CHAIN, costs, measure=True) == 9
    assert target.passes[5:] == [4]


@pytest.mark.parametrize("prompt", [[1], [1, 2, 3]])
def test_a_prompt_too_short_to_measure(prompt: list[int]) -> None:
    target, costs = model(), RoundCosts()
    read_prompt(target, prompt, CHAIN, costs, measure=True)
    assert target.tokens == prompt[:-1]
    assert not costs.is_fresh(0)


def test_a_target_that_cannot_roll_back_is_not_measured_twice_over() -> None:
    target, costs = model(can_roll_back=False), RoundCosts()
    read_prompt(target, PROMPT, CHAIN, costs, measure=True)
    assert target.passes == [9]
    read_prompt(target, [9 % 8, *PROMPT], CHAIN, costs, measure=True)
    assert target.tokens == [1, *PROMPT[:-1]]


def test_nothing_is_measured_unasked() -> None:
    target, costs = model(), RoundCosts()
    read_prompt(target, PROMPT, CHAIN, costs, measure=False)
    assert target.passes == [9]
    assert costs.plain(9) is None


def test_cancelling_before_anything_is_read() -> None:
    with pytest.raises(Cancelled):
        read_prompt(model(), PROMPT, CHAIN, RoundCosts(), measure=True, progress=lambda done, total: False)  # noqa: ARG005


def test_progress_goes_on_through_the_measured_tokens_and_may_cancel_there() -> None:
    target = model()
    asked: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> bool:
        asked.append((done, total))
        return done < 7

    with pytest.raises(Cancelled):
        read_prompt(target, PROMPT, CHAIN, RoundCosts(), measure=True, progress=progress)
    assert asked[-3:] == [(5, 9), (6, 9), (7, 9)]
    assert target.tokens == PROMPT[:7]
