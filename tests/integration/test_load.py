"""Loading: what is found out, what is refused, and how many layers go where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from specchat.models.decoding.model import Cancelled
from specchat.models.files.bundled import bundled_model
from specchat.models.llama import library, loading
from specchat.models.llama.devices import Device, backend_name, devices, gpus
from specchat.models.llama.errors import LoadError
from specchat.models.llama.loading import load
from specchat.models.llama.model import LlamaModel, LoadProgress, open_model
from specchat.settings.values import ModelOptions
from support.tiny_gguf import (
    write_tiny_bert,
    write_tiny_llama,
    write_tiny_t5,
    write_vocabulary_only,
)
from support.tiny_vocabulary import byte_vocabulary

CPU = ModelOptions(threads=1, gpu_layers=0)
GPU = Device("GPU0", "pretended", "gpu", 1, 2)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # One head of 32, so that its cache can be quantised.
    return write_tiny_llama(tmp_path_factory.mktemp("models") / "tiny.gguf", heads=1, template="{{ messages }}")


def refusal(path: Path, options: ModelOptions = CPU) -> LoadError:
    with pytest.raises(LoadError) as caught:
        load(path, options)
    return caught.value


def test_facts_of_a_tiny_model(tiny: Path) -> None:
    loaded = load(tiny, CPU)
    model = loaded.model
    assert (model.name, model.architecture, model.layers, model.ctx_trained) == ("tiny", "llama", 3, 256)
    assert model.metadata["llama.embedding_length"] == "32"
    assert model.template == "{{ messages }}"
    assert model.parameters * 4 == model.size
    assert (loaded.gpu_layers, loaded.gpu_layers_asked, loaded.devices) == (0, 0, ("CPU",))
    assert loaded.context.n_vocab == loaded.tokenizer.n_vocab
    loaded.free()
    loaded.free()
    with pytest.raises(RuntimeError, match="freed"):
        _ = model.handle


def test_facts_of_the_bundled_model() -> None:
    path = bundled_model()
    assert path is not None
    loaded = load(path, ModelOptions(ctx=512))
    assert "Q4_1" in loaded.model.description
    assert loaded.model.layers == 31
    assert loaded.model.template is not None
    assert "<|im_start|>" in loaded.model.template
    assert loaded.context.n_ctx == 512
    assert loaded.context.can_roll_back
    loaded.free()


@pytest.mark.parametrize(("asked", "got"), [(0, 256), (100, 100), (256, 256), (100_000, 256), (1, 2)])
def test_the_context_is_never_longer_than_trained(tiny: Path, asked: int, got: int) -> None:
    loaded = load(tiny, ModelOptions(threads=1, ctx=asked))
    assert (loaded.ctx_asked, loaded.context.n_ctx) == (asked, got)
    loaded.free()


def test_a_long_context_is_not_taken_unasked(tmp_path: Path) -> None:
    loaded = load(write_tiny_llama(tmp_path / "long.gguf", ctx_train=32_768), CPU)
    assert loaded.context.n_ctx == 8192
    loaded.free()


def test_progress_is_told_and_can_cancel(tiny: Path) -> None:
    told: list[float] = []

    def progress(done: float) -> bool:
        told.append(done)
        return True

    load(tiny, CPU, progress).free()
    assert told == sorted(told)
    assert told[-1] == 1
    with pytest.raises(Cancelled):
        load(tiny, CPU, lambda _done: False)


def test_an_exception_in_progress_comes_out(tiny: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        load(tiny, CPU, lambda _done: bool(1 / 0))


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"hello", "invalid magic"), (b"", "failed to read magic"), (None, "No such file")],
    ids=["text", "empty", "missing"],
)
def test_files_that_are_no_gguf(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], content: bytes | None, reason: str
) -> None:
    path = tmp_path / "bad.gguf"
    if content is not None:
        path.write_bytes(content)
    error = refusal(path)
    assert error.code == "load_failed"
    assert reason in str(error.params["reason"])
    assert any(reason in line for line in library.last_lines())
    out, log = capfd.readouterr()
    assert out == ""
    assert reason in log


def test_a_truncated_file(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "short.gguf"
    path.write_bytes(tiny.read_bytes()[:-1000])
    error = refusal(path)
    assert error.code == "load_failed"
    assert "not within the file bounds" in str(error.params["reason"])


def test_models_that_do_not_write_token_by_token(tmp_path: Path) -> None:
    encoder = refusal(write_tiny_bert(tmp_path / "bert.gguf"))
    assert (encoder.code, encoder.params) == ("model_is_encoder", {"architecture": "bert"})
    both = refusal(write_tiny_t5(tmp_path / "t5.gguf"))
    assert (both.code, both.params) == ("model_is_encoder_decoder", {"architecture": "t5"})
    diffusion = refusal(write_tiny_llama(tmp_path / "llada.gguf", architecture="llada"))
    assert (diffusion.code, diffusion.params) == ("model_is_diffusion", {"architecture": "llada"})


def test_models_that_lack_a_part(tmp_path: Path) -> None:
    weightless = refusal(write_vocabulary_only(tmp_path / "vocabulary.gguf"))
    assert weightless.code == "load_failed"
    assert "token_embd.weight" in str(weightless.params["reason"])
    nameless = replace(byte_vocabulary(), model="no_vocab")
    assert refusal(write_tiny_llama(tmp_path / "nameless.gguf", vocabulary=nameless)).code == "no_vocabulary"


@pytest.mark.parametrize("cache_type", ["q8_0", "q4_0", "f32", "bf16"])
def test_the_cache_can_have_other_types(tiny: Path, cache_type: str) -> None:
    options = ModelOptions(threads=1, cache_type_k=cache_type, cache_type_v=cache_type)  # type: ignore[arg-type]
    exact, loaded = load(tiny, CPU), load(tiny, options)
    difference = exact.context.evaluate([3, 4, 5], 1) - loaded.context.evaluate([3, 4, 5], 1)
    assert np.abs(difference).max() < 0.5
    exact.free()
    loaded.free()


def test_a_quantised_value_cache_needs_flash_attention(tiny: Path) -> None:
    error = refusal(tiny, ModelOptions(threads=1, cache_type_v="q8_0", flash_attention="off"))
    assert (error.code, error.params) == ("cache_needs_flash_attention", {"cache_type": "q8_0"})
    load(tiny, ModelOptions(threads=1, cache_type_v="f16", flash_attention="off")).free()


def test_a_context_that_can_not_be_made(tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "heads.gguf", heads=2)
    error = refusal(path, ModelOptions(threads=1, cache_type_v="q8_0"))
    assert error.code == "context_failed"
    assert "does not divide" in str(error.params["reason"])


def test_a_gpu_that_is_not_there(tiny: Path) -> None:
    error = refusal(tiny, ModelOptions(threads=1, main_gpu=99))
    assert (error.code, error.params) == ("no_such_gpu", {"gpu": 99, "count": len(gpus())})
    load(tiny, ModelOptions(threads=1, gpu_layers=0, main_gpu=99)).free()


@pytest.mark.parametrize(
    ("asked", "fits", "tried", "names"),
    [
        (-1, 9, [-1], ("GPU0",)),
        (-1, 4, [-1, 6, 4], ("GPU0", "CPU")),
        (-1, 0, [-1, 6, 4, 2, 0], ("CPU",)),
        (5, 2, [5, 3, 2], ("GPU0", "CPU")),
        (50, 6, [50, 6], ("GPU0", "CPU")),
        (0, 9, [0], ("CPU",)),
    ],
)
def test_fewer_layers_are_tried_where_not_all_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: int, fits: int, tried: list[int], names: tuple[str, ...]
) -> None:
    path = write_tiny_llama(tmp_path / "deep.gguf", layers=8)
    attempts: list[int] = []

    def pretend(path: Path, gpu_layers: int, main_gpu: int, progress: LoadProgress | None) -> LlamaModel:
        attempts.append(gpu_layers)
        if (9 if gpu_layers < 0 else gpu_layers) > fits:
            raise LoadError("load_failed", reason="out of memory")
        return open_model(path, 0, main_gpu, progress)

    monkeypatch.setattr(loading, "open_model", pretend)
    monkeypatch.setattr(loading, "gpus", lambda: (GPU,))
    loaded = load(path, ModelOptions(threads=1, gpu_layers=asked))
    assert attempts == tried
    assert loaded.gpu_layers == min(fits, 9 if asked < 0 else asked)
    assert loaded.gpu_layers_asked == (9 if asked < 0 else min(asked, 9))
    assert loaded.devices == names
    loaded.free()


def test_a_broken_file_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setattr(loading, "gpus", lambda: (GPU,))
    mark = library.log.mark()
    assert refusal(path, ModelOptions()).code == "load_failed"
    assert sum(line.endswith(": failed to load model") for line in library.log.lines(since=mark)) == 1


def test_what_there_is_to_compute_on() -> None:
    cpus = [device for device in devices() if device.kind == "cpu"]
    assert len(cpus) == 1
    assert cpus[0].name == "CPU"
    assert cpus[0].memory_total > 0
    assert (backend_name() == "CPU") == (not gpus())
    assert set(library.versions()) == {"llama-cpp-python", "llama.cpp"}
    assert "CPU" in library.system_info()


@pytest.mark.gpu
@pytest.mark.skipif(not gpus(), reason="the installed llama.cpp has no GPU to use")
@pytest.mark.parametrize("asked", [-1, 2])
def test_layers_go_to_the_gpu(tiny: Path, asked: int) -> None:
    text = list(range(3, 40))
    cpu, gpu = load(tiny, CPU), load(tiny, ModelOptions(gpu_layers=asked, main_gpu=0, flash_attention="off"))
    assert gpu.gpu_layers == (gpu.model.layers if asked < 0 else asked)
    assert gpu.devices == (gpus()[0].name, "CPU")[: 1 if asked < 0 else 2]
    expected = cpu.context.evaluate(text, 5)
    assert np.allclose(gpu.context.evaluate(text, 5), expected, atol=0.05)
    gpu.context.roll_back(20)
    assert np.allclose(gpu.context.evaluate(text[20:], 5), expected, atol=0.05)
    gpu.free()
    cpu.free()
