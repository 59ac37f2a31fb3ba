"""What is known of a pair of models, and what a change of draft leaves of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from specchat.models.decoding.cost import CostTable, WidthCost
from specchat.models.engine.pair import Pair
from support.fake_models import FakeModel, random_logits

TABLE = CostTable((WidthCost(1, 0.5, 9), WidthCost(8, 0.75, 4)), ())


def loaded(size: int) -> Any:
    return SimpleNamespace(
        context=FakeModel(random_logits(1, 8), 8),
        model=SimpleNamespace(size=size),
        tokenizer=SimpleNamespace(control_texts=lambda: ()),
    )


def test_nothing_is_known_of_a_new_pair() -> None:
    measured = Pair(loaded(1000)).measured()
    assert (measured.target, measured.draft) == (CostTable((), ()), None)


def test_costs_that_were_kept_are_known() -> None:
    pair = Pair(loaded(1000), TABLE)
    pair.take_draft(loaded(100), TABLE)
    measured = pair.measured()
    for table in (measured.target, measured.draft):
        assert table is not None
        assert [(cost.width, cost.count) for cost in table.widths] == [(1, 9), (8, 4)]
        assert [cost.seconds for cost in table.widths] == pytest.approx([0.5, 0.75])


def test_a_drafts_run_is_guessed_from_the_models_sizes() -> None:
    pair = Pair(loaded(1000), TABLE)
    pair.take_draft(loaded(100))
    assert pair.costs.run(0) == pytest.approx(0.05)


def test_of_another_draft_nothing_is_known_or_believed_but_of_lookup_it_is() -> None:
    pair = Pair(loaded(1000))
    pair.take_draft(loaded(100), TABLE)
    for calibration in (pair.beliefs.model, pair.beliefs.lookup):
        for _ in range(50):
            calibration.learn(0.9, 0, 0.0)
    hopeless = pair.beliefs.lookup.alpha(0.9, 0)
    pair.take_draft(loaded(100))
    assert pair.beliefs.model.alpha(0.9, 0) > 0.5 > hopeless
    assert pair.beliefs.lookup.alpha(0.9, 0) == hopeless
    assert pair.measured().draft == CostTable((), ())


def test_forgetting_empties_both_memories() -> None:
    pair = Pair(loaded(1000))
    pair.target.context.evaluate([1, 2, 3], 0)
    pair.forget()
    assert pair.target.context.tokens == []
    draft = loaded(100)
    pair.take_draft(draft)
    for model in (pair.target, draft):
        model.context.evaluate([1, 2, 3], 0)
    pair.forget()
    assert pair.target.context.tokens == draft.context.tokens == []
