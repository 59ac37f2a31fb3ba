"""Stand-ins made from tiny models and loaded by llama.cpp."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter

from specchat.models.decoding.model import Logits
from specchat.models.files.check import check_model_file
from specchat.models.files.errors import ModelFileError
from specchat.models.files.standin import Cancelled, Recipe, make_standin
from specchat.models.llama.context import Context
from specchat.models.llama.model import LlamaModel, open_model
from specchat.settings.values import ModelOptions
from support.tiny_gguf import write_tiny_bert, write_tiny_llama, write_tiny_recurrent

F32, Q4_0 = GGMLQuantizationType.F32, GGMLQuantizationType.Q4_0
WIDTH = 64
"""Of the tiny model's feed-forward layers."""
TEXT = [3, 40, 41, 42, 7, 100, 9, 10]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_llama(tmp_path_factory.mktemp("source") / "tiny.gguf")


def make(source: Path, out: Path, recipe: Recipe) -> Path:
    make_standin(source, out, recipe, progress=lambda _done, _total: None, cancelled=lambda: False)
    return out


@contextmanager
def opened(path: Path) -> Iterator[LlamaModel]:
    model = open_model(path, gpu_layers=0, main_gpu=-1)
    try:
        yield model
    finally:
        model.free()


def logits(path: Path) -> Logits:
    """After each token of TEXT."""
    with opened(path) as model:
        context = Context(model, ModelOptions(gpu_layers=0, threads=1, cache_type_k="f32", cache_type_v="f32"))
        rows = context.evaluate(TEXT, len(TEXT)).copy()
        context.free()
    return rows


# ------------------------------------------------------------------ what the copies are


@pytest.mark.parametrize("units", [4 * WIDTH, 2 * WIDTH + 32])
def test_a_widened_copy_computes_the_same(source: Path, tmp_path: Path, units: int) -> None:
    wide = make(source, tmp_path / "wide.gguf", Recipe("wide", units=units, format=F32))
    np.testing.assert_allclose(logits(wide), logits(source), atol=1e-4)


def test_quantised_too_only_the_rounding_counts(source: Path, tmp_path: Path) -> None:
    rounded = make(source, tmp_path / "rounded.gguf", Recipe("rounded", units=WIDTH, format=Q4_0))
    wide = make(source, tmp_path / "wide.gguf", Recipe("wide", units=8 * WIDTH, format=Q4_0))
    np.testing.assert_allclose(logits(wide), logits(rounded), atol=1e-4)
    assert np.abs(logits(wide) - logits(source)).max() > 1e-2


def test_a_widened_copy_has_the_weights_of_its_size(source: Path, tmp_path: Path) -> None:
    wide = make(source, tmp_path / "wide.gguf", Recipe("stand-in, widened", units=8 * WIDTH, format=Q4_0))
    with opened(source) as small, opened(wide) as large:
        assert large.parameters - small.parameters == 2 * 3 * 7 * WIDTH * 32  # layers, matrices, added units, width
        assert large.name == "tiny stand-in, widened"
        assert large.description.endswith("Q4_0")
        same = ("general.architecture", "tokenizer.ggml.model", "llama.block_count", "llama.context_length")
        assert [large.metadata[key] for key in same] == [small.metadata[key] for key in same]
    assert GGUFReader(wide).fields["tokenizer.ggml.tokens"].contents() == tokens_of(source)


def tokens_of(path: Path) -> list[str]:
    tokens: list[str] = GGUFReader(path).fields["tokenizer.ggml.tokens"].contents()
    return tokens


def test_noise_makes_another_model_and_a_seed_repeats_it(source: Path, tmp_path: Path) -> None:
    first = make(source, tmp_path / "first.gguf", Recipe("noisy", noise=0.1, format=F32))
    again = make(source, tmp_path / "again.gguf", Recipe("noisy", noise=0.1, format=F32))
    other = make(source, tmp_path / "other.gguf", Recipe("noisy", noise=0.1, format=F32, seed=1))
    assert first.read_bytes() == again.read_bytes()
    assert first.read_bytes() != other.read_bytes()
    small = make(source, tmp_path / "small.gguf", Recipe("noisy", noise=0.01, format=F32))
    change, small_change = (np.abs(logits(path) - logits(source)).mean() for path in (first, small))
    assert 0 < 3 * small_change < change


