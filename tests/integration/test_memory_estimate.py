"""The estimate of a model's memory is within 10 % of what llama.cpp reports once it has loaded the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from specchat.models.files.bundled import bundled_model
from specchat.models.files.facts import read_facts
from specchat.models.files.memory import memory_need
from specchat.models.files.standin import Recipe, make_standin
from specchat.models.llama.loading import load
from specchat.settings.values import ModelOptions
from support.tiny_gguf import write_tiny_llama, write_tiny_recurrent, write_tiny_sliding

OPTIONS = {
    "as it comes": ModelOptions(gpu_layers=0),
    "small context": ModelOptions(ctx=512),
    "odd context": ModelOptions(ctx=1000),
    "no flash attention": ModelOptions(ctx=2048, flash_attention="off"),
    "narrow passes": ModelOptions(ctx=2048, batch=64),
    "wide passes": ModelOptions(ctx=4096, batch=2048),
    "quantised keys": ModelOptions(ctx=4096, cache_type_k="q8_0"),
    "quantised cache": ModelOptions(ctx=4096, cache_type_k="q4_0", cache_type_v="q8_0"),
    "whole numbers cached": ModelOptions(ctx=1024, cache_type_k="f32", cache_type_v="f32"),
}


def assert_close(path: Path, options: ModelOptions) -> None:
    loaded = load(path, options)
    loaded.free()
    need = memory_need(read_facts(path), options, loaded.gpu_layers)
    assert loaded.memory > 0
    assert need.total == pytest.approx(loaded.memory, rel=0.1)
    assert need.ctx == loaded.context.n_ctx


@pytest.mark.parametrize("name", OPTIONS)
def test_bundled(name: str) -> None:
    path = bundled_model()
    assert path is not None
    assert_close(path, OPTIONS[name])


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe("few layers", blocks=(0, 1, 2)),
        Recipe("wide", units=4096, blocks=(0, 1)),
    ],
    ids=lambda recipe: recipe.label,
)
def test_standins(tmp_path: Path, recipe: Recipe) -> None:
    source, path = bundled_model(), tmp_path / "standin.gguf"
    assert source is not None
    make_standin(source, path, recipe, progress=lambda _done, _total: None, cancelled=lambda: False)
    for name in ("as it comes", "no flash attention"):
        assert_close(path, OPTIONS[name])


@pytest.mark.parametrize("width", [256, 512])
def test_tiny(tmp_path: Path, width: int) -> None:
    path = write_tiny_llama(tmp_path / "tiny.gguf", width=width, heads=4, layers=3, ctx_train=1024)
    for options in (ModelOptions(), ModelOptions(batch=64, ctx=512)):
        assert_close(path, options)


def test_other_kinds(tmp_path: Path) -> None:
    assert_close(write_tiny_sliding(tmp_path / "sliding.gguf", width=256, heads=4), ModelOptions())
    assert_close(write_tiny_recurrent(tmp_path / "recurrent.gguf", width=256), ModelOptions())
