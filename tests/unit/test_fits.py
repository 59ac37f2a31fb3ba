"""What a model needs on GPUs and in RAM, and how much of a pair fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from specchat.models.files.facts import Facts, VocabularyPrint, Weights
from specchat.models.files.memory import DEFAULT_CTX, Free, context_size, fits, memory_need
from specchat.models.files.shape import Shape
from specchat.settings.values import ModelOptions

MB = 2**20
OPTIONS = ModelOptions(ctx=1024)


def model(blocks: int = 10, block: int = 100 * MB, *, matrices: str = "Q6_K_", tied: bool = False) -> Facts:
    """A model whose blocks take `block` bytes each, with an output of 50 MB and a table of inputs of 20 MB."""
    table = Weights(20 * MB, {matrices: 20 * MB})
    return Facts(
        path=str(Path("model.gguf")),
        parts=("model.gguf",),
        size=blocks * block,
        name="model",
        architecture="llama",
        parameters=1,
        active_parameters=1,
        quantisation="Q6_K",
        ctx_trained=4096,
        has_template=True,
        thinks=False,
        licence="",
        layers=blocks,
        experts=0,
        rolls_back=True,
        active_size=blocks * block,
        vocabulary=VocabularyPrint("BPE", 1024, "0"),
        shape=Shape(width=256, feed_forward=512, heads=4, head_size=64, keys=(256,) * blocks, values=(256,) * blocks),
        input=table,
        blocks=(Weights(block, {matrices: block}),) * blocks,
        output=Weights(50 * MB, {matrices: 50 * MB}),
        tied=table if tied else Weights(),
    )


def test_a_context_is_never_larger_than_what_a_model_was_trained_on() -> None:
    assert context_size(ModelOptions(), 100_000) == DEFAULT_CTX
    assert context_size(ModelOptions(), 4096) == 4096
    assert context_size(ModelOptions(ctx=1000), 4096) == 1000
    assert context_size(ModelOptions(ctx=9000), 4096) == 4096
    assert context_size(ModelOptions(), 0) == 2


def test_all_in_ram() -> None:
    need = memory_need(model(), OPTIONS)
    assert (need.gpu_layers, need.layers, need.gpu) == (0, 11, 0)
    assert need.weights == (20 + 10 * 100 + 50) * MB
    assert need.kv == 1024 * 10 * 2 * 256 * 2
    assert need.ram == need.total == need.weights + need.kv + need.compute


def test_a_cache_is_rounded_up_and_as_large_as_its_format() -> None:
    assert memory_need(model(), ModelOptions(ctx=1000)).kv == memory_need(model(), OPTIONS).kv
    small = ModelOptions(ctx=1024, cache_type_k="q8_0", cache_type_v="q4_0")
    assert memory_need(model(), small).kv == 1024 * 10 * 256 * (34 + 18) // 32


def test_what_the_cpu_rearranges_is_reported_twice_and_needed_once() -> None:
    plain, rearranged = memory_need(model(), OPTIONS), memory_need(model(matrices="Q4_0"), OPTIONS)
    assert rearranged.total == plain.total + 1050 * MB
    assert rearranged.ram == plain.ram
    tied = memory_need(model(matrices="Q4_0", tied=True), OPTIONS)
    assert tied.total == rearranged.total + 20 * MB


def test_the_output_goes_to_the_gpu_first_and_then_the_last_blocks() -> None:
    cache = 1024 * 2 * 256 * 2
    needs = [memory_need(model(), OPTIONS, layers) for layers in (1, 2, 11, -1)]
    parts = [need.gpu - need.compute for need in needs]
    assert needs[2] == needs[3]
    assert parts[1] - parts[0] == 100 * MB + cache
    assert needs[2].weights == needs[0].weights == 1070 * MB
    assert needs[2].ram < 25 * MB < needs[0].ram
    tied = memory_need(model(tied=True), OPTIONS, -1)
    assert tied.gpu == needs[3].gpu + 20 * MB


def test_a_pair_that_fits() -> None:
    fit = fits(model(), OPTIONS, model(2), OPTIONS, Free(ram=10_000 * MB, gpu=10_000 * MB))
    assert fit.verdict == "fits"
    assert fit.draft is not None
    assert (fit.target.gpu_layers, fit.draft.gpu_layers) == (11, 3)
    assert fit.gpu == fit.target.gpu + fit.draft.gpu


@pytest.mark.parametrize("room", [400, 700, 1100])
def test_as_many_layers_as_fit_with_the_draft_beside_them(room: int) -> None:
    target, draft = model(), model(2)
    fit = fits(target, OPTIONS, draft, OPTIONS, Free(ram=10_000 * MB, gpu=room * MB))
    assert fit.verdict == "partly"
    assert fit.draft == memory_need(draft, OPTIONS, 3)
    one_more = memory_need(target, OPTIONS, fit.target.gpu_layers + 1)
    assert fit.gpu <= room * MB < one_more.gpu + fit.draft.gpu


def test_a_draft_that_finds_no_room_on_the_gpu() -> None:
    fit = fits(model(2), OPTIONS, model(), OPTIONS, Free(ram=10_000 * MB, gpu=400 * MB))
    assert fit.verdict == "partly"
    assert fit.draft is not None
    assert (fit.target.gpu_layers, fit.draft.gpu_layers) == (3, 0)


def test_without_a_gpu_ram_must_hold_both() -> None:
    target, draft = memory_need(model(), OPTIONS), memory_need(model(2), OPTIONS)
    enough = target.ram + draft.ram
    assert fits(model(), OPTIONS, model(2), OPTIONS, Free(ram=enough)).verdict == "fits"
    assert fits(model(), OPTIONS, model(2), OPTIONS, Free(ram=enough - 1)).verdict == "no"
    assert fits(model(), OPTIONS, None, OPTIONS, Free(ram=target.ram)).verdict == "fits"


def test_what_was_asked_to_stay_in_ram_fits_there() -> None:
    on_cpu = ModelOptions(ctx=1024, gpu_layers=0)
    fit = fits(model(), on_cpu, None, on_cpu, Free(ram=10_000 * MB, gpu=10_000 * MB))
    assert (fit.verdict, fit.gpu) == ("fits", 0)
    some = ModelOptions(ctx=1024, gpu_layers=4)
    assert fits(model(), some, None, some, Free(ram=10_000 * MB, gpu=10_000 * MB)).target.gpu_layers == 4


def test_too_large_for_anything() -> None:
    assert fits(model(), OPTIONS, model(2), OPTIONS, Free(ram=500 * MB, gpu=500 * MB)).verdict == "no"
