"""Padding a pass changes what it takes, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from specchat.models.decoding.counters import count
from specchat.models.decoding.drafters import Drafter, Proposal
from specchat.models.decoding.model_drafter import ModelDrafter
from specchat.models.decoding.pace import FixedPace, Outcome
from specchat.settings.values import Sampling
from support.decoding import MakePace, Run, reply
from support.fake_models import FakeModel, random_logits

HOT = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
PROMPT = [1, 2, 3, 1, 2]
V = 6


class PaddedPace:
    """Has every pass padded to `width`."""

    def __init__(self, gamma: int, width: int, lookup: Drafter, model: ModelDrafter | None) -> None:
        self._pace = FixedPace(gamma, None if model else lookup, model)
        self._width = width

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        return replace(self._pace.propose(text, most), width=self._width)

    def learn(self, text: Sequence[int], proposal: Proposal, outcome: Outcome) -> None:
        self._pace.learn(text, proposal, outcome)


def padded(gamma: int, width: int) -> MakePace:
    return lambda lookup, model: PaddedPace(gamma, width, lookup, model)


def target(**options: int) -> FakeModel:
    return FakeModel(random_logits(1, V), V, **options)


def draft() -> FakeModel:
    return FakeModel(random_logits(2, V), V)


@pytest.mark.parametrize("sampling", [HOT, Sampling(temperature=0)], ids=["hot", "greedy"])
@pytest.mark.parametrize("width", [1, 4, 8])
def test_the_text_and_the_counts_are_the_same(sampling: Sampling, width: int) -> None:
    run = Run(target(), PROMPT, draft(), 2, sampling=sampling, seed=5, most_tokens=40)
    plain = reply(run)
    model = target()
    outcome = reply(replace(run, target=model, draft=draft(), pace=padded(2, width)))
    assert outcome.tokens == plain.tokens
    assert [(r.guesses, r.accepted, r.width) for r in outcome.rounds] == [
        (r.guesses, r.accepted, r.width) for r in plain.rounds
    ]
    counters = count(outcome.rounds)
    assert (counters.drafted, counters.target_passes) == (count(plain.rounds).drafted, len(outcome.rounds))
    assert [round.padding for round in plain.rounds] == [0] * len(plain.rounds)
    for round in outcome.rounds[:-1]:
        assert round.padding == max(width - round.width, 0)
    assert model.tokens == [*PROMPT, *outcome.tokens][:-1]


def test_a_padded_pass_is_measured_as_the_wide_one_it_is() -> None:
    model = target()
    run = Run(model, PROMPT, draft(), sampling=HOT, most_tokens=12, pace=padded(2, 8))
    reply(run)
    widths = [width for width in model.passes if width > 1]
    assert set(widths) == {8}
    assert run.costs.target.count(8) > 0
    assert run.costs.target.count(3) == 0


def test_there_is_no_padding_where_there_is_no_room() -> None:
    model = target(n_ctx=14)
    outcome = reply(Run(model, PROMPT, draft(), sampling=HOT, most_tokens=0, pace=padded(1, 8)))
    assert (outcome.stop_reason, len(PROMPT) + len(outcome.tokens)) == ("context", 15)
    held = len(PROMPT) - 1
    for round in outcome.rounds:
        assert round.padding == max(min(8, 14 - held) - round.width, 0)
        held += round.tokens
    assert outcome.rounds[0].padding == 6
    assert outcome.rounds[-1].padding == 0


def test_a_pass_is_never_padded_beyond_what_one_holds() -> None:
    model = target(n_batch=4)
    outcome = reply(Run(model, PROMPT, draft(), sampling=HOT, most_tokens=12, pace=padded(1, 8)))
    assert {round.width + round.padding for round in outcome.rounds} == {4}
