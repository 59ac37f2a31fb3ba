"""The pair that specchat begins with, what it says of it, and what it remembers for the next start."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from specchat.app.conversation import Conversation
from specchat.app.demo import STANDIN_SENTENCE, record_of, record_path, standin_path
from specchat.app.last_pair import PairChoice, recall
from specchat.app.screens import dialogs
from specchat.app.screens.dialogs import Start
from specchat.models.engine.messages import DrafterName
from specchat.models.files.bundled import bundled_model
from specchat.settings.paths import HOME_VARIABLE, Paths, find_paths
from support.chatting import chatting
from support.cli import Outcome, run
from support.fake_engine import fake_engine
from support.specchat_with_engine import specchat_with

COMMAND = specchat_with(fake_engine())
HINT = "This is the small bundled model"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return find_paths({HOME_VARIABLE: str(tmp_path)})


@pytest.fixture
def bundled() -> Path:
    model = bundled_model()
    if model is None:
        pytest.skip("the bundled model isn't installed")
    return model


@pytest.fixture
def standin(paths: Paths, bundled: Path) -> Path:
    """What passes for a finished stand-in."""
    out = standin_path(paths.cache)
    out.parent.mkdir(parents=True)
    out.touch()
    record_path(out).write_bytes(msgspec.json.encode(record_of(out, bundled)))
    return out


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path, Path]:
    files = (tmp_path / "target.gguf", tmp_path / "draft.gguf", tmp_path / "other.gguf")
    for file in files:
        file.touch()
    return files


def visit(home: Path, *words: str) -> Outcome:
    """Open a plain chat and leave it."""
    return run(home, *words, "--plain", command=COMMAND)


@pytest.mark.usefixtures("standin")
def test_the_demo_leaves_the_pair_of_last_time_alone(
    tmp_path: Path, paths: Paths, models: tuple[Path, Path, Path]
) -> None:
    visit(tmp_path, "chat", "--target", "target.gguf", "--draft", "draft.gguf")
    before = recall(paths.data).pair
    assert before == PairChoice(models[0], models[1], "both")
    assert STANDIN_SENTENCE in visit(tmp_path, "demo").stderr
    assert recall(paths.data).pair == before


@pytest.mark.parametrize("draft", ["lookup", "none"])
@pytest.mark.parametrize("target", [(), ("--target", "target.gguf")])
def test_to_do_without_the_draft_for_once_is_not_to_forget_it(
    tmp_path: Path, paths: Paths, models: tuple[Path, Path, Path], target: tuple[str, ...], draft: str
) -> None:
    visit(tmp_path, "chat", "--target", "target.gguf", "--draft", "draft.gguf")
    assert visit(tmp_path, "chat", *target, "--draft", draft).status == 0
    assert recall(paths.data).pair == PairChoice(models[0], models[1], "both")


@pytest.mark.parametrize("drafter", ["lookup", "none"])
def test_another_target_without_a_draft_is_remembered(
    tmp_path: Path, paths: Paths, models: tuple[Path, Path, Path], drafter: DrafterName
) -> None:
    visit(tmp_path, "chat", "--target", "target.gguf", "--draft", "draft.gguf")
    visit(tmp_path, "chat", "--target", "other.gguf", "--draft", drafter)
    assert recall(paths.data).pair == PairChoice(models[2], None, drafter)


def test_the_stand_in_is_called_one_however_it_was_chosen(tmp_path: Path, standin: Path) -> None:
    assert STANDIN_SENTENCE in visit(tmp_path, "chat", "--target", str(standin)).stderr
    assert STANDIN_SENTENCE in visit(tmp_path, "chat").stderr


@pytest.mark.usefixtures("models", "bundled")
def test_newcomers_are_told_of_other_models_until_they_choose_some(tmp_path: Path) -> None:
    for _start in range(2):
        assert HINT in visit(tmp_path, "chat").stderr
    assert HINT not in visit(tmp_path, "chat", "--target", "target.gguf").stderr


def test_without_a_terminal_the_demo_makes_nothing(tmp_path: Path, paths: Paths) -> None:
    outcome = run(tmp_path, "demo", command=COMMAND)
    assert outcome.status == 2
    assert outcome.stderr.startswith("specchat: The chat needs a terminal.")
    assert not paths.cache.exists()


async def test_what_is_chosen_on_the_screen_is_remembered_and_has_its_own_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, other = tmp_path / "data", tmp_path / "other.gguf"
    hints = {tmp_path / "target.gguf": "A word on the target.", other: "A word on the other."}

    async def choose(_app: object, conversation: Conversation, _start: Start) -> bool:
        await conversation.choose(other, None)
        return True

    monkeypatch.setattr(dialogs, "choose_pair", choose)
    start = Start(tmp_path / "settings.toml", data, hints=hints, is_lasting=False)
    async with chatting(tmp_path, start=start) as chat:
        await chat.until(lambda: "CPU" in chat.text)
        assert "A word on the target." in chat.text
        assert not data.exists()
        await chat.pilot.press("f5")
        await chat.until(lambda: "A word on the other." in chat.text)
        assert "A word on the target." not in chat.text
        await chat.until(lambda: data.exists() and list(data.glob("*.json")))
        other.touch()
        assert recall(data).pair == PairChoice(other, None, "lookup")
        await chat.ask("hello")
        assert "A word" not in chat.text
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: "A word on the other." in chat.text)
