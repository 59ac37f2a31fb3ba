"""Who guesses where nobody was chosen, and who can."""

from __future__ import annotations

import pytest

from specchat.app.drafters import able_drafter, usual_drafter
from specchat.models.engine.messages import DrafterName, Loaded, ModelInfo
from specchat.settings.values import Gamma


def loaded(*, draft: bool, can_roll_back: bool = True) -> Loaded:
    target = ModelInfo("target.gguf", "", "", 0, 0, 0, 0, (), 0, 0, True, can_roll_back)
    return Loaded(1, target, target if draft else None)


@pytest.mark.parametrize(
    ("has_draft", "gamma", "drafter"),
    [
        (True, "auto", "both"),
        (True, 3, "model"),
        (True, 0, "model"),
        (False, "auto", "lookup"),
        (False, 3, "lookup"),
    ],
)
def test_the_usual_drafter(has_draft: bool, gamma: Gamma, drafter: DrafterName) -> None:
    assert usual_drafter(has_draft=has_draft, gamma=gamma) == drafter


WANTED: list[DrafterName] = ["both", "model", "lookup", "none"]


@pytest.mark.parametrize("known", [None, loaded(draft=True)], ids=["nothing loaded", "both models"])
def test_with_a_draft_everyone_can_guess(known: Loaded | None) -> None:
    assert [able_drafter(wanted, known) for wanted in WANTED] == WANTED


def test_without_a_draft_only_lookup_can() -> None:
    assert [able_drafter(wanted, loaded(draft=False)) for wanted in WANTED] == ["lookup", "none", "lookup", "none"]


def test_for_a_target_that_can_take_nothing_back_nobody_can() -> None:
    known = loaded(draft=False, can_roll_back=False)
    assert {able_drafter(wanted, known) for wanted in WANTED} == {"none"}
