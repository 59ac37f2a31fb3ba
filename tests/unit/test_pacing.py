"""Who guesses in a reply, for each choice a person has."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from specchat.models.decoding.auto_pace import AutoPace, Beliefs
from specchat.models.decoding.model import EvaluationFailed
from specchat.models.decoding.pace import FixedPace, Pace
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.rounds import Reason
from specchat.models.decoding.sampling import BadLogits, SamplingChain
from specchat.models.decoding.verification import block_rule, token_rule
from specchat.models.engine.control import Control
from specchat.models.engine.messages import Change, DrafterName, Event, Notice
from specchat.models.engine.pacing import Pacing
from specchat.settings.values import Gamma, Sampling, Speculation
from support.fake_models import FakeModel, random_logits

V = 8
PROMPT = [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6]
"""Its end was said before."""
UNIQUE = [7, 6, 5, 4, 3]
PATH = Path("draft.gguf")


class Scene:
    """A pacing for one reply, and what it sent."""

    def __init__(self, speculation: Speculation, drafter: DrafterName = "model", *, has_draft: bool = True) -> None:
        self.events: list[Event] = []
        self.draft = FakeModel(random_logits(1, V), V)
        costs = RoundCosts()
        for width in range(1, 33):
            costs.target.add(width, 0, 1.0)
        loaded = SimpleNamespace(context=self.draft, model=SimpleNamespace(path=PATH))
        target = SimpleNamespace(context=FakeModel(random_logits(1, V), V))
        pair: Any = SimpleNamespace(target=target, draft=loaded if has_draft else None, costs=costs, beliefs=Beliefs())
        self.control = Control(speculation, drafter)
        chain, rng = SamplingChain(Sampling()), np.random.default_rng(0)
        self.pacing = Pacing(pair, self.control, chain, rng, self.events.append, lambda _done, _total: True)

    @property
    def pace(self) -> Pace:
        pace = self.pacing.plan().pace
        assert pace is not None
        return pace


THREE, AUTO = Speculation(gamma=3), Speculation(gamma="auto")


@pytest.mark.parametrize(
    ("speculation", "drafter", "has_draft", "reason"),
    [
        (Speculation(enabled=False, gamma=3), "model", True, "off"),
        (Speculation(enabled=False, gamma="auto"), "none", True, "off"),
        (THREE, "none", True, "no_drafter"),
        (AUTO, "none", True, "no_drafter"),
        (THREE, "model", False, "no_drafter"),
        (AUTO, "model", False, "no_drafter"),
        (Speculation(gamma=0), "both", True, "fixed"),
        (Speculation(gamma=0), "none", True, "no_drafter"),
    ],
)
def test_where_nothing_is_guessed_there_is_a_reason(
    speculation: Speculation, drafter: DrafterName, has_draft: bool, reason: Reason
) -> None:
    scene = Scene(speculation, drafter, has_draft=has_draft)
    plan = scene.pacing.plan()
    assert (plan.pace, plan.reason) == (None, reason)
    assert not scene.pacing.is_guessing


@pytest.mark.parametrize("gamma", [3, "auto"])
@pytest.mark.parametrize(
    ("drafter", "has_draft", "repeated", "unique"),
    [
        ("model", True, "model", "model"),
        ("lookup", True, "lookup", ""),
        ("lookup", False, "lookup", ""),
        ("both", True, "lookup", "model"),
        ("both", False, "lookup", ""),
    ],
)
def test_whoever_is_to_guess_does(
    gamma: Gamma, drafter: DrafterName, has_draft: bool, repeated: str, unique: str
) -> None:
    for text, expected in ((PROMPT, repeated), (UNIQUE, unique)):
        scene = Scene(Speculation(gamma=gamma), drafter, has_draft=has_draft)
        assert scene.pacing.is_guessing
        assert isinstance(scene.pace, AutoPace if gamma == "auto" else FixedPace)
        proposal = scene.pace.propose(text, 8)
        assert (proposal.drafter if proposal.tokens else "") == expected
        if gamma == 3 and expected:
            assert len(proposal.tokens) == 3


def test_the_rule_is_the_one_that_is_chosen() -> None:
    scene = Scene(Speculation(gamma=3, rule="token"))
    assert scene.pacing.plan().rule is token_rule
    scene.control.change(Change(rule="block"))
    assert scene.pacing.plan().rule is block_rule


def test_a_change_acts_at_once_and_a_pace_comes_back_with_what_it_knows() -> None:
    scene = Scene(AUTO, "both")
    first = scene.pace
    assert scene.pace is first
    scene.control.change(Change(gamma=2))
    assert len(scene.pace.propose(UNIQUE, 8).tokens) == 2
    scene.control.change(Change(drafter="lookup"))
    assert scene.pace.propose(UNIQUE, 8).reason == "no_match"
    scene.control.change(Change(enabled=False))
    assert scene.pacing.plan().pace is None
    scene.control.change(Change(enabled=True, gamma="auto", drafter="both"))
    assert scene.pace is first


@pytest.mark.parametrize(
    ("speculation", "drafter", "reads"),
    [
        (THREE, "model", True),
        (AUTO, "both", True),
        (THREE, "lookup", False),
        (Speculation(enabled=False), "model", False),
        (Speculation(gamma=0), "model", False),
        (AUTO, "none", False),
    ],
)
def test_the_draft_reads_the_prompt_only_where_it_is_to_guess(
    speculation: Speculation, drafter: DrafterName, reads: bool
) -> None:
    scene = Scene(speculation, drafter)
    scene.pacing.catch_up(PROMPT)
    assert scene.draft.tokens == (PROMPT[:-1] if reads else [])


@pytest.mark.parametrize(
    ("error", "code"), [(EvaluationFailed(), "draft_failed"), (BadLogits(), "bad_logits")], ids=["pass", "logits"]
)
@pytest.mark.parametrize("speculation", [THREE, AUTO], ids=["three", "auto"])
def test_a_draft_that_fails_is_told_of_and_the_reply_goes_on(
    monkeypatch: pytest.MonkeyPatch, speculation: Speculation, error: Exception, code: str
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise error

    scene = Scene(speculation)
    monkeypatch.setattr(scene.draft, "evaluate", fail)
    path = {"path": str(PATH)}
    for text in (UNIQUE, [*UNIQUE, 1]):
        assert scene.pace.propose(text, 8).reason == "no_drafter"
        assert scene.events == [Notice(code, path), Notice("draft_left_out", path)]
