"""A draft that fails tells why once and leaves the reply alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from specchat.models.decoding.drafters import ModelDrafter, Proposal
from specchat.models.decoding.model import Cancelled, ContextFull, EvaluationFailed
from specchat.models.decoding.sampling import BadLogits, SamplingChain
from specchat.models.engine.drafting import ForgivenDraft
from specchat.settings.values import Sampling
from support.fake_models import FakeModel, random_logits

TEXT = [1, 2, 3]


class Breaking(FakeModel):
    """Raises `error`, once there is one."""

    error: Exception | None = None

    def evaluate(self, tokens: Sequence[int], *arguments: Any) -> Any:
        if self.error is not None:
            raise self.error
        return super().evaluate(tokens, *arguments)


@pytest.fixture
def model() -> Breaking:
    return Breaking(random_logits(1, 8), 8)


@pytest.fixture
def told() -> list[Exception]:
    return []


@pytest.fixture
def draft(model: Breaking, told: list[Exception]) -> ForgivenDraft:
    chain = SamplingChain(Sampling())
    return ForgivenDraft(ModelDrafter(model, chain, np.random.default_rng(0), 8), told.append)


FAILURES = [EvaluationFailed(), ContextFull(), BadLogits()]


def test_a_draft_that_works_is_left_to_work(model: Breaking, draft: ForgivenDraft, told: list[Exception]) -> None:
    draft.catch_up(TEXT)
    assert model.tokens == TEXT[:-1]
    proposal = draft.propose(TEXT, 3)
    assert (len(proposal.tokens), proposal.draft_runs, proposal.caught_up) == (3, 3, 0)
    draft.learn([*TEXT, proposal.tokens[0], 7])
    assert model.tokens == [*TEXT, proposal.tokens[0]]
    assert (draft.name, told) == ("model", [])


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("while_catching_up", [True, False])
def test_a_failure_is_told_once_and_ends_the_guessing(
    model: Breaking, draft: ForgivenDraft, told: list[Exception], error: Exception, while_catching_up: bool
) -> None:
    draft.propose(TEXT, 2)
    model.error = error
    if while_catching_up:
        draft.catch_up([*TEXT, 4, 5])
    else:
        assert draft.propose([*TEXT, 4], 2) == Proposal()
    assert told == [error]
    model.error = None
    model.tokens.append(7)
    held = list(model.tokens)
    assert draft.propose([*TEXT, 4, 5], 2) == Proposal()
    draft.learn([*TEXT, 4, 5, 6])
    assert (told, model.tokens) == ([error], held)


def test_a_persons_stop_is_no_failure(model: Breaking, draft: ForgivenDraft, told: list[Exception]) -> None:
    model.error = Cancelled()
    with pytest.raises(Cancelled):
        draft.propose(TEXT, 2)
    assert told == []
