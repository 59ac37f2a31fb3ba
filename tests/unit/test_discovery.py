"""Finding models: what is one, under which name, and that each is found once."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from specchat.app.widgets.title import model_name
from specchat.models.files import discovery, ollama
from specchat.models.files.discovery import search
from specchat.models.files.found import Found, Trouble, whole_file
from specchat.models.files.places import Place, Source

DIGEST = "sha256-" + "ab" * 32


def put(path: Path, size: int = 10) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"GGUF" + bytes(size - 4))
    return path


def found(folder: Path, source: Source = "folder", *more: Place) -> list[Found]:
    return [model for looked in search([Place(source, folder, is_named=True), *more]) for model in looked.models]


def names(folder: Path, source: Source = "folder") -> list[str]:
    return [model.name for model in found(folder, source)]


def troubles(folder: Path, *, is_named: bool = True) -> list[Trouble]:
    return [looked.trouble for looked in search([Place("folder", folder, is_named)]) if looked.trouble]


# ------------------------------------------------------------------ folders


def test_models_are_found_at_any_depth_and_other_files_are_not(tmp_path: Path) -> None:
    put(tmp_path / "b.gguf", 20)
    put(tmp_path / "org" / "repo" / "A.GGUF")
    put(tmp_path / ".hidden" / "c.gguf")
    (tmp_path / "notes.txt").touch()
    (tmp_path / "folder.gguf").mkdir()
    first, second = found(tmp_path)
    assert (first.path, first.name, first.size, first.origin) == (tmp_path / "b.gguf", "b", 20, "")
    assert (second.path, second.name, second.origin) == (tmp_path / "org" / "repo" / "A.GGUF", "A", "org/repo")
    assert first.changed == (tmp_path / "b.gguf").stat().st_mtime_ns


def test_the_parts_of_a_split_model_are_one_model(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        put(tmp_path / f"big-0000{number}-of-00003.gguf")
    put(tmp_path / "big-00001-of-00002.gguf")
    whole = next(model for model in found(tmp_path) if model.parts == 3)
    assert (whole.path.name, whole.name, whole.size) == ("big-00001-of-00003.gguf", "big", 30)
    assert len(found(tmp_path)) == 2
    assert whole_file(whole.path) == whole


@pytest.mark.parametrize("ending", ["part", "incomplete", "downloadInProgress", "crdownload"])
def test_a_download_that_is_not_finished_is_marked(tmp_path: Path, ending: str) -> None:
    put(tmp_path / f"new.gguf.{ending}")
    [model] = found(tmp_path)
    assert (model.name, model.is_whole) == ("new", False)


def test_a_split_model_of_which_a_part_is_still_coming_is_not_whole(tmp_path: Path) -> None:
    put(tmp_path / "big-00001-of-00002.gguf")
    put(tmp_path / "big-00002-of-00002.gguf.part")
    [model] = found(tmp_path)
    assert (model.name, model.parts, model.is_whole) == ("big", 2, False)


def test_a_model_that_is_being_downloaded_anew_is_still_the_old_one(tmp_path: Path) -> None:
    put(tmp_path / "a.gguf", 30)
    put(tmp_path / "a.gguf.part")
    assert found(tmp_path) == [whole_file(tmp_path / "a.gguf")]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_what_links_lead_to_is_found_once_and_loops_end(tmp_path: Path) -> None:
    original = put(tmp_path / "models" / "a.gguf")
    os.link(original, tmp_path / "models" / "again.gguf")
    (tmp_path / "models" / "b.gguf").symlink_to(original)
    (tmp_path / "models" / "gone.gguf").symlink_to(tmp_path / "gone")
    (tmp_path / "models" / "loop").symlink_to(tmp_path / "models", target_is_directory=True)
    (tmp_path / "z").symlink_to(tmp_path / "models", target_is_directory=True)
    assert names(tmp_path) == ["a"]
    again = Place("lmstudio", tmp_path / "models")
    assert len(found(tmp_path, "folder", again)) == 1


def test_models_that_are_known_already_are_not_found_again(tmp_path: Path) -> None:
    known = whole_file(put(tmp_path / "a.gguf"))
    put(tmp_path / "b.gguf")
    assert known is not None
    places = [Place("folder", tmp_path)]
    assert [model.name for looked in search(places, known=[known]) for model in looked.models] == ["b"]


def test_jans_models_go_by_the_names_of_their_folders(tmp_path: Path) -> None:
    put(tmp_path / "Qwen3-8B" / "model.gguf")
    put(tmp_path / "janhq" / "Jan-v1" / "model.gguf")
    assert [(model.name, model.origin) for model in found(tmp_path, "jan")] == [
        ("Qwen3-8B", ""),
        ("Jan-v1", "janhq/Jan-v1"),
    ]


def test_a_file_goes_by_the_same_name_wherever_it_is_shown(tmp_path: Path) -> None:
    for path, name in (
        ("Qwen3-8B/model.gguf", "Qwen3-8B"),
        ("Qwen3-4B/model-00001-of-00002.gguf", "Qwen3-4B"),
        ("large-00001-of-00003.gguf", "large"),
        ("small.v1.gguf", "small.v1"),
    ):
        file = put(tmp_path / path)
        alone = whole_file(file)
        assert alone is not None
        assert alone.name == model_name(file) == name
        assert name in {model.name for model in found(tmp_path, "folder")}


# ------------------------------------------------------------------ the Hugging Face cache


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_the_hub_cache_is_found_through_its_snapshots_once(tmp_path: Path) -> None:
    repository = tmp_path / "models--org--some--name-GGUF"
    blob = put(repository / "blobs" / "abc")
    for revision in ("1", "2"):
        link = repository / "snapshots" / revision / "Q4" / "m-Q4_K_M.gguf"
        link.parent.mkdir(parents=True)
        link.symlink_to(blob)
    put(repository / "blobs" / "def.incomplete")
    (repository / "blobs" / "ghi.incomplete").write_bytes(b"{}")
    put(tmp_path / "datasets--x" / "blobs" / "abc")
    coming, model = found(tmp_path, "huggingface")
    assert model.path == repository / "snapshots" / "1" / "Q4" / "m-Q4_K_M.gguf"
    assert (model.name, model.origin) == ("m-Q4_K_M", "org/some/name-GGUF")
    assert (coming.name, coming.is_whole) == ("name-GGUF", False)


# ------------------------------------------------------------------ Ollama


def manifest(folder: Path, name: str, *layers: tuple[str, str]) -> None:
    file = folder / "manifests" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    said = [
        {"mediaType": f"application/vnd.ollama.image.{kind}", "digest": digest, "size": 10} for kind, digest in layers
    ]
    file.write_text(json.dumps({"schemaVersion": 2, "layers": said}))


def test_ollamas_models_go_by_their_human_names(tmp_path: Path) -> None:
    blob = put(tmp_path / "blobs" / DIGEST)
    other = put(tmp_path / "blobs" / f"sha256-{'cd' * 32}")
    third = put(tmp_path / "blobs" / f"sha256-{'ef' * 32}")
    weights = ("model", DIGEST.replace("-", ":"))
    manifest(tmp_path, "registry.ollama.ai/library/llama3.2/1b", ("template", "x"), weights)
    manifest(tmp_path, "registry.ollama.ai/somebody/tiny/latest", ("model", f"sha256:{'cd' * 32}"))
    manifest(tmp_path, "hf.co/org/repo/Q4_K_M", ("model", f"sha256:{'ef' * 32}"), ("projector", "sha256:12"))
    models = {model.name: model.path for model in found(tmp_path, "ollama")}
    assert models == {"llama3.2:1b": blob, "somebody/tiny:latest": other, "hf.co/org/repo:Q4_K_M": third}


def test_a_blob_of_ollamas_goes_by_its_name(tmp_path: Path) -> None:
    blob = put(tmp_path / "blobs" / DIGEST)
    manifest(tmp_path, "registry.ollama.ai/library/llama3.2/1b", ("model", DIGEST))
    assert ollama.name_of(blob) == model_name(blob) == "llama3.2:1b"
    other = put(tmp_path / "blobs" / f"sha256-{'cd' * 32}")
    assert (ollama.name_of(other), model_name(other)) == ("", "sha256-cdcdcdcdcdcd")
    assert ollama.name_of(put(tmp_path / "a.gguf")) == ""


def test_what_ollama_is_downloading_is_marked_and_goes_by_its_digits(tmp_path: Path) -> None:
    put(tmp_path / "blobs" / f"{DIGEST}-partial")
    (tmp_path / "blobs" / f"{DIGEST}-partial-0").write_text("{}")
    (tmp_path / "manifests").mkdir()
    [model] = found(tmp_path, "ollama")
    assert (model.name, model.is_whole) == ("abababababab", False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        '{"layers": 3}',
        '{"layers": [3]}',
        '{"layers": [{"mediaType": "application/vnd.ollama.image.model"}]}',
    ],
)
def test_manifests_that_make_no_sense_are_passed_over(tmp_path: Path, text: str) -> None:
    put(tmp_path / "blobs" / DIGEST)
    manifest(tmp_path, "registry.ollama.ai/library/good/1b", ("model", DIGEST))
    (tmp_path / "manifests" / "registry.ollama.ai" / "library" / "good" / "bad").write_text(text)
    manifest(tmp_path, "registry.ollama.ai/library/sly/1b", ("model", "../../../etc/passwd"))
    manifest(tmp_path, "registry.ollama.ai/library/gone/1b", ("model", f"sha256:{'00' * 32}"))
    assert names(tmp_path, "ollama") == ["good:1b"]


# ------------------------------------------------------------------ what can't be looked into


def test_a_folder_that_is_gone_is_told_of_where_somebody_named_it(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert troubles(gone) == [Trouble("folder_gone", {"path": str(gone)})]
    assert troubles(gone, is_named=False) == []


def test_of_a_place_with_closed_folders_one_line_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "open" / "a.gguf")
    for name in ("closed1", "closed2"):
        put(tmp_path / name / "b.gguf")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name.startswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(tmp_path) == ["a"]
    told = {"path": str(tmp_path / "closed1"), "reason": "Permission denied"}
    assert troubles(tmp_path) == [Trouble("folder_unreadable", told)]


def test_a_place_of_too_many_folders_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_FOLDERS", 3)
    for number in range(6):
        put(tmp_path / str(number) / "a.gguf", 10 + number)
    assert troubles(tmp_path) == [Trouble("folder_too_big", {"path": str(tmp_path), "count": 3})]


def test_a_search_goes_no_further_than_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        put(tmp_path / str(number) / "a.gguf")
    looked_into: list[object] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looked_into.append(path) or scandir(path))
    steps = search([Place("folder", tmp_path)])
    next(steps)
    next(steps)
    assert len(looked_into) == 2
