"""From a person's options to llama.cpp's context parameters."""

from __future__ import annotations

import os
import sys
from typing import Any

import llama_cpp
import psutil

from specchat.models.files.memory import context_size
from specchat.models.llama.errors import LoadError
from specchat.settings.values import ModelOptions

_CACHE_TYPES = {"f32": 0, "f16": 1, "bf16": 30, "q8_0": 8, "q5_1": 7, "q5_0": 6, "q4_1": 3, "q4_0": 2}
"""`enum ggml_type` in ggml.h; llama_cpp leaves some of its names out."""
_UNQUANTISED = ("f32", "f16", "bf16")


def check_options(options: ModelOptions, gpus: int) -> None:
    """Raise `LoadError` for what can't work with any model, where there are `gpus` GPUs."""
    if options.gpu_layers != 0 and options.main_gpu >= gpus:
        raise LoadError("no_such_gpu", gpu=options.main_gpu, count=gpus)
    if options.flash_attention == "off" and options.cache_type_v not in _UNQUANTISED:
        raise LoadError("cache_needs_flash_attention", cache_type=options.cache_type_v)


def context_params(options: ModelOptions, ctx_trained: int) -> Any:
    """The llama_context_params for `options`; `n_ctx` is never more than the model was trained on."""
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = context_size(options, ctx_trained)
    params.n_batch = options.batch
    params.n_seq_max = 1
    params.n_threads = params.n_threads_batch = options.threads or _cores()
    params.type_k = _CACHE_TYPES[options.cache_type_k]
    params.type_v = _CACHE_TYPES[options.cache_type_v]
    params.flash_attn_type = _flash_attention(options)
    params.swa_full = True  # else layers with a sliding window forget what a rollback may need again
    return params


def _flash_attention(options: ModelOptions) -> int:
    if options.flash_attention == "on" or options.cache_type_v not in _UNQUANTISED:
        return llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED
    if options.flash_attention == "off":
        return llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
    return llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO


def _cores() -> int:
    """Physical cores, or the processors this process may use where those are fewer.

    llama.cpp's threads wait for each other at every step, so more of them than cores make it slower.
    """
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(psutil.cpu_count(logical=False) or usable, usable)