def test_noise_leaves_norms_and_embedding_alone(source: Path, tmp_path: Path) -> None:
    before = {tensor.name: tensor.data for tensor in GGUFReader(source).tensors}
    noisy = GGUFReader(make(source, tmp_path / "noisy.gguf", Recipe("noisy", noise=0.1, format=F32)))
    for tensor in noisy.tensors:
        same = np.array_equal(tensor.data, before[tensor.name])
        assert same is (not tensor.name.startswith("blk.") or "norm" in tensor.name), tensor.name


def test_kept_layers_take_new_numbers(source: Path, tmp_path: Path) -> None:
    before = {tensor.name: tensor.data for tensor in GGUFReader(source).tensors}
    cut = make(source, tmp_path / "cut.gguf", Recipe("cut", blocks=(1,)))
    after = {tensor.name: tensor.data for tensor in GGUFReader(cut).tensors}
    assert {name for name in after if name.startswith("blk.")} == {n for n in before if n.startswith("blk.0.")}
    np.testing.assert_array_equal(after["blk.0.ffn_up.weight"], before["blk.1.ffn_up.weight"])
    with opened(cut) as model:
        assert model.metadata["llama.block_count"] == "1"
    assert np.abs(logits(cut) - logits(source)).max() > 1e-2


# ------------------------------------------------------------------ how they are written


def test_progress_goes_to_the_end(source: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    make_standin(
        source,
        tmp_path / "deep" / "wide.gguf",
        Recipe("wide", units=2 * WIDTH),
        progress=lambda done, total: calls.append((done, total)),
        cancelled=lambda: False,
    )
    assert len(calls) == len(GGUFReader(source).tensors)
    done = [bytes_done for bytes_done, _ in calls]
    assert done == sorted(set(done))
    assert {total for _, total in calls} == {done[-1]}
    check_model_file(tmp_path / "deep" / "wide.gguf")


def test_cancelling_leaves_what_was_there(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.gguf"
    out.write_bytes(b"before")
    written: list[int] = []
    with pytest.raises(Cancelled):
        make_standin(
            source,
            out,
            Recipe("wide", units=2 * WIDTH),
            progress=lambda done, _total: written.append(done),
            cancelled=lambda: len(written) == 3,
        )
    assert out.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [out]


def test_too_little_room_is_told_before_anything_is_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=1000))
    with pytest.raises(ModelFileError) as caught:
        make(source, tmp_path / "out.gguf", Recipe("wide", units=2 * WIDTH))
    assert caught.value.code == "disk_full"
    assert caught.value.params["free"] == 1000
    monkeypatch.undo()
    size = make(source, tmp_path / "out.gguf", Recipe("wide", units=2 * WIDTH)).stat().st_size
    assert caught.value.params["need"] == pytest.approx(size, rel=0.01)


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "disk_full"), (errno.EIO, "file_unwritable")])
def test_a_write_that_fails_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, "failed")

    monkeypatch.setattr(GGUFWriter, "write_tensor_data", fail)
    with pytest.raises(ModelFileError) as caught:
        make(source, tmp_path / "out.gguf", Recipe("wide", units=2 * WIDTH))
    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError) as caught:
        make(source, tmp_path / "file" / "out.gguf", Recipe("wide", units=2 * WIDTH))
    assert caught.value.code == "file_unwritable"


# ------------------------------------------------------------------ sources that can't be changed so


@pytest.mark.parametrize(
    ("recipe", "what"),
    [
        (Recipe("too narrow", units=32), "width"),
        (Recipe("no whole blocks", units=100), "width"),
        (Recipe("no such layer", blocks=(0, 2)), "blocks"),
    ],
)
def test_recipes_that_do_not_fit(source: Path, tmp_path: Path, recipe: Recipe, what: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        make(source, tmp_path / "out.gguf", recipe)
    assert (caught.value.code, caught.value.params["what"]) == ("standin_unfit", what)


def test_a_source_without_feed_forward_layers(tmp_path: Path) -> None:
    source = write_tiny_recurrent(tmp_path / "mamba.gguf")
    with pytest.raises(ModelFileError) as caught:
        make(source, tmp_path / "out.gguf", Recipe("wide", units=2 * WIDTH))
    assert (caught.value.code, caught.value.params["what"]) == ("standin_unfit", "layers")


def test_a_source_that_does_not_chat(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError) as caught:
        make(write_tiny_bert(tmp_path / "bert.gguf"), tmp_path / "out.gguf", Recipe("wide", units=2 * WIDTH))
    assert caught.value.code == "model_is_encoder"
