"""Evaluating and rolling back on real contexts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specchat.models.decoding.model import Cancelled, ContextFull, Logits
from specchat.models.llama import context as context_module
from specchat.models.llama.context import Context
from specchat.models.llama.errors import DecodeError
from specchat.models.llama.loading import load
from specchat.settings.values import ModelOptions
from support.tiny_gguf import write_tiny_llama, write_tiny_recurrent, write_tiny_sliding

TEXT = np.random.default_rng(7).integers(3, 200, 700).tolist()

EXACT = ModelOptions(threads=1, cache_type_k="f32", cache_type_v="f32", flash_attention="off")
"""With 16-bit caches or flash attention, logits differ by 0.001 between passes of different widths."""

Open = Callable[..., Context]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "llama": write_tiny_llama(folder / "llama.gguf"),
        "mamba": write_tiny_recurrent(folder / "mamba.gguf"),
        "gemma3": write_tiny_sliding(folder / "gemma3.gguf", window=8),
    }


@pytest.fixture
def open_context(files: dict[str, Path]) -> Iterator[Open]:
    """Loads a model's context with `EXACT` and the options that are given by name."""
    opened = []

    def open_one(name: str = "llama", **options: Any) -> Context:
        loaded = load(files[name], replace(EXACT, **options))
        opened.append(loaded)
        return loaded.context

    yield open_one
    for loaded in opened:
        loaded.free()


def close(one: Logits, other: Logits) -> bool:
    assert one.shape == other.shape
    return np.allclose(one, other, atol=1e-3)  # gemma3's GELU is a table of 16-bit numbers


def test_a_new_context_is_empty(open_context: Open) -> None:
    context = open_context()
    assert list(context.tokens) == []
    assert context.can_roll_back


@pytest.mark.parametrize("name", ["llama", "mamba", "gemma3"])
def test_one_pass_gives_the_logits_of_one_token_at_a_time(open_context: Open, name: str) -> None:
    context = open_context(name)
    together = context.evaluate(TEXT[:12], 12).copy()
    context.roll_back(0)
    one_by_one = np.concatenate([context.evaluate([token], 1).copy() for token in TEXT[:12]])
    assert together.shape == (12, context.n_vocab)
    assert together.dtype == np.float32
    assert close(together, one_by_one)
    assert list(context.tokens) == TEXT[:12]


def test_distributions_of_tiny_models_spread(open_context: Open) -> None:
    logits = open_context().evaluate(TEXT[:12], 12)
    assert 0.5 < logits.std(axis=1).mean() < 3
    assert not close(logits[:-1], logits[1:])


def test_only_the_last_rows_are_returned(open_context: Open) -> None:
    context = open_context()
    every = context.evaluate(TEXT[:9], 9).copy()
    context.roll_back(0)
    assert close(context.evaluate(TEXT[:9], 2), every[-2:])
    context.roll_back(0)
    assert context.evaluate(TEXT[:9], 0).shape == (0, context.n_vocab)
    assert list(context.tokens) == TEXT[:9]


@pytest.mark.parametrize(
    ("name", "count"),
    # A sliding window's own cache would hold 256 tokens here, so what is kept would be long gone.
    [("llama", 40), ("gemma3", 600)],
)
def test_after_a_roll_back_only_what_is_left_counts(open_context: Open, name: str, count: int) -> None:
    context = open_context(name, batch=64)
    kept, refused, added = TEXT[:30], TEXT[-count:], TEXT[70:75]
    fresh = context.evaluate(kept + added, 5).copy()
    context.roll_back(0)
    context.evaluate(kept + refused, 1)
    context.roll_back(30)
    assert list(context.tokens) == kept
    assert close(context.evaluate(added, 5), fresh)
    context.roll_back(99)
    assert list(context.tokens) == kept + added


@pytest.mark.parametrize(
    ("count", "rows", "asked_at"), [(150, 20, [0, 64, 128]), (130, 10, [0, 64, 120]), (64, 64, [0]), (128, 0, [0, 64])]
)
def test_long_texts_are_evaluated_in_chunks(open_context: Open, count: int, rows: int, asked_at: list[int]) -> None:
    whole = open_context(batch=256).evaluate(TEXT[:count], rows).copy()
    chunked = open_context(batch=64)
    asked: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> bool:
        asked.append((done, total))
        return True

    assert close(chunked.evaluate(TEXT[:count], rows, progress), whole)
    assert list(dict.fromkeys(asked)) == [(done, count) for done in asked_at]


def test_cancelling_between_chunks_keeps_the_chunks_before(open_context: Open) -> None:
    context = open_context(batch=64)
    with pytest.raises(Cancelled):
        context.evaluate(TEXT[:150], 1, lambda done, _total: done < 64)
    assert list(context.tokens) == TEXT[:64]
    assert close(context.evaluate(TEXT[64:150], 1).copy(), open_context().evaluate(TEXT[:150], 1))


