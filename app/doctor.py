"""`specchat doctor`: what specchat finds on this machine, and what could be better."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import msgspec
import psutil

from specchat.app.command_line.arguments import settings_notices
from specchat.app.gpu import NEEDS, Backend, Gpu, build_command, find_gpus
from specchat.app.words import _, sentence, visible
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import Device, Ready
from specchat.models.files.bundled import bundled_model
from specchat.settings import sources
from specchat.settings.paths import Paths, find_paths

_PACKAGES = ("specchat", "llama-cpp-python", "numpy", "textual")


@dataclass(frozen=True, slots=True)
class Build:
    """How to get a llama.cpp that uses a GPU of this machine."""

    backend: Backend
    needs: str
    command: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that `specchat doctor` shows; its field names are those of `--json`. Memory in bytes.

    `backend`, `devices` and `cpu_features` come from the engine and are missing where it doesn't start
    (`engine_error` says why). `gpus` seem to be there, whatever llama.cpp was built for; `build` is for the first
    of them, where llama.cpp uses none.
    """

    versions: dict[str, str]
    platform: str
    backend: str | None
    devices: tuple[Device, ...]
    gpus: tuple[str, ...]
    build: Build | None
    memory_available: int
    memory_total: int
    cpu_cores: int | None
    cpu_threads: int | None
    cpu_features: tuple[str, ...]
    bundled_model: str | None
    settings_file: str
    data_folder: str
    cache_folder: str
    log_folder: str
    settings_problems: tuple[str, ...]
    engine_error: str | None


def run(*, as_json: bool) -> int:
    """Examine the machine and print the report. The status is 1 if the engine doesn't start."""
    paths = find_paths(os.environ)
    engine = asyncio.run(start_engine(paths.log / "engine.log"))
    root = Path(os.environ.get("SYSTEMDRIVE", "") + os.sep)
    gpus = find_gpus(root, platform.system(), platform.machine(), os.environ.get("PATH", ""))
    report = examine(engine, gpus, paths)
    print(msgspec.json.format(msgspec.json.encode(report), indent=2).decode() if as_json else describe(report))
    return 0 if report.engine_error is None else 1


async def start_engine(log: Path) -> Ready | EngineFailure:
    """What the engine says of itself, or why it doesn't start."""
    async with EngineClient(log) as engine:
        try:
            return await engine.start()
        except EngineFailure as failure:
            return failure


def examine(engine: Ready | EngineFailure, gpus: Sequence[Gpu], paths: Paths) -> Report:
    """The report on this machine."""
    ready = engine if isinstance(engine, Ready) else None
    memory = psutil.virtual_memory()
    bundled = bundled_model()
    problems = sources.load(paths.settings_file, os.environ, {}).problems
    return Report(
        versions=_versions() | (ready.versions if ready else {}),
        platform=platform.platform(),
        backend=ready.backend if ready else None,
        devices=ready.devices if ready else (),
        gpus=tuple(gpu.name for gpu in gpus),
        build=_build(gpus[0].backend) if gpus and ready and ready.backend == "CPU" else None,
        memory_available=memory.available,
        memory_total=memory.total,
        cpu_cores=psutil.cpu_count(logical=False),
        cpu_threads=psutil.cpu_count(),
        cpu_features=cpu_features(ready.system) if ready else (),
        bundled_model=None if bundled is None else str(bundled),
        settings_file=str(paths.settings_file),
        data_folder=str(paths.data),
        cache_folder=str(paths.cache),
        log_folder=str(paths.log),
        settings_problems=settings_notices(problems),
        engine_error=None if isinstance(engine, Ready) else sentence(engine.code, engine.params),
    )


def cpu_features(system: str) -> tuple[str, ...]:
    """The features of the CPU in llama.cpp's line, such as `CUDA : ARCHS = 890 | CPU : AVX2 = 1 | SVE_CNT = 16`."""
    features = []
    part = ""
    for entry in system.split("|"):
        *named, setting = (text.strip() for text in entry.split(" : "))
        part = named[0] if named else part
        name, _equals, value = (text.strip() for text in setting.partition("="))
        if part == "CPU" and value not in ("", "0"):
            features.append(name if value == "1" else f"{name} {value}")
    return tuple(features)


def describe(report: Report) -> str:
    """The report in words: a table, then what should be done."""
    versions = report.versions
    llama = f"{versions.get('llama.cpp', '?')} (llama-cpp-python {versions['llama-cpp-python']})"
    rows = [
        ("specchat", versions["specchat"]),
        ("Python", f"{versions['python']} · {report.platform}"),
        ("llama.cpp", llama),
        ("numpy, textual", f"{versions['numpy']}, {versions['textual']}"),
        (_("backend"), report.backend or "?"),
        *((_("device"), _device(device)) for device in report.devices),
        *((_("GPU"), gpu) for gpu in report.gpus),
        (_("memory"), _memory(report.memory_available, report.memory_total)),
        (_("CPU"), _cpu(report)),
        (_("bundled model"), report.bundled_model or _("not installed")),
        (_("settings"), report.settings_file),
        (_("data"), report.data_folder),
        (_("cache"), report.cache_folder),
        (_("logs"), report.log_folder),
    ]
    width = max(len(label) for label, _text in rows)
    table = "\n".join(f"{label:<{width}}  {visible(text)}" for label, text in rows)
    return "\n\n".join([table, *_advice(report)])


def _advice(report: Report) -> list[str]:
    advice = list(report.settings_problems)
    if report.engine_error:
        advice.append(report.engine_error)
    if report.bundled_model is None:
        advice.append(sentence("bundled_missing", {}))
    if report.build:
        text = _("This machine seems to have an {gpu}, which this llama.cpp can't use. To build one for {backend}:")
        asked = _("It takes some minutes, a C++ compiler and the {needs}.").format(needs=report.build.needs)
        text = text.format(gpu=report.gpus[0], backend=report.build.backend)
        advice.append(f"{text}\n\n  {report.build.command}\n\n{asked}")
    elif report.backend == "CPU":
        advice.append(_("No GPU was found; everything runs on the CPU."))
    return advice


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "?"
    return found


def _build(backend: Backend) -> Build:
    command = build_command(
        backend,
        version("llama-cpp-python"),
        windows=platform.system() == "Windows",
        python=sys.executable,
        has_pip=find_spec("pip") is not None,
    )
    return Build(backend, NEEDS[backend], command)


def _device(device: Device) -> str:
    named = f"{device.name} · {device.description}"
    if device.kind == "cpu":  # its memory is the system's, which llama.cpp always takes for free
        return named
    return f"{named} · {_memory(device.memory_free, device.memory_total)}"


def _memory(free: int, total: int) -> str:
    return _("{free:.1f} of {total:.1f} GiB free").format(free=free / 2**30, total=total / 2**30)


def _cpu(report: Report) -> str:
    counts = _("{cores} cores, {threads} threads").format(
        cores=report.cpu_cores or "?", threads=report.cpu_threads or "?"
    )
    return " · ".join([counts, *filter(None, [" ".join(report.cpu_features)])])
