"""Remembering the pair that was chosen last."""

from __future__ import annotations

from pathlib import Path

import pytest

from specchat.app.last_pair import MOST_RECENT, PairChoice, Recalled, forget, recall, recent, remember
from specchat.app.words import sentence


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    paths = (tmp_path / "größe 8B.gguf", tmp_path / "small.gguf")
    for path in paths:
        path.touch()
    return paths


def test_what_was_remembered_is_recalled(tmp_path: Path, models: tuple[Path, Path]) -> None:
    data = tmp_path / "data"
    for pair in (PairChoice(models[0], models[1], "both"), PairChoice(models[1], None, "lookup")):
        remember(data, pair)
        assert recall(data) == Recalled(pair)


def test_a_draft_that_does_not_guess_just_now_is_remembered_too(tmp_path: Path, models: tuple[Path, Path]) -> None:
    remember(tmp_path, PairChoice(*models, "none"))
    assert recall(tmp_path) == Recalled(PairChoice(*models, "none"))


def test_at_first_there_is_nothing(tmp_path: Path) -> None:
    assert recall(tmp_path / "data") == Recalled(None)


def test_without_its_target_nothing_is_left(tmp_path: Path, models: tuple[Path, Path]) -> None:
    remember(tmp_path, PairChoice(*models, "model"))
    models[0].unlink()
    recalled = recall(tmp_path)
    assert recalled == Recalled(None, "last_target_gone", {"path": str(models[0])})
    assert sentence(recalled.code, recalled.params) == f"The target of last time, {models[0]}, isn't there any more."


@pytest.mark.parametrize(
    ("drafter", "then"), [("both", "lookup"), ("model", "lookup"), ("lookup", "lookup"), ("none", "none")]
)
def test_without_its_draft_the_target_is_left(
    tmp_path: Path, models: tuple[Path, Path], drafter: str, then: str
) -> None:
    remember(tmp_path, PairChoice(*models, drafter))
    models[1].unlink()
    recalled = recall(tmp_path)
    assert recalled == Recalled(PairChoice(models[0], None, then), "last_draft_gone", {"path": str(models[1])})


def test_a_folder_is_no_model(tmp_path: Path, models: tuple[Path, Path]) -> None:
    remember(tmp_path, PairChoice(*models, "model"))
    models[0].unlink()
    models[0].mkdir()
    assert recall(tmp_path).code == "last_target_gone"


def test_a_folder_that_may_not_be_looked_into_is_gone(
    tmp_path: Path, models: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    remember(tmp_path, PairChoice(*models, "model"))
    monkeypatch.setattr(Path, "is_file", refuse)
    assert recall(tmp_path).code == "last_target_gone"


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 50, b"[]", b'{"target": 5}', b'{"target":"/x","draft":null,"drafter":"magic"}', b"\xff"]
)
def test_a_spoilt_record_is_none(tmp_path: Path, content: bytes) -> None:
    remember(tmp_path, PairChoice(tmp_path / "x", tmp_path / "y", "none"))
    files = list(tmp_path.iterdir())
    assert len(files) == 2
    for file in files:
        file.write_bytes(content)
    assert recall(tmp_path) == Recalled(None)
    assert recent(tmp_path) == []


def test_pairs_of_two_models_are_remembered_the_last_one_first(tmp_path: Path, models: tuple[Path, Path]) -> None:
    data = tmp_path / "data"
    remember(data, PairChoice(*models, "both"))
    remember(data, PairChoice(models[0], None, "lookup"))
    remember(data, PairChoice(models[1], models[0], "both"))
    remember(data, PairChoice(*models, "model"))
    assert recent(data) == [PairChoice(*models, "model"), PairChoice(models[1], models[0], "both")]
    models[1].unlink()
    assert recent(data) == []


def test_only_so_many_are_remembered(tmp_path: Path, models: tuple[Path, Path]) -> None:
    for number in range(MOST_RECENT + 2):
        draft = tmp_path / f"{number}.gguf"
        draft.touch()
        remember(tmp_path, PairChoice(models[0], draft, "both"))
    assert len(recent(tmp_path)) == MOST_RECENT


def test_pairs_are_forgotten_by_a_model_or_all(tmp_path: Path, models: tuple[Path, Path]) -> None:
    other = tmp_path / "other.gguf"
    other.touch()
    remember(tmp_path, PairChoice(models[0], other, "both"))
    remember(tmp_path, PairChoice(*models, "both"))
    assert forget(tmp_path, models[1]) == 1
    assert recall(tmp_path) == Recalled(None)
    assert recent(tmp_path) == [PairChoice(models[0], other, "both")]
    assert (forget(tmp_path), forget(tmp_path)) == (1, 0)
