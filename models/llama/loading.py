"""Loading a model with its context: onto the GPU as far as it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from specchat.models.files.errors import ModelFileError
from specchat.models.files.header import read_header
from specchat.models.llama.context import Context
from specchat.models.llama.devices import Device, devices, gpus
from specchat.models.llama.errors import LlamaError
from specchat.models.llama.library import log
from specchat.models.llama.model import LlamaModel, LoadProgress, open_model
from specchat.models.llama.parameters import check_options
from specchat.models.llama.tokenizer import Tokenizer
from specchat.settings.values import ModelOptions

_MAY_FIT_SMALLER = ("load_failed", "context_failed", "decode_failed")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready to write, and what became of the options it was asked for with."""

    model: LlamaModel
    tokenizer: Tokenizer
    context: Context
    gpu_layers: int
    """Layers on the GPUs, of `model.layers`."""
    gpu_layers_asked: int
    """Layers that were asked for, at most all. Asking for all of them where there is no GPU asks for none."""
    devices: tuple[str, ...]
    """Names of the devices that hold its layers."""
    ctx_asked: int
    """The context a person chose, in tokens (0: none). `context.n_ctx` is less if the model was trained on less."""
    memory: int
    """Bytes of weights, cache and buffers, by llama.cpp's own account; 0 where it gave none."""

    def free(self) -> None:
        """Give back all its memory."""
        self.context.free()
        self.model.free()


def load(path: Path, options: ModelOptions, progress: LoadProgress | None = None) -> Loaded:
    """Load the GGUF file `path` and reserve its context.

    Where that fails with layers on the GPU, 3/4, 1/2 and 1/4 of them and none are tried in turn, and `progress`
    starts again. Raises `LoadError`, `Cancelled`, and `DecodeError` if not even two tokens can be evaluated.
    """
    available = gpus()
    check_options(options, len(available))
    for gpu_layers in _steps(path, options.gpu_layers if available else 0):
        mark = log.mark()
        try:
            model, context = _attempt(path, options, gpu_layers, progress)
        except LlamaError as error:
            if error.code not in _MAY_FIT_SMALLER:
                raise
            failure = error
        else:
            return _loaded(model, context, options, gpu_layers, available, log.buffers(mark))
    raise failure


def _steps(path: Path, first: int) -> Iterator[int]:
    """The numbers of GPU layers to try: `first` (-1: all), then ever fewer unless the file itself is to blame."""
    yield first
    if first == 0:
        return
    try:
        header = read_header(path)
    except ModelFileError:
        return
    blocks = header.integer(f"{header.text('general.architecture')}.block_count") or 0
    most = _at_most(first, blocks + 1)
    yield from sorted({most * 3 // 4, most // 2, most // 4, 0}, reverse=True)


def _attempt(
    path: Path, options: ModelOptions, gpu_layers: int, progress: LoadProgress | None
) -> tuple[LlamaModel, Context]:
    model = open_model(path, gpu_layers, options.main_gpu, progress)
    try:
        return model, Context(model, options)
    except BaseException:
        model.free()
        raise


def _loaded(
    model: LlamaModel,
    context: Context,
    options: ModelOptions,
    gpu_layers: int,
    available: Sequence[Device],
    memory: int,
) -> Loaded:
    used = _at_most(gpu_layers, model.layers)
    all_of_none = options.gpu_layers < 0 and not available
    holding = available if options.main_gpu < 0 else available[options.main_gpu :][:1]
    cpus = [device for device in devices() if device.kind == "cpu"]
    return Loaded(
        model=model,
        tokenizer=Tokenizer(model),
        context=context,
        gpu_layers=used,
        gpu_layers_asked=0 if all_of_none else _at_most(options.gpu_layers, model.layers),
        devices=tuple(d.name for d in [*(holding if used else ()), *(cpus if used < model.layers else ())]),
        ctx_asked=options.ctx,
        memory=memory,
    )


def _at_most(gpu_layers: int, layers: int) -> int:
    return layers if gpu_layers < 0 else min(gpu_layers, layers)
