"""The three rooms as they are installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "models", "settings")


def project() -> dict[str, dict[str, dict[str, object]]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_is_listed() -> None:
    found = {
        ".".join(("specchat", *init.parent.relative_to(ROOT).parts))
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
    }
    listed = project()["tool"]["setuptools"]["packages"]
    assert isinstance(listed, list)
    assert sorted(listed) == sorted(found)


def test_every_room_is_typed() -> None:
    assert all((ROOT / room / "py.typed").exists() for room in ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_is_importable_by_its_bare_name(room: str) -> None:
    assert room not in sys.modules
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({room!r}) is not None)"
    assert subprocess.run([sys.executable, "-P", "-c", code], cwd=ROOT, check=False).returncode == 0


def imported_by(module: str) -> set[str]:
    code = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_app_never_imports_llama_cpp() -> None:
    modules = imported_by("specchat.app.main, specchat.app.ask, specchat.app.doctor")
    assert "specchat.app.ask" in modules
    assert "llama_cpp" not in modules


def test_the_decoding_room_needs_numpy_alone() -> None:
    modules = imported_by("specchat.models.decoding.loop, specchat.models.decoding.counters")
    assert not modules & {"llama_cpp", "msgspec", "textual", "jinja2", "gguf"}
