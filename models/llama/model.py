"""One GGUF file's model, loaded by llama.cpp: its weights and what it says about itself."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp

from specchat.models.llama.callbacks import Question
from specchat.models.llama.errors import LoadError
from specchat.models.llama.library import log

LoadProgress = Callable[[float], bool]
"""Called with how much is loaded, 0 … 1; returning False cancels."""


class LlamaModel:
    """A loaded model. Sizes in bytes, lengths in tokens."""

    def __init__(self, handle: int, path: Path) -> None:
        """Take over a llama_model pointer; `open_model` is the way to get one."""
        self._handle: int | None = handle
        self.path = path
        self.metadata = _metadata(handle)
        """Every scalar of the GGUF's metadata, as text."""
        self.architecture = self.metadata.get("general.architecture", "")
        self.name = self.metadata.get("general.name", "") or path.stem
        self.description = _text(llama_cpp.llama_model_desc, handle)
        """Architecture, size and quantisation in llama.cpp's words, such as `llama 1B Q4_0`."""
        self.size: int = llama_cpp.llama_model_size(handle)
        self.parameters: int = llama_cpp.llama_model_n_params(handle)
        self.layers = llama_cpp.llama_model_n_layer(handle) + 1
        """The blocks and the output layer: all that can go to a GPU."""
        self.ctx_trained: int = llama_cpp.llama_model_n_ctx_train(handle)

    @property
    def handle(self) -> int:
        """The llama_model pointer; only for the modules of this package."""
        if self._handle is None:
            raise RuntimeError("this model was freed")
        return self._handle

    @property
    def vocab(self) -> int:
        """The llama_vocab pointer; only for the modules of this package."""
        vocab: int = llama_cpp.llama_model_get_vocab(self.handle)
        return vocab

    @property
    def template(self) -> str | None:
        """The chat template in the file."""
        text = llama_cpp.llama_model_chat_template(self.handle, None)
        return None if text is None else text.decode(errors="replace")

    def free(self) -> None:
        """Give back its memory. Contexts must be freed before."""
        if self._handle is not None:
            llama_cpp.llama_model_free(self._handle)
            self._handle = None


def open_model(path: Path, gpu_layers: int, main_gpu: int, progress: LoadProgress | None = None) -> LlamaModel:
    """Load the GGUF file `path`.

    `gpu_layers` go to the GPUs: -1 is all of them, with 0 no GPU is touched. `main_gpu` is the one GPU to use, or
    -1 for all. Raises `Cancelled`, and `LoadError` also for a model that can't write text token by token.
    """
    question = Question(progress or (lambda _done: True))
    callback = llama_cpp.llama_progress_callback(lambda done, _data: question.go_on(done))
    params = _params(gpu_layers, main_gpu)
    params.progress_callback = callback
    mark = log.mark()
    handle = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
    if not handle:
        question.raise_if_refused()
        raise LoadError("load_failed", reason=log.cause(mark))
    model = LlamaModel(handle, path)
    refusal = _refusal(model)
    if refusal is not None:
        model.free()
        raise LoadError(refusal, architecture=model.architecture)
    return model


def _params(gpu_layers: int, main_gpu: int) -> Any:
    params = llama_cpp.llama_model_default_params()
    params.n_gpu_layers = gpu_layers
    if gpu_layers == 0 or main_gpu >= 0:
        params.split_mode = llama_cpp.LLAMA_SPLIT_MODE_NONE
        params.main_gpu = -1 if gpu_layers == 0 else main_gpu  # here -1 means no GPU at all
    return params


def _refusal(model: LlamaModel) -> str | None:
    """The code of what keeps `model` from writing text token by token, as far as the weights alone tell."""
    if not llama_cpp.llama_model_has_decoder(model.handle):
        return "model_is_encoder"
    if llama_cpp.llama_model_has_encoder(model.handle):
        return "model_is_encoder_decoder"
    if llama_cpp.llama_model_is_diffusion(model.handle):
        return "model_is_diffusion"
    if llama_cpp.llama_vocab_type(model.vocab) == llama_cpp.LLAMA_VOCAB_TYPE_NONE:
        return "no_vocabulary"
    return None


def _metadata(handle: int) -> dict[str, str]:
    key, value = llama_cpp.llama_model_meta_key_by_index, llama_cpp.llama_model_meta_val_str_by_index
    count: int = llama_cpp.llama_model_meta_count(handle)
    return {_text(key, handle, i): _text(value, handle, i) for i in range(count)}


def _text(function: Callable[..., int], *arguments: int) -> str:
    """What a C function writes into a buffer; it returns the length it would have needed."""
    size = 256
    while True:
        buffer = ctypes.create_string_buffer(size)
        length = function(*arguments, buffer, size)
        if length < size:
            return buffer.value.decode(errors="replace")
        size = length + 1
