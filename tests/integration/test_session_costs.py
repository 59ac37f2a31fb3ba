"""What the engine's session measures of its models, keeps and tells; and replies whose number of guesses is auto's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from specchat.models.decoding.cost import CostTable, DepthFactor, WidthCost
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.engine import first_look
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import Done, DrafterName, Event, Load, Measured, ModelFile
from support.talking import AUTO, OPTIONS, Talk, talking, write_models


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    monkeypatch.setattr(first_look, "SECONDS", 3600)  # a busy machine may take its time
    yield from talking(monkeypatch)


# ------------------------------------------------------------------ what is measured


def idle(talk: Talk) -> list[Event]:
    """What the session sends while it has time."""
    known = len(talk.events)
    while talk.session.wait(lambda: True):
        pass
    return talk.events[known:]


KEPT = CostTable((WidthCost(1, 0.001, 9), WidthCost(40, 0.01, 7)), (DepthFactor(3072, 1.5, 5),))
KEPT_DRAFT = CostTable((WidthCost(1, 0.0005, 9), WidthCost(50, 0.004, 3)), ())


def load_with_costs(talk: Talk, files: dict[str, Path], target: str, draft: str) -> None:
    named = [ModelFile(str(files[name]), OPTIONS) for name in (target, draft)]
    talk.session.load(Load(1, named[0], named[1], KEPT, KEPT_DRAFT), lambda: False)


def test_after_a_load_the_models_are_looked_at_and_the_costs_told(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["draft"])
    (measured,) = idle(talk)
    assert isinstance(measured, Measured)
    assert {1, 4, 8} <= {cost.width for cost in measured.target.widths}
    assert measured.draft is not None
    assert {1, 16} <= {cost.width for cost in measured.draft.widths}
    assert all(not loaded.context.tokens for loaded in talk.loaded)
    assert idle(talk) == []
    assert talk.ask().rounds[0].pass_seconds is not None


def test_a_look_that_is_cut_short_tells_what_it_knows_and_is_not_taken_up_again(
    files: dict[str, Path], talk: Talk
) -> None:
    talk.load(files["target"])
    assert talk.session.wait(lambda: True)
    assert not talk.session.wait(lambda: False)
    assert isinstance(talk.events[-1], Measured)
    assert {cost.width for cost in talk.events[-1].target.widths} == {1}
    assert not talk.loaded[0].context.tokens
    assert idle(talk) == []


def test_a_reply_ends_the_look_and_tells_the_costs_after_it(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["draft"])
    talk.session.wait(lambda: True)
    answer = talk.ask()
    assert [type(event) for event in answer.events[-2:]] == [Done, Measured]
    measured = answer.events[-1]
    assert isinstance(measured, Measured)
    assert {1, 4} <= {cost.width for cost in measured.target.widths}
    assert measured.draft is not None
    assert measured.draft.widths
    assert idle(talk) == []


def test_a_reply_that_fails_tells_the_costs_too(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"])
    with pytest.raises(EngineFailure, match="prompt_empty"):
        talk.ask("")
    assert isinstance(talk.events[-1], Measured)


def test_what_sampling_costs_is_measured_anew_in_each_reply(
    files: dict[str, Path], talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.load(files["target"])
    talk.ask()
    known: list[float] = []
    forget = RoundCosts.forget_sampling

    def noted(costs: RoundCosts) -> None:
        forget(costs)
        plain = costs.plain(0)
        assert plain is not None
        known.append(plain.rest_seconds)

    monkeypatch.setattr(RoundCosts, "forget_sampling", noted)
    talk.ask()
    assert known == [0.0]


def test_without_a_draft_nothing_is_told_of_one(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"])
    (measured,) = idle(talk)
    assert isinstance(measured, Measured)
    assert measured.draft is None


def test_costs_that_come_with_a_load_are_known(files: dict[str, Path], talk: Talk) -> None:
    load_with_costs(talk, files, "target", "draft")
    measured = talk.ask().events[-1]
    assert isinstance(measured, Measured)
    assert WidthCost(40, pytest.approx(0, abs=1), 7) in measured.target.widths
    assert measured.target.depths == KEPT.depths
    assert measured.draft is not None
    assert [cost.count for cost in measured.draft.widths if cost.width == 50] == [3]


def test_another_drafts_costs_are_its_own(files: dict[str, Path], talk: Talk) -> None:
    load_with_costs(talk, files, "target", "draft")
    talk.load(files["target"], files["twin"])
    measured = talk.ask().events[-1]
    assert isinstance(measured, Measured)
    assert [cost.count for cost in measured.target.widths if cost.width == 40] == [7]
    assert measured.draft is not None
    assert all(cost.width != 50 for cost in measured.draft.widths)


def test_a_load_that_comes_to_nothing_leaves_no_look_at_what_is_gone(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["draft"])
    talk.session.wait(lambda: True)
    file = ModelFile(str(files["target"]), OPTIONS)
    with pytest.raises(EngineFailure, match="cancelled"):
        talk.session.load(Load(2, file, ModelFile(str(files["twin"]), OPTIONS)), lambda: True)
    assert idle(talk) == []
    assert talk.ask(drafter="none").done.stop_reason == "length"


def test_a_tiny_context_is_looked_at_as_far_as_it_goes(files: dict[str, Path], talk: Talk) -> None:
    talk.session.load(Load(1, ModelFile(str(files["target"]), replace(OPTIONS, ctx=6))), lambda: False)
    (measured,) = idle(talk)
    assert isinstance(measured, Measured)
    assert {cost.width for cost in measured.target.widths} == {1, 2, 3, 4, 6}


# ------------------------------------------------------------------ auto


@pytest.mark.parametrize("drafter", ["model", "lookup", "both"])
@pytest.mark.parametrize("draft", ["twin", "draft"])
def test_auto_writes_what_the_target_would(
    files: dict[str, Path], talk: Talk, drafter: DrafterName, draft: str
) -> None:
    talk.load(files["target"], files[draft])
    idle(talk)
    plain = talk.ask(drafter="none", tokens=60)
    answer = talk.ask(drafter=drafter, speculation=AUTO, tokens=60)
    assert answer.ids == plain.ids
    assert {round.reason for round in plain.rounds} == {"no_drafter"}
    assert all(round.speculating and round.reason not in ("", "off", "fixed") for round in answer.rounds)


def test_passes_are_padded_where_that_is_cheaper_and_the_text_stays(files: dict[str, Path], talk: Talk) -> None:
    """By what is said to be known: two or three tokens cost far more than four."""
    table = CostTable(tuple(WidthCost(w, 0.001 * s, 10**6) for w, s in {1: 1, 2: 9, 3: 9, 4: 1.1, 5: 40}.items()), ())
    talk.session.load(Load(1, ModelFile(str(files["target"]), OPTIONS), None, table), lambda: False)
    prompt = "abcde" * 8
    plain = talk.ask(prompt, "none", tokens=40)
    answer = talk.ask(prompt, "lookup", AUTO, tokens=40)
    assert answer.ids == plain.ids
    padded = [round for round in answer.rounds if round.padding]
    assert padded
    assert all(round.width + round.padding == 4 for round in padded)
