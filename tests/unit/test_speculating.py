"""What is said of a switch of speculation is what holds then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from specchat.app.chats.store import Store
from specchat.app.conversation import Conversation
from specchat.app.speculating import guess, judge_by, let_guess, next_drafter, step_gamma, switch, toggle
from specchat.models.engine.client import EngineClient
from specchat.models.engine.messages import DrafterName, Loaded, ModelInfo
from specchat.settings.values import Gamma, Settings, Speculation

INFO = ModelInfo(
    path="target.gguf",
    name="Target",
    description="",
    size=1,
    parameters=1,
    layers=1,
    gpu_layers=0,
    devices=("CPU",),
    ctx=512,
    ctx_trained=512,
    has_template=True,
    can_roll_back=True,
)


class Engine(EngineClient):
    """Says what is loaded, and runs nothing."""

    has: Loaded | None = None

    @property
    def loaded(self) -> Loaded | None:
        return self.has


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path / "engine.log", ["nothing"])


@pytest.fixture
def conversation(engine: Engine, tmp_path: Path) -> Conversation:
    """One that is meant to have a draft model."""
    settings = Settings(speculation=Speculation(gamma=3))
    return Conversation(engine, Store(tmp_path / "chats"), settings, Path("target.gguf"), Path("draft.gguf"))


ON = "Speculation is on from the next round on."
NOBODY = " But nobody guesses."


@pytest.mark.parametrize(
    ("drafter", "gamma", "said"),
    [
        ("model", 3, ON),
        ("none", 3, ON + NOBODY),
        ("none", "auto", ON + NOBODY),
        ("lookup", 0, f"{ON} But with γ 0 nothing is guessed."),
    ],
)
def test_turning_it_on_may_not_be_enough(
    conversation: Conversation, drafter: DrafterName, gamma: Gamma, said: str
) -> None:
    conversation.change(drafter=drafter, gamma=gamma, enabled=False)
    assert toggle(conversation) == said
    assert switch(conversation, False) == "Speculation is off from the next round on: the target writes alone."


@pytest.mark.parametrize(
    "choose",
    [
        lambda now: guess(now, 2),
        lambda now: guess(now, "auto"),
        lambda now: step_gamma(now, -1).removesuffix(" Fewer than 0 is auto."),
        lambda now: let_guess(now, "lookup"),
    ],
)
def test_what_is_chosen_while_it_is_off_waits(
    conversation: Conversation, choose: Callable[[Conversation], str]
) -> None:
    said = choose(conversation)
    assert "But" not in said
    conversation.change(enabled=False, gamma=3)
    assert choose(conversation) == f"{said} But speculation is off."


def test_a_draft_that_failed_to_load_can_not_be_chosen(conversation: Conversation, engine: Engine) -> None:
    engine.has = Loaded(1, INFO)
    assert let_guess(conversation, "model") == "There is no draft model here that could guess."
    conversation.change(drafter="lookup")
    assert next_drafter(conversation) == "Nobody guesses: the target writes alone."
    assert next_drafter(conversation) == "Guesses are looked up in the text so far, from the next round on."


def test_a_target_that_takes_nothing_back_lets_nobody_guess(conversation: Conversation, engine: Engine) -> None:
    engine.has = Loaded(1, replace(INFO, can_roll_back=False), INFO)
    assert let_guess(conversation, "lookup").endswith(NOBODY)
    assert guess(conversation, 0) == "0 guesses a round (γ) from now on."
    assert judge_by(conversation, "token") == "Guesses are judged one by one (token rule)."
