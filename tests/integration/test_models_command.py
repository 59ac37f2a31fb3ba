"""`specchat models`: lists, tells, judges and forgets."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from specchat.app.costs import opened_quietly
from specchat.app.last_pair import PairChoice, recent, remember
from specchat.app.library import command as models_command
from specchat.app.main import main
from specchat.models.files import places
from specchat.models.files.bundled import bundled_model
from specchat.settings.paths import HOME_VARIABLE, find_paths
from support.libraries import link_models, measure_pair, write_models


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def home(tmp_path: Path, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    async def none(_log: Path) -> tuple[()]:
        return ()

    monkeypatch.setattr(models_command, "_devices", none)  # the engine's part has its own tests
    monkeypatch.setattr(places, "_ollama", lambda _here: iter(()))
    for variable in ("HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "specchat"))
    return link_models(models, tmp_path / ".lmstudio" / "models" / "org" / "repo")


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["models", *words])
    told = capsys.readouterr()
    return status, told.out, told.err


def asked_for_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    status, out, _err = asked(capsys, *words, "--json")
    return status, json.loads(out)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("words", [(), ("list",)])
def test_the_list_is_an_aligned_table(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    status, out, err = asked(capsys, *words)
    head, *rows = out.splitlines()
    assert status == 0
    assert head.split() == ["model", "parameters", "format", "size", "memory", "from"]
    names = [row.split()[0] for row in rows]
    own = 1 if bundled_model() else 0
    assert [name for name in names if "SmolLM2" not in name] == ["alien", "big", "middle", "small", "✗"]
    assert err == f"{5 + own} models\n"
    assert {row.index("LM Studio") for row in rows if "LM Studio" in row} == {head.index("from")}


@pytest.mark.usefixtures("home")
def test_to_list_models_makes_no_chats(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, "list")[0] == 0
    assert not find_paths(os.environ).chats_file.exists()


def test_the_list_for_scripts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = asked_for_json(capsys)
    known = {model["name"]: model for model in said["models"]}
    assert (status, said["troubles"]) == (0, [])
    assert known["big"]["path"] == str(home / "big.gguf")
    assert (known["big"]["source"], known["big"]["origin"], known["big"]["works"]) == ("lmstudio", "org/repo", True)
    assert known["big"]["facts"]["layers"] == 6
    assert (known["broken"]["works"], known["broken"]["code"]) == (False, "file_not_gguf")
    _status, shown = asked_for_json(capsys, "show", "big")
    need = known["big"]["memory"]
    assert known["broken"]["memory"] is None
    assert need == {name: shown["memory"][name] for name in need}
    assert need["total"] == need["weights"] + need["cache"] + need["buffers"] > 0


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_tables_fit_any_width(width: int) -> None:
    rows = [("model", "size"), ("x" * 50, "4.7 GB"), ("漢字" * 20, "98 MB"), ("short", "1 kB")]
    lines = models_command._table(rows, width).splitlines()
    assert all(cell_len(line) <= width for line in lines)
    if width >= 40:
        assert lines[1].endswith("4.7 GB")
        assert lines[2].endswith("98 MB")


@pytest.mark.parametrize("named", ["big", "{home}/big.gguf"])
def test_a_model_is_shown_by_its_name_or_its_path(home: Path, capsys: pytest.CaptureFixture[str], named: str) -> None:
    status, out, _err = asked(capsys, "show", named.format(home=home))
    lines = out.splitlines()
    assert status == 0
    assert "llama · " in lines[1]
    assert lines[2].endswith(str(home / "big.gguf"))
    assert lines[3].startswith(("fits", "does not fit"))
    drafts = [line.split()[:2] for line in lines[lines.index("Drafts for it:") + 1 :]]
    assert drafts[0] == ["✓", "small"]
    assert ["✗", "alien"] in drafts


def test_a_model_is_shown_for_scripts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = asked_for_json(capsys, "show", str(home / "big.gguf"))
    assert status == 0
    assert said["memory"]["verdict"] in ("fits", "no")
    assert said["memory"]["total"] > said["memory"]["weights"] > 0
    works = [Path(draft["path"]).stem for draft in said["drafts"] if draft["works"]]
    assert works[:2] == ["small", "middle"]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("{home}/broken.gguf", "The model isn't a GGUF file"),
        ("{home}/gone.gguf", "There is no file {home}/gone.gguf."),
        ("nobody", "There is no file {here}/nobody."),
        ("n" * 300, "The model can't be read: File name too long."),
        ("{home}/broken.gguf/x", "There is no file {home}/broken.gguf/x."),
    ],
)
def test_what_cannot_be_shown_says_why(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, named: str, said: str
) -> None:
    monkeypatch.chdir(home)
    status, out, _err = asked(capsys, "show", named.format(home=home))
    assert status == 1
    assert out.startswith(said.format(home=home, here=home))
    assert len(out.splitlines()) == (1 if out.startswith("There is no file") else 3)  # where there is one, it follows


def test_a_file_in_a_closed_folder_is_there_but_cannot_be_read(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = os.stat

    def closed(path: Any, **options: Any) -> os.stat_result:  # as it is for those who aren't root
        if "closed" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", closed)
    status, out, _err = asked(capsys, "show", str(home / "closed" / "x.gguf"))
    assert (status, out.startswith("The model can't be read: Permission denied.")) == (1, True)


def test_a_name_that_several_models_have_is_not_guessed_at(
    home: Path, models: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    link_models({"big": models["small"]}, home / "again")
    (home / "again" / "small.gguf").rename(home / "again" / "big.gguf")
    (home / "small.gguf").unlink()
    status, out, _err = asked(capsys, "show", "big")
    assert (status, out.startswith("2 models are called big; give the path of one of them.")) == (1, True)


def test_a_pair_is_checked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _err = asked(capsys, "check", str(home / "big.gguf"), "small")
    assert (status, out.startswith("It can guess for this target · expected c 0.")) == (0, True)
    status, out, _err = asked(capsys, "check", "big", "alien")
    assert (status, out.startswith("The draft's tokens aren't the target's")) == (1, True)
    status, out, _err = asked(capsys, "check", "broken", "small")
    assert (status, "plain text" in out) == (1, True)


def test_what_a_benchmark_measured_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def measure() -> None:
        async with opened_quietly(find_paths(os.environ).chats_file) as store:
            await measure_pair(store, home, 1.52)

    asyncio.run(measure())
    assert "1.52× measured here" in asked(capsys, "check", "target", "draft")[1]
    assert asked_for_json(capsys, "check", "target", "draft")[1]["measured_speedup"] == pytest.approx(1.52)


@pytest.mark.usefixtures("home")
def test_a_pair_is_checked_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = asked_for_json(capsys, "check", "big", "small")
    assert (status, said["works"], said["reason"]) == (0, True, None)
    assert 0 < said["expected_c"] < 1
    status, said = asked_for_json(capsys, "check", "big", "alien")
    assert (status, said["works"], said["code"]) == (1, False, "pair_differs")
    assert said["reason"].startswith("The draft's tokens")
    status, said = asked_for_json(capsys, "check", "broken", "small")
    assert (status, said["works"], said["code"]) == (1, False, "file_not_gguf")


def test_what_was_kept_is_forgotten_and_no_model_is_touched(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "specchat" / "data"
    big, small, middle = (home / f"{name}.gguf" for name in ("big", "small", "middle"))
    for draft in (small, middle):
        remember(data, PairChoice(big, draft, "both"))
    asked(capsys)
    status, said = asked_for_json(capsys, "forget", str(small))
    assert (status, said) == (0, {"facts": 1, "pairs": 1, "folder": False})
    assert [pair.draft for pair in recent(data)] == [middle]
    asked(capsys)
    assert asked_for_json(capsys, "forget", "small")[1]["facts"] == 1  # by its name
    status, out, _err = asked(capsys, "forget")
    assert (status, "recent pairs (1)" in out) == (0, True)
    assert recent(data) == []
    assert asked(capsys, "forget")[1] == "There was nothing to forget.\n"
    assert all(file.exists() for file in (big, small, middle))


@pytest.mark.usefixtures("home")
def test_an_added_folder_is_forgotten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "specchat" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[models]\nfolders = "{(tmp_path / "own").as_posix()}"\n')
    assert "isn't there any more" in asked(capsys)[2]
    assert asked(capsys, "forget", str(tmp_path / "own"))[1].endswith("is no longer looked into.\n")
    assert "isn't there any more" not in asked(capsys)[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("shwo",), "There is no `specchat models shwo`; there are list, show, check, forget."),
        (("check", "one"), "required"),
        (("list", "x"), "one argument too many"),
        (("show", "x", "--jsno"), "--json"),
    ],
)
def test_wrong_words_are_told(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    status, _out, err = asked(capsys, *words)
    assert status == 2
    assert said in err
