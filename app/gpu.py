"""Whether this machine seems to have a GPU, told without any GPU library, and the command that puts it to use."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Backend = Literal["CUDA", "ROCm", "Vulkan", "Metal"]

CMAKE_OPTIONS: dict[Backend, str] = {
    "CUDA": "-DGGML_CUDA=on",
    "ROCm": "-DGGML_HIP=on",
    "Vulkan": "-DGGML_VULKAN=on",
    "Metal": "-DGGML_METAL=on",
}
NEEDS: dict[Backend, str] = {
    "CUDA": "CUDA Toolkit",
    "ROCm": "ROCm SDK",
    "Vulkan": "Vulkan SDK",
    "Metal": "Xcode Command Line Tools",
}
"""What must be installed before llama.cpp can be built for a backend, compilers apart."""

_NVIDIA, _AMD, _INTEL = "0x10de", "0x1002", "0x8086"
"""PCI vendors as Linux writes them."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU that seems to be there, and the backend that suits it."""

    name: str
    backend: Backend


def find_gpus(root: Path, system: str, machine: str, path: str) -> tuple[Gpu, ...]:
    """The GPUs of a machine, the likeliest to be worth it first.

    `root` is the root of its (system) drive, `system` and `machine` are what `platform` calls it, `path` is its PATH.
    """
    if system == "Darwin":
        return (Gpu("Apple GPU", "Metal"),) if machine == "arm64" else ()
    vendors = set(_windows_vendors(root) if system == "Windows" else _linux_vendors(root))
    if shutil.which("nvidia-smi", path=path):
        vendors.add(_NVIDIA)
    amd: Backend = "ROCm" if (root / "opt/rocm").is_dir() else "Vulkan"
    known = ((_NVIDIA, Gpu("NVIDIA GPU", "CUDA")), (_AMD, Gpu("AMD GPU", amd)), (_INTEL, Gpu("Intel GPU", "Vulkan")))
    return tuple(gpu for vendor, gpu in known if vendor in vendors)


def build_command(backend: Backend, version: str, *, windows: bool, python: str, has_pip: bool) -> str:
    """The one command that builds llama-cpp-python `version` for `backend` into the environment of `python`.

    `windows` asks for PowerShell, `has_pip` says whether that environment has pip (those that uv makes have none).
    Neither installer may use its cache: both keep what they built by version, whatever it was built for.
    """
    package = f"llama-cpp-python=={version}"
    if has_pip:
        call = "& " if windows else ""
        install = (
            f'{call}"{python}" -m pip install --force-reinstall --no-deps --no-cache-dir '
            f"--no-binary llama-cpp-python {package}"
        )
    else:
        install = (
            f'uv pip install --python "{python}" --no-cache --reinstall-package llama-cpp-python '
            f"--no-binary llama-cpp-python {package}"
        )
    arguments = f'CMAKE_ARGS="{CMAKE_OPTIONS[backend]}"'
    return f"$env:{arguments}; {install}" if windows else f"{arguments} {install}"


def _linux_vendors(root: Path) -> Iterator[str]:
    if (root / "proc/driver/nvidia").is_dir() or (root / "usr/lib/wsl/lib/libcuda.so.1").exists():
        yield _NVIDIA
    for file in root.glob("sys/class/drm/card*/device/vendor"):
        vendor = _read(file).strip().lower()
        if vendor != _INTEL or _is_card(_read(file.with_name("uevent"))):
            yield vendor


def _windows_vendors(root: Path) -> Iterator[str]:
    libraries = root / "Windows/System32"
    if (libraries / "nvcuda.dll").exists():
        yield _NVIDIA
    if (libraries / "atiadlxx.dll").exists():
        yield _AMD


def _is_card(uevent: str) -> bool:
    """Whether a PCI device is a card of its own: Intel's integrated GPUs sit on bus 0, with the processor."""
    for line in uevent.splitlines():
        name, _, slot = line.partition("=")
        if name == "PCI_SLOT_NAME":
            return slot.split(":")[1:2] != ["00"]
    return False


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
