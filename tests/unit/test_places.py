"""Where other programs keep their models, on each system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specchat.models.files.places import Place, Surroundings, find_places


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def folders(source: str, home: Path | None, system: str = "linux", **environ: str) -> list[str]:
    """The folders of one program, those in the home folder from there on."""
    places = find_places(Surroundings(environ, home, system))
    paths = [place.folder for place in places if place.source == source]
    return [path.relative_to(home).as_posix() if home and home in path.parents else path.as_posix() for path in paths]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, [".cache/huggingface/hub"]),
        ({"HF_HOME": "/big/hf"}, ["/big/hf/hub"]),
        ({"HF_HOME": "~/hf"}, ["hf/hub"]),
        ({"HF_HUB_CACHE": "/hub", "HF_HOME": "/big/hf"}, ["/hub"]),
        ({"HUGGINGFACE_HUB_CACHE": "/hub"}, ["/hub"]),
        ({"XDG_CACHE_HOME": "/caches"}, ["/caches/huggingface/hub"]),
        ({"HF_HOME": " "}, [".cache/huggingface/hub"]),
    ],
)
def test_hugging_face(home: Path, environ: dict[str, str], expected: list[str]) -> None:
    assert folders("huggingface", home, **environ) == expected


def test_lm_studio(home: Path) -> None:
    assert folders("lmstudio", home) == [".lmstudio/models", ".cache/lm-studio/models"]


def test_lm_studio_may_keep_its_home_and_its_models_elsewhere(home: Path) -> None:
    (home / ".lmstudio-home-pointer").write_text(f"{home / 'studio'}\n")
    (home / "studio").mkdir()
    (home / "studio" / "settings.json").write_text(json.dumps({"downloadsFolder": str(home / "disk")}))
    assert folders("lmstudio", home)[:2] == ["disk", "studio/models"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"downloadsFolder": 3}', '{"downloadsFolder": "relative"}', "\xff"])
def test_settings_of_other_programs_that_make_no_sense_say_nothing(home: Path, text: str) -> None:
    (home / ".lmstudio").mkdir()
    (home / ".lmstudio" / "settings.json").write_bytes(text.encode("latin-1"))
    (home / ".lmstudio-home-pointer").write_bytes(text.encode("latin-1"))
    assert folders("lmstudio", home) == [".lmstudio/models", ".cache/lm-studio/models"]


def test_ollama(home: Path) -> None:
    service = "/usr/share/ollama/.ollama/models"
    assert folders("ollama", home) == [".ollama/models", service]
    assert folders("ollama", home, "darwin") == [".ollama/models"]
    assert folders("ollama", home, OLLAMA_MODELS="/disk") == ["/disk", ".ollama/models", service]


@pytest.mark.parametrize(
    ("system", "environ", "expected"),
    [
        ("linux", {}, [".cache/llama.cpp"]),
        ("linux", {"XDG_CACHE_HOME": "/caches"}, ["/caches/llama.cpp"]),
        ("darwin", {"XDG_CACHE_HOME": "/caches"}, ["Library/Caches/llama.cpp"]),
        ("win32", {"LOCALAPPDATA": "/local"}, ["/local/llama.cpp"]),
        ("win32", {}, []),
        ("linux", {"LLAMA_CACHE": "/cache"}, ["/cache"]),
    ],
)
def test_llama_cpp(home: Path, system: str, environ: dict[str, str], expected: list[str]) -> None:
    assert folders("llamacpp", home, system, **environ) == expected


def test_jan(home: Path) -> None:
    models = ["llamacpp/models", "models"]
    linux = [".local/share/Jan/data", ".config/Jan/data", "jan"]
    assert folders("jan", home) == [f"{folder}/{below}" for folder in linux for below in models]
    assert folders("jan", home, "darwin")[0] == "Library/Application Support/Jan/data/llamacpp/models"
    assert folders("jan", home, "win32", APPDATA="/roaming")[0] == "/roaming/Jan/data/llamacpp/models"
    assert folders("jan", home, JAN_DATA_FOLDER="/jan")[0] == "/jan/llamacpp/models"


def test_jan_may_keep_its_data_elsewhere(home: Path) -> None:
    settings = home / ".local" / "share" / "Jan" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"data_folder": str(home / "disk")}))
    assert folders("jan", home)[0] == "disk/llamacpp/models"


def test_added_folders_come_first_and_each_folder_once(home: Path) -> None:
    own, models = home / "own", home / ".ollama" / "models"
    places = find_places(Surroundings({"OLLAMA_MODELS": str(models)}, home, "linux"), [own, models])
    assert places[:2] == [Place("folder", own, is_named=True), Place("folder", models, is_named=True)]
    assert [place.folder for place in places].count(models) == 1


def test_without_a_home_only_named_folders_are_left() -> None:
    assert folders("huggingface", None) == []
    assert folders("lmstudio", None) == []
    assert folders("huggingface", None, HF_HOME="/hf") == ["/hf/hub"]
