"""Whether a pair works, told from its files: crafted vocabularies, each with the right answer and reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from specchat.models.files import judging
from specchat.models.files.facts import Facts, read_facts
from specchat.models.files.judging import PairVerdict, judge_pair
from support.gguf_bytes import ARRAY, BOOL, I32, STRING, TINY, U32, gguf

WORDS = [f"word{number}" for number in range(200)]
NORMAL, CONTROL = 1, 3


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_known", {})
    judging._vocabulary.cache_clear()


def model(path: Path, texts: Sequence[str] = WORDS, width: int = 8, **changes: Any) -> Facts:
    """A model with the vocabulary `texts`; `changes` are entries of its tokenizer."""
    kinds = changes.pop("kinds", {})
    column = [kinds.get(token, NORMAL) for token in range(len(texts))]
    metadata = {
        **TINY,
        "llama.embedding_length": (U32, width),
        "tokenizer.ggml.tokens": (ARRAY, STRING, texts),
        "tokenizer.ggml.token_type": (ARRAY, I32, column),
        "tokenizer.ggml.bos_token_id": (U32, 1),
        **{f"tokenizer.ggml.{key}": value for key, value in changes.items()},
    }
    size = 4 * width * len(texts)
    path.write_bytes(gguf(metadata, [("token_embd.weight", (width, len(texts)), 0)], offsets=[0], weights=size))
    return read_facts(path)


def verdict(tmp_path: Path, *args: Any, **changes: Any) -> PairVerdict:
    """Of a target with 200 words and the draft that `model` makes."""
    return judge_pair(model(tmp_path / "target.gguf"), model(tmp_path / "draft.gguf", *args, **changes))


def test_equal(tmp_path: Path) -> None:
    found = verdict(tmp_path)
    assert (found.works, found.code, found.differences) == (True, "", ())


def test_padded(tmp_path: Path) -> None:
    found = verdict(tmp_path, [*WORDS, "[PAD200]", "[PAD201]"], kinds={200: 5, 201: 5})
    assert found.works
    assert found.differences == (("pair_size_differs", {"target_size": 200, "draft_size": 202}),)


def test_token_139_differs(tmp_path: Path) -> None:
    found = verdict(tmp_path, [*WORDS[:139], "other", *WORDS[140:]])
    assert not found.works
    expected = {"id": 139, "target_text": "word139", "draft_text": "other", "count": 1}
    assert (found.code, found.params) == ("pair_differs", expected)


def test_another_bos(tmp_path: Path) -> None:
    found = verdict(tmp_path, bos_token_id=(U32, 2))
    assert found.works
    assert found.differences == (("pair_special_differs", {"name": "bos", "target_id": 1, "draft_id": 2}),)


def test_a_bos_that_is_added(tmp_path: Path) -> None:
    found = verdict(tmp_path, add_bos_token=(BOOL, True))
    assert found.works
    assert found.differences == (("pair_adds_differs", {"name": "bos", "target": 0, "draft": 1}),)


def test_another_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = model(tmp_path / "target.gguf")
    draft = model(tmp_path / "draft.gguf", model=(STRING, "llama"))
    monkeypatch.setattr(judging, "read_vocabulary", None)  # neither file is read for that
    found = judge_pair(target, draft)
    assert (found.code, found.params) == ("pair_kind_differs", {"target_kind": "BPE", "draft_kind": "SPM"})


def test_extra_special_tokens(tmp_path: Path) -> None:
    found = verdict(tmp_path, [*WORDS, "<|tool|>"], kinds={200: CONTROL})
    assert found.works
    renamed = verdict(tmp_path, ["<|other|>", *WORDS[1:]], kinds={0: CONTROL})
    assert renamed.works
    assert renamed.differences[0][0] == "pair_control_differs"


def test_ids_beyond_the_draft(tmp_path: Path) -> None:
    found = verdict(tmp_path, WORDS[:150])
    assert found.works
    assert found.differences == (("pair_size_differs", {"target_size": 200, "draft_size": 150}),)


def test_a_model_that_takes_nothing_back(tmp_path: Path) -> None:
    sound = model(tmp_path / "sound.gguf")
    path = tmp_path / "recurrent.gguf"
    metadata = {key.replace("llama.", "rwkv7."): value for key, value in TINY.items()}
    metadata |= {"general.architecture": (STRING, "rwkv7"), "rwkv7.attention.head_count": (U32, 0)}
    path.write_bytes(gguf(metadata))
    recurrent = read_facts(path)
    assert judge_pair(sound, recurrent).code == "draft_no_rollback"
    refused = judge_pair(recurrent, sound)
    assert (refused.code, refused.params) == ("no_rollback", {"path": str(path)})


def test_expected_c_is_the_ratio_of_what_must_be_read(tmp_path: Path) -> None:
    target = model(tmp_path / "target.gguf", width=32)
    assert judge_pair(target, model(tmp_path / "draft.gguf", width=8)).expected_c == 0.25


def test_a_file_that_is_gone_is_the_reason(tmp_path: Path) -> None:
    target = model(tmp_path / "target.gguf")
    draft = model(tmp_path / "draft.gguf", ["x", *WORDS[1:]])
    (tmp_path / "draft.gguf").unlink()
    found = judge_pair(target, draft)
    assert (found.code, found.params) == ("file_missing", {"path": str(tmp_path / "draft.gguf")})


def test_vocabularies_are_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = model(tmp_path / "target.gguf"), model(tmp_path / "draft.gguf", WORDS[:150])
    twin = model(tmp_path / "twin.gguf", WORDS[:150])
    first = judge_pair(target, draft)
    monkeypatch.setattr(judging, "read_vocabulary", None)
    assert judge_pair(target, twin) == first