@pytest.mark.parametrize(("name", "left"), [("llama", 5), ("mamba", 0)])
def test_cancelling_inside_a_chunk_leaves_no_part_of_it(
    open_context: Open, monkeypatch: pytest.MonkeyPatch, name: str, left: int
) -> None:
    monkeypatch.setattr(context_module, "ASK_SECONDS", 0)
    context = open_context(name)
    context.evaluate(TEXT[:5], 0)
    answers = iter([True, True, False])
    with pytest.raises(Cancelled):
        context.evaluate(TEXT[5:60], 1, lambda _done, _total: next(answers))
    assert list(context.tokens) == TEXT[:left]
    assert close(context.evaluate(TEXT[left:60], 1).copy(), open_context(name).evaluate(TEXT[:60], 1))


def test_an_exception_inside_a_chunk_comes_out(open_context: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_module, "ASK_SECONDS", 0)
    context = open_context()
    answers = iter([True, True])
    with pytest.raises(StopIteration):
        context.evaluate(TEXT[:60], 1, lambda _done, _total: next(answers))
    assert list(context.tokens) == []


def test_a_full_context_is_told_and_unchanged(open_context: Open) -> None:
    context = open_context(ctx=20)
    context.evaluate(TEXT[:18], 1)
    with pytest.raises(ContextFull):
        context.evaluate(TEXT[18:21], 1)
    assert list(context.tokens) == TEXT[:18]
    assert close(context.evaluate(TEXT[18:20], 2).copy(), open_context().evaluate(TEXT[:20], 2))


def test_a_refused_batch_changes_nothing(open_context: Open) -> None:
    context = open_context()
    context.evaluate(TEXT[:5], 1)
    with pytest.raises(DecodeError) as caught:
        context.evaluate([3, context.n_vocab], 1)
    assert caught.value.code == "decode_failed"
    assert caught.value.params == {"status": -1, "reason": f"invalid token[1] = {context.n_vocab}"}
    assert list(context.tokens) == TEXT[:5]
    assert close(context.evaluate(TEXT[5:8], 3).copy(), open_context().evaluate(TEXT[:8], 3))


def test_where_nothing_can_be_taken_back_everything_is_forgotten(open_context: Open) -> None:
    context = open_context("mamba")
    assert not context.can_roll_back
    context.evaluate(TEXT[:6], 1)
    context.roll_back(6)
    assert list(context.tokens) == TEXT[:6]
    context.roll_back(5)
    assert list(context.tokens) == []
    assert close(context.evaluate(TEXT[:5], 1).copy(), open_context("mamba").evaluate(TEXT[:5], 1))


# ------------------------------------------------------------------ padding


@pytest.mark.parametrize("name", ["llama", "gemma3"])
@pytest.mark.parametrize(("count", "rows", "padding"), [(1, 1, 3), (3, 3, 1), (5, 2, 11), (4, 0, 4)])
def test_padding_changes_neither_the_logits_nor_the_memory(
    open_context: Open, name: str, count: int, rows: int, padding: int
) -> None:
    plain, padded = open_context(name), open_context(name)
    for context in (plain, padded):
        context.evaluate(TEXT[:20], 0)
    expected = plain.evaluate(TEXT[20 : 20 + count], rows).copy()
    logits = padded.evaluate(TEXT[20 : 20 + count], rows, padding=padding).copy()
    tolerance = 1e-4 if name == "llama" else 1e-3
    assert logits.shape == expected.shape
    assert np.allclose(logits, expected, atol=tolerance)
    assert list(padded.tokens) == TEXT[: 20 + count]
    later = padded.evaluate(TEXT[30:33], 3).copy()
    assert np.allclose(later, plain.evaluate(TEXT[30:33], 3), atol=tolerance)


def test_padding_takes_room_while_the_pass_lasts(open_context: Open) -> None:
    context = open_context(ctx=20)
    context.evaluate(TEXT[:16], 0)
    with pytest.raises(ContextFull):
        context.evaluate(TEXT[16:18], 2, padding=3)
    assert list(context.tokens) == TEXT[:16]
    assert close(context.evaluate(TEXT[16:18], 2, padding=2).copy(), open_context().evaluate(TEXT[:18], 2))
    assert list(context.tokens) == TEXT[:18]


def test_a_padded_pass_must_be_one(open_context: Open) -> None:
    context = open_context(batch=64)
    with pytest.raises(ValueError, match="in a pass of 64"):
        context.evaluate(TEXT[:60], 1, padding=5)
    assert list(context.tokens) == []
    assert context.evaluate(TEXT[:60], 60, padding=4).shape == (60, context.n_vocab)


@pytest.mark.parametrize(("tokens", "rows"), [([], 0), ([3, 4], 3), ([3] * 65, 65), ([3], -1)])
def test_impossible_rows_are_refused(open_context: Open, tokens: list[int], rows: int) -> None:
    context = open_context(batch=64)
    with pytest.raises(ValueError, match="rows of"):
        context.evaluate(tokens, rows)


def test_a_freed_context_can_not_be_used(open_context: Open) -> None:
    context = open_context()
    context.free()
    with pytest.raises(RuntimeError, match="freed"):
        context.evaluate([3], 1)
