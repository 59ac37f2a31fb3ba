"""What `specchat doctor` finds and says, on machines that are made up."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from specchat.app import doctor
from specchat.app.gpu import CMAKE_OPTIONS, NEEDS, Gpu, build_command, find_gpus
from specchat.app.main import main
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import PROTOCOL, Device, Ready
from specchat.models.files.bundled import bundled_model
from specchat.settings.paths import find_paths

CPU_LINE = "CPU : SSE3 = 1 | AVX2 = 1 | AMX_INT8 = 0 | SVE_CNT = 16 | REPACK = 1"
NVIDIA, AMD, AMD_ROCM = Gpu("NVIDIA GPU", "CUDA"), Gpu("AMD GPU", "Vulkan"), Gpu("AMD GPU", "ROCm")
INTEL, APPLE = Gpu("Intel GPU", "Vulkan"), Gpu("Apple GPU", "Metal")


def ready(backend: str = "CPU") -> Ready:
    gpu = Device("Vulkan0", "Some\x1b[31m GPU", "gpu", 3 * 2**30, 8 * 2**30)
    cpu = Device("CPU", "Some CPU", "cpu", 2**30, 2**30)
    devices = (cpu,) if backend == "CPU" else (gpu, cpu)
    return Ready(PROTOCOL, {"llama-cpp-python": "0.3.36", "llama.cpp": "b1"}, backend, devices, CPU_LINE)


def files(root: Path, contents: dict[str, str]) -> Path:
    for name, content in contents.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return root


def card(vendor: str, slot: str = "0000:03:00.0", number: int = 0) -> dict[str, str]:
    device = f"sys/class/drm/card{number}/device"
    return {f"{device}/vendor": f"{vendor}\n", f"{device}/uevent": f"DRIVER=x\nPCI_SLOT_NAME={slot}\n"}


# ------------------------------------------------------------------ GPUs


@pytest.mark.parametrize(
    ("contents", "found"),
    [
        ({}, ()),
        ({"proc/driver/nvidia/version": ""}, (NVIDIA,)),
        ({"usr/lib/wsl/lib/libcuda.so.1": ""}, (NVIDIA,)),
        (card("0x10de"), (NVIDIA,)),
        (card("0x1002"), (AMD,)),
        (card("0x1002") | {"opt/rocm/.info/version": ""}, (AMD_ROCM,)),
        ({"opt/rocm/.info/version": ""}, ()),
        (card("0x8086"), (INTEL,)),
        (card("0x8086", slot="0000:00:02.0"), ()),
        ({"sys/class/drm/card0/device/vendor": "0x8086"}, ()),
        (card("0x1a03"), ()),
        (card("0x1002") | card("0x10de", number=1) | {"proc/driver/nvidia/version": ""}, (NVIDIA, AMD)),
    ],
)
def test_linux(tmp_path: Path, contents: dict[str, str], found: tuple[Gpu, ...]) -> None:
    assert find_gpus(files(tmp_path, contents), "Linux", "x86_64", "") == found


def test_a_vendor_that_cannot_be_read_is_no_gpu(tmp_path: Path) -> None:
    (tmp_path / "sys/class/drm/card0/device/vendor").mkdir(parents=True)
    assert find_gpus(tmp_path, "Linux", "x86_64", "") == ()


def test_nvidias_own_tool_counts_as_a_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path: f"{path}/{name}" if name == "nvidia-smi" else None)
    assert find_gpus(tmp_path, "Linux", "x86_64", "/somewhere") == (NVIDIA,)


@pytest.mark.parametrize(("library", "found"), [("nvcuda.dll", (NVIDIA,)), ("atiadlxx.dll", (AMD,)), ("x.dll", ())])
def test_windows(tmp_path: Path, library: str, found: tuple[Gpu, ...]) -> None:
    assert find_gpus(files(tmp_path, {f"Windows/System32/{library}": ""}), "Windows", "AMD64", "") == found


@pytest.mark.parametrize(("machine", "found"), [("arm64", (APPLE,)), ("x86_64", ())])
def test_macos(tmp_path: Path, machine: str, found: tuple[Gpu, ...]) -> None:
    assert find_gpus(tmp_path, "Darwin", machine, "") == found


def test_the_build_command_suits_the_shell_and_the_installer() -> None:
    assert build_command("CUDA", "0.3.36", windows=False, python="/v/bin/python", has_pip=False) == (
        'CMAKE_ARGS="-DGGML_CUDA=on" uv pip install --python "/v/bin/python" --no-cache '
        "--reinstall-package llama-cpp-python --no-binary llama-cpp-python llama-cpp-python==0.3.36"
    )
    assert build_command("ROCm", "0.3.36", windows=False, python="/v/bin/python", has_pip=True) == (
        'CMAKE_ARGS="-DGGML_HIP=on" "/v/bin/python" -m pip install --force-reinstall --no-deps --no-cache-dir '
        "--no-binary llama-cpp-python llama-cpp-python==0.3.36"
    )
    for has_pip, start in ((True, '& "C:\\v\\python.exe" -m pip '), (False, "uv pip install ")):
        command = build_command("Vulkan", "0.3.36", windows=True, python="C:\\v\\python.exe", has_pip=has_pip)
        assert command.startswith(f'$env:CMAKE_ARGS="-DGGML_VULKAN=on"; {start}')


def test_every_backend_can_be_built() -> None:
    assert set(CMAKE_OPTIONS) == set(NEEDS)


# ------------------------------------------------------------------ the report


@pytest.mark.parametrize(
    ("line", "features"),
    [
        (CPU_LINE, ("SSE3", "AVX2", "SVE_CNT 16", "REPACK")),
        ("CUDA : ARCHS = 890 | USE_GRAPHS = 1 | CPU : AVX2 = 1 | OPENMP = 1", ("AVX2", "OPENMP")),
        ("CPU : NEON = 1 | MTL : EMBED_LIBRARY = 1", ("NEON",)),
        ("", ()),
        ("CPU : | ", ()),
    ],
)
def test_the_cpus_features_are_read_from_llama_cpps_line(line: str, features: tuple[str, ...]) -> None:
    assert doctor.cpu_features(line) == features


@pytest.mark.parametrize(
    ("engine", "gpus", "backend"),
    [
        (ready(), (NVIDIA, INTEL), "CUDA"),
        (ready(), (AMD,), "Vulkan"),
        (ready(), (), None),
        (ready("Vulkan"), (NVIDIA,), None),
        (EngineFailure("engine_crashed"), (NVIDIA,), None),
    ],
)
def test_a_build_is_offered_where_a_gpu_lies_idle(
    tmp_path: Path, engine: Ready | EngineFailure, gpus: tuple[Gpu, ...], backend: str | None
) -> None:
    report = doctor.examine(engine, gpus, find_paths({"SPECCHAT_HOME": str(tmp_path)}))
    assert report.gpus == tuple(gpu.name for gpu in gpus)
    assert (report.build and report.build.backend) == backend
    if report.build:
        assert report.build.command in doctor.describe(report).splitlines()[-3]
        assert NEEDS[report.build.backend] in doctor.describe(report)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPECCHAT_HOME", str(tmp_path))
    monkeypatch.setattr(doctor, "find_gpus", lambda *_where: ())
    return tmp_path


def engine_is(monkeypatch: pytest.MonkeyPatch, engine: Ready | EngineFailure) -> None:
    async def start(_log: Path) -> Ready | EngineFailure:
        return engine

    monkeypatch.setattr(doctor, "start_engine", start)


def test_the_report_in_words(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    engine_is(monkeypatch, ready())
    assert main(["doctor"]) == 0
    output = capsys.readouterr().out
    assert "b1 (llama-cpp-python 0.3.36)" in output
    assert "CPU · Some CPU\n" in output
    assert "SSE3 AVX2 SVE_CNT 16 REPACK" in output
    assert str(home / "config" / "settings.toml") in output
    assert "No GPU was found; everything runs on the CPU." in output


def test_a_devices_description_cannot_steer_the_terminal(tmp_path: Path) -> None:
    report = doctor.examine(ready("Vulkan"), (AMD,), find_paths({"SPECCHAT_HOME": str(tmp_path)}))
    said = doctor.describe(report)
    assert "Vulkan0 · Some\\x1b[31m GPU · 3.0 of 8.0 GiB free" in said
    assert "\x1b" not in said


def test_the_report_as_json(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    engine_is(monkeypatch, ready("Vulkan"))
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["backend"], report["build"], report["engine_error"]) == ("Vulkan", None, None)
    assert report["devices"][0]["memory_total"] == 8 * 2**30
    assert {"specchat", "python", "llama-cpp-python", "llama.cpp", "numpy", "textual"} <= set(report["versions"])
    folders = [report[key] for key in ("data_folder", "cache_folder", "log_folder")]
    assert all(Path(folder).is_relative_to(home) for folder in folders)
    assert report["memory_total"] >= report["memory_available"] > 0


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("words", [["doctor"], ["doctor", "--json"]])
def test_the_rest_is_shown_where_the_engine_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    engine_is(monkeypatch, EngineFailure("engine_illegal_instruction", {"log": "SIGILL in ggml"}))
    assert main(words) == 1
    output = capsys.readouterr().out
    assert "an instruction that this CPU doesn't have" in output
    assert "SIGILL in ggml" in output
    assert "settings.toml" in output


def test_the_installed_engine_says_what_it_is(tmp_path: Path) -> None:
    engine = asyncio.run(doctor.start_engine(tmp_path / "engine.log"))
    assert isinstance(engine, Ready)
    assert doctor.cpu_features(engine.system)
    assert "cpu" in {device.kind for device in engine.devices}


def test_a_bad_settings_file_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine_is(monkeypatch, ready())
    files(home, {"config/settings.toml": "[sampling"})
    assert main(["doctor"]) == 0
    assert "isn't valid TOML" in capsys.readouterr().out


# ------------------------------------------------------------------ the bundled model


def test_the_bundled_model_is_the_packages_gguf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(tmp_path, {"plugin_with_model/__init__.py": "raise ImportError", "plugin_with_model/model.gguf": "GGUF"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("specchat.models.files.bundled.PACKAGE", "plugin_with_model")
    assert bundled_model() == tmp_path / "plugin_with_model" / "model.gguf"


@pytest.mark.parametrize("package", ["no_such_package", "pytest"])
def test_without_its_package_or_file_there_is_no_bundled_model(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr("specchat.models.files.bundled.PACKAGE", package)
    assert bundled_model() is None


@pytest.mark.usefixtures("home")
def test_doctor_says_how_to_get_the_bundled_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine_is(monkeypatch, ready())
    monkeypatch.setattr(doctor, "bundled_model", lambda: None)
    assert main(["doctor"]) == 0
    assert 'pip install "specchat[bundled]"' in capsys.readouterr().out
