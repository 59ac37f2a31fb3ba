"""What llama.cpp can compute on: ggml's device list, which llama-cpp-python doesn't bind (ggml-backend.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import llama_cpp

import specchat.models.llama.library  # noqa: F401  (starts the backends, with the log in place)

Kind = Literal["cpu", "gpu", "igpu", "accel"]

_KINDS: tuple[Kind, ...] = ("cpu", "gpu", "igpu", "accel")
"""In the order of `enum ggml_backend_dev_type`."""
_BACKENDS = {"MTL": "Metal"}


@dataclass(frozen=True, slots=True)
class Device:
    """Something llama.cpp can compute on. Memory in bytes."""

    name: str
    description: str
    kind: Kind
    memory_free: int
    memory_total: int


def devices() -> tuple[Device, ...]:
    """All devices of the installed build, the CPU among them, with the memory that is free now."""
    return tuple(_device(pointer) for pointer in _pointers())


def gpus() -> tuple[Device, ...]:
    """The devices that layers can go to, in the order of the numbers that `main_gpu` means."""
    return tuple(_device(pointer) for pointer in _gpu_pointers())


def backend_name() -> str:
    """What layers go to by default: `CUDA`, `Metal`, `Vulkan`, `ROCm` …, or `CPU`."""
    for pointer in _gpu_pointers():
        registry = _function("ggml_backend_dev_backend_reg", ctypes.c_void_p, ctypes.c_void_p)(pointer)
        name = _text("ggml_backend_reg_name", registry)
        return _BACKENDS.get(name, name)
    return "CPU"


def _gpu_pointers() -> list[int]:
    # As llama.cpp itself chooses (llama_prepare_model_devices): integrated GPUs only where there is no other.
    every = _pointers()
    return [p for p in every if _kind(p) == "gpu"] or [p for p in every if _kind(p) == "igpu"]


def _pointers() -> list[int]:
    count = _function("ggml_backend_dev_count", ctypes.c_size_t)()
    get = _function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    return [get(i) for i in range(count)]


def _device(pointer: int) -> Device:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    size = ctypes.POINTER(ctypes.c_size_t)
    _function("ggml_backend_dev_memory", None, ctypes.c_void_p, size, size)(pointer, free, total)
    return Device(
        name=_text("ggml_backend_dev_name", pointer),
        description=_text("ggml_backend_dev_description", pointer),
        kind=_kind(pointer),
        memory_free=free.value,
        memory_total=total.value,
    )


def _kind(pointer: int) -> Kind:
    number: int = _function("ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p)(pointer)
    return _KINDS[number]


def _text(function: str, pointer: int) -> str:
    text: bytes = _function(function, ctypes.c_char_p, ctypes.c_void_p)(pointer)
    return text.decode(errors="replace")


@cache
def _function(name: str, result: Any, *arguments: Any) -> Any:
    for library in _libraries():
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            return function
    raise AttributeError(f"the installed llama.cpp has no {name}")


def _libraries() -> Iterator[ctypes.CDLL]:
    """Where ggml's functions may be found.

    On Linux and macOS a look-up in libllama reaches the libraries it is linked with. Opening libggml by its path
    could load a second copy with devices of its own, since the wheel holds the same file under three names.
    On Windows a look-up stays in its DLL, and opening the path of a loaded DLL gives that DLL.
    """
    libllama: ctypes.CDLL = llama_cpp.llama_cpp._lib
    yield libllama
    for path in sorted(Path(libllama._name).parent.glob("*ggml*.dll")):
        yield ctypes.CDLL(str(path))
