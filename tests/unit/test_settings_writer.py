"""Changing the settings file: what is asked for, and nothing else."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
import tomlkit

from specchat.settings import atomic
from specchat.settings.schema import Setting, Value
from specchat.settings.sources import read_file
from specchat.settings.values import SCHEMA
from specchat.settings.writer import NotWritten, write_settings

WARM = {"sampling.temperature": 0.7}

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permissions of this kind")


def settings_file(folder: Path, text: str) -> Path:
    file = folder / "settings.toml"
    file.write_bytes(text.encode())
    return file


def refusal(file: Path, changes: dict[str, Value | None]) -> NotWritten:
    before = file.read_bytes()
    with pytest.raises(NotWritten) as caught:
        write_settings(file, changes)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]
    return caught.value


# ------------------------------------------------------------------ what is kept


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[sampling]\ntemperature = 0.7\n"),
        ("# mine\n", "# mine\n\n[sampling]\ntemperature = 0.7\n"),
        ("[sampling] # a\ntemperature = 0.5  # b\n# c\n", "[sampling] # a\ntemperature = 0.7  # b\n# c\n"),
        ("[sampling]\ntop_k = 1\n", "[sampling]\ntop_k = 1\ntemperature = 0.7\n"),
        ("[sampling]\ntop_k = 1", "[sampling]\ntop_k = 1\ntemperature = 0.7\n"),
        ("[draft]\nthreads = 2\n", "[draft]\nthreads = 2\n\n[sampling]\ntemperature = 0.7\n"),
        ("[unknown]\nx = [1,  2] # d\n\n", "[unknown]\nx = [1,  2] # d\n\n[sampling]\ntemperature = 0.7\n"),
        ("sampling.top_k = 1\nother = 2\n", "sampling.top_k = 1\nsampling.temperature = 0.7\nother = 2\n"),
        ("sampling = {temperature = 1, top_k = 1}\n", "sampling = {temperature = 0.7, top_k = 1}\n"),
        ("['sampling']\r\ntop_k = 1 # a\r\n", "['sampling']\r\ntop_k = 1 # a\r\ntemperature = 0.7\r\n"),
        ("\ufeff[sampling]\n", "[sampling]\ntemperature = 0.7\n"),
        ("[sampling.x]\ny = 1\n[draft]\n[sampling]\n", "[sampling.x]\ny = 1\n[draft]\n[sampling]\ntemperature = 0.7\n"),
    ],
)
def test_only_the_value_changes(tmp_path: Path, before: str, after: str) -> None:
    file = settings_file(tmp_path, before)
    write_settings(file, WARM)
    assert file.read_bytes().decode() == after


def test_a_new_value_goes_above_the_comments_of_the_next_section(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "[sampling]\ntop_k = 1\n\n# about the draft\n[draft]\nthreads = 3\n")
    write_settings(file, WARM)
    assert file.read_text() == ("[sampling]\ntop_k = 1\ntemperature = 0.7\n\n# about the draft\n[draft]\nthreads = 3\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[sampling]\ntemperature = 1 # a\ntop_k = 1 # b\n", "[sampling]\ntop_k = 1 # b\n"),
        ("[sampling]\n# a\ntemperature = 1\n", "[sampling]\n# a\n"),
        ("[draft]\nthreads = 1\n", "[draft]\nthreads = 1\n"),
        ("[sampling]\ntop_k = 1\n", "[sampling]\ntop_k = 1\n"),
    ],
)
def test_none_takes_a_value_out(tmp_path: Path, before: str, after: str) -> None:
    file = settings_file(tmp_path, before)
    write_settings(file, {"sampling.temperature": None})
    assert file.read_text() == after


def test_several_are_written_at_once(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "[sampling]\ntop_k = 1\nseed = 7\n")
    write_settings(file, {"sampling.top_k": None, "sampling.seed": 8, "look.theme": "light", "reply.max_tokens": 0})
    chosen, problems = read_file(file)
    assert problems == []
    assert chosen == {"sampling.seed": 8, "look.theme": "light", "reply.max_tokens": 0}


@pytest.mark.parametrize("item", SCHEMA, ids=lambda item: item.key)
def test_every_setting_comes_back_as_it_was_written(tmp_path: Path, item: Setting) -> None:
    file = tmp_path / "folder" / "settings.toml"
    for value in (item.choices[-1] if item.choices else item.kind(item.maximum or 7), *item.words):
        write_settings(file, {item.key: value})
        assert read_file(file) == ({item.key: value}, [])


def test_a_word_in_a_numbers_place_is_written_as_text(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "[speculation]\ngamma = 3  # mine\n")
    write_settings(file, {"speculation.gamma": "auto"})
    assert file.read_text() == '[speculation]\ngamma = "auto"  # mine\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\nb",
        'a"""\n"b"',
        "back\\slash\n\\",
        "\x00\x1b[31m\x7f\n",
        "line\r\nline",
        "\r",
        "\n first",
        "naïve 模型 🙂\n\u202e",
    ],
)
def test_any_text_comes_back_as_it_was_written(tmp_path: Path, text: str) -> None:
    file = settings_file(tmp_path, "[reply] # a\nsystem = 'old' # b\n")
    write_settings(file, {"reply.system": text})
    assert read_file(file) == ({"reply.system": text}, [])
    assert "# a" in file.read_text()


