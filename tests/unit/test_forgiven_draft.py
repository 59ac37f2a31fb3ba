"""A draft that fails tells why once and leaves the reply alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model import Cancelled, ContextFull, EvaluationFailed
from specchat.models.decoding.model_drafter import ModelDrafter, Review
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.sampling import BadLogits, SamplingChain
from specchat.models.engine.drafting import ForgivenDraft
from specchat.settings.values import Sampling
from support.fake_models import FakeModel, random_logits

TEXT = [1, 2, 3]


class Breaking(FakeModel):
    """Raises `error`, once there is one."""

    error: Exception | None = None

    def evaluate(self, tokens: Sequence[int], *arguments: Any, **named: Any) -> Any:
        if self.error is not None:
            raise self.error
        return super().evaluate(tokens, *arguments, **named)


@pytest.fixture
def model() -> Breaking:
    return Breaking(random_logits(1, 8), 8)


@pytest.fixture
def told() -> list[Exception]:
    return []


@pytest.fixture
def draft(model: Breaking, told: list[Exception]) -> ForgivenDraft:
    chain = SamplingChain(Sampling())
    return ForgivenDraft(ModelDrafter(model, chain, np.random.default_rng(0), 8, RoundCosts()), told.append)


FAILURES = [EvaluationFailed(), ContextFull(), BadLogits()]
NOTHING = Proposal(reason="no_drafter")
NO_REVIEW = Review(0, (), ())


def test_a_draft_that_works_is_left_to_work(model: Breaking, draft: ForgivenDraft, told: list[Exception]) -> None:
    draft.catch_up(TEXT)
    assert model.tokens == TEXT[:-1]
    proposal = draft.propose(TEXT, 3)
    assert (len(proposal.tokens), proposal.draft_runs, proposal.caught_up) == (3, 3, 0)
    draft.learn([*TEXT, proposal.tokens[0], 7])
    assert model.tokens == [*TEXT, proposal.tokens[0]]
    longer = [*TEXT, proposal.tokens[0], 7, 6, 5]
    assert (draft.behind(longer), draft.review(longer, [0.5]).read, draft.behind(longer)) == (2, 2, 0)
    assert (draft.name, draft.usable, told) == ("model", True, [])


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("at", ["catching up", "a review", "guessing"])
def test_a_failure_is_told_once_and_ends_the_guessing(
    model: Breaking, draft: ForgivenDraft, told: list[Exception], error: Exception, at: str
) -> None:
    draft.propose(TEXT, 2)
    longer = [*TEXT, 4, 5]
    draft.learn(longer)
    model.error = error
    if at == "catching up":
        draft.catch_up(longer)
    elif at == "a review":
        assert draft.review(longer, [0.5, 0.5]) == NO_REVIEW
    else:
        assert draft.propose(longer, 2) == NOTHING
    assert (told, draft.usable) == ([error], False)
    model.error = None
    model.tokens.append(7)
    held = list(model.tokens)
    assert draft.propose(longer, 2) == NOTHING
    assert (draft.behind(longer), draft.review(longer, [0.5])) == (0, NO_REVIEW)
    draft.catch_up(longer)
    draft.learn([*longer, 6])
    assert (told, model.tokens) == ([error], held)


def test_a_persons_stop_is_no_failure(model: Breaking, draft: ForgivenDraft, told: list[Exception]) -> None:
    model.error = Cancelled()
    for work in (lambda: draft.propose(TEXT, 2), lambda: draft.review(TEXT, [0.5]), lambda: draft.catch_up(TEXT)):
        with pytest.raises(Cancelled):
            work()
    assert (told, draft.usable) == ([], True)
