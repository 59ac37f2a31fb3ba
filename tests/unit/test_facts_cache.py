"""What was read of model files is kept, and read again only where a file has changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from specchat.models.files import facts_cache
from specchat.models.files.facts import Facts
from specchat.models.files.facts_cache import FactsCache, Refusal
from specchat.models.files.found import Found, whole_file
from specchat.models.files.library import list_models, model_at
from specchat.models.files.places import Place
from support.tiny_gguf import write_tiny_llama


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    return write_tiny_llama(tmp_path / "models" / "a.gguf")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read."""
    done: list[Path] = []
    read: Callable[[Path], Facts] = facts_cache.read_facts

    def count(path: Path) -> Facts:
        done.append(path)
        return read(path)

    monkeypatch.setattr(facts_cache, "read_facts", count)
    return done


def found(path: Path) -> Found:
    model = whole_file(path)
    assert model is not None
    return model


def test_a_file_is_read_once_also_by_the_next_process(tmp_path: Path, model: Path, reads: list[Path]) -> None:
    cache = FactsCache(tmp_path / "cache" / "models.json")
    facts = cache.read(found(model))
    assert isinstance(facts, Facts)
    assert cache.read(found(model)) == facts
    assert cache.save()
    assert FactsCache(tmp_path / "cache" / "models.json").read(found(model)) == facts
    assert reads == [model]


@pytest.mark.parametrize("change", [lambda path: os.utime(path, (1, 1)), lambda path: path.write_bytes(b"GGUF")])
def test_a_changed_file_is_read_again(
    tmp_path: Path, model: Path, reads: list[Path], change: Callable[[Path], None]
) -> None:
    cache = FactsCache(tmp_path / "models.json")
    cache.read(found(model))
    change(model)
    cache.read(found(model))
    assert reads == [model, model]


def test_what_is_wrong_with_a_file_is_kept_too(tmp_path: Path, reads: list[Path]) -> None:
    file = tmp_path / "text.gguf"
    file.write_text("no model")
    for _start in range(2):
        cache = FactsCache(tmp_path / "models.json")
        known = cache.read(found(file))
        assert isinstance(known, Refusal)
        assert (known.code, known.params["looks_like"]) == ("file_not_gguf", "text")
        cache.save()
    assert reads == [file]


def test_what_may_pass_is_not_kept(tmp_path: Path, model: Path) -> None:
    cache = FactsCache(tmp_path / "models.json")
    there = found(model)
    model.rename(model.with_name("b.gguf"))
    known = cache.read(there)
    assert isinstance(known, Refusal)
    assert known.code == "file_missing"
    model.with_name("b.gguf").rename(model)
    assert isinstance(cache.read(there), Facts)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 0, "files": {}}', b"\xff" * 99, b"\x00" * 50])
def test_a_spoilt_cache_is_made_anew(tmp_path: Path, model: Path, content: bytes) -> None:
    file = tmp_path / "models.json"
    file.write_bytes(content)
    cache = FactsCache(file)
    assert cache.known(found(model)) is None
    facts = cache.read(found(model))
    assert cache.save()
    assert FactsCache(file).known(found(model)) == facts


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path, model: Path) -> None:
    (tmp_path / "file").touch()
    cache = FactsCache(tmp_path / "file" / "models.json")
    assert isinstance(cache.read(found(model)), Facts)
    assert not cache.save()


def test_forgetting(tmp_path: Path, model: Path) -> None:
    cache = FactsCache(tmp_path / "models.json")
    cache.read(found(model))
    assert cache.forget(tmp_path / "other.gguf") == 0
    assert cache.forget(model) == 1
    assert cache.known(found(model)) is None
    cache.read(found(model))
    assert (cache.forget(), cache.forget()) == (1, 0)


def test_files_that_are_gone_are_dropped_after_a_whole_search(tmp_path: Path, model: Path) -> None:
    file = tmp_path / "models.json"
    place = Place("folder", tmp_path / "models")
    second = write_tiny_llama(tmp_path / "models" / "b.gguf", seed=1)
    assert len([step for step in list_models([place], FactsCache(file)) if step.model]) == 2
    there = found(second)
    second.unlink()
    half = list_models([place], FactsCache(file))
    next(half)
    half.close()
    assert FactsCache(file).known(there) is not None
    list(list_models([place], FactsCache(file)))
    assert FactsCache(file).known(there) is None
    assert FactsCache(file).known(found(model)) is not None


def test_a_file_that_is_not_there_is_a_model_that_cannot_be_had(tmp_path: Path) -> None:
    model = model_at(tmp_path / "gone.gguf", FactsCache(tmp_path / "models.json"))
    assert model.refusal == Refusal("file_missing", {"path": str(tmp_path / "gone.gguf")})