def test_text_of_several_lines_is_written_as_such(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "")
    write_settings(file, {"reply.system": "Be brief.\nBe kind."})
    assert file.read_text() == '[reply]\nsystem = """Be brief.\nBe kind."""\n'


def test_other_settings_that_cannot_be_used_stay_as_they_are(tmp_path: Path) -> None:
    file = settings_file(tmp_path, "[sampling]\ntop_k = 'many'\nnonsense = 1\n")
    write_settings(file, WARM)
    assert file.read_text() == "[sampling]\ntop_k = 'many'\nnonsense = 1\ntemperature = 0.7\n"


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[sampling\n", "settings_not_toml"),
        ("sampling = 1\n", "setting_not_section"),
        ("[[sampling]]\n", "setting_not_section"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone(tmp_path: Path, text: str, code: str) -> None:
    assert refusal(settings_file(tmp_path, text), WARM).code == code


def test_a_file_that_is_not_utf8_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"# caf\xe9\n")
    assert refusal(file, WARM).code == "settings_not_utf8"


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotWritten) as caught:
        write_settings(tmp_path, WARM)
    assert caught.value.code == "settings_is_folder"


def test_a_change_that_would_spoil_the_rest_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = settings_file(tmp_path, "[sampling]\ntop_k = 1\n")
    monkeypatch.setattr(tomlkit, "dumps", lambda _document: "[sampling]\ntemperature = 0.7\n")
    error = refusal(file, WARM)
    assert (error.code, error.params) == ("settings_unchangeable", {"path": str(file)})


# ------------------------------------------------------------------ how it is written


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", fail)
    error = refusal(settings_file(tmp_path, "[sampling]\ntop_k = 1\n"), WARM)
    assert (error.code, error.params["reason"]) == ("file_unwritable", "No space left on device")


@unix_only
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640])
def test_permissions_are_kept(tmp_path: Path, mode: int) -> None:
    file = settings_file(tmp_path, "")
    file.chmod(mode)
    write_settings(file, WARM)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@unix_only
def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "settings.toml"
    write_settings(file, WARM)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_read_only_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic.os, "access", lambda _file, _mode: False)  # root may write everything
    assert refusal(settings_file(tmp_path, ""), WARM).code == "file_unwritable"


@unix_only
def test_what_a_link_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = settings_file(tmp_path / "dotfiles", "# real\n")
    link = tmp_path / "settings.toml"
    link.symlink_to(os.path.relpath(real, tmp_path))
    write_settings(link, WARM)
    assert link.is_symlink()
    assert real.read_text() == "# real\n\n[sampling]\ntemperature = 0.7\n"
