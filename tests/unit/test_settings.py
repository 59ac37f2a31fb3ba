"""The schema, the folders, and where settings come from."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from specchat.settings.paths import find_paths
from specchat.settings.schema import MOST, settings_of
from specchat.settings.sources import Problem, accept, load, parse, read_file, variable
from specchat.settings.values import SCHEMA, SECTIONS, Settings

BY_KEY = {item.key: item for item in SCHEMA}


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "settings.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


# ------------------------------------------------------------------ the schema


def test_every_number_has_a_range_and_nothing_else_has_one() -> None:
    for item in SCHEMA:
        bounds = (item.minimum, item.maximum)
        assert (None not in bounds) if item.kind in (int, float) else bounds == (None, None), item.key


def test_a_number_may_have_words_in_its_place() -> None:
    assert (BY_KEY["speculation.gamma"].kind, BY_KEY["speculation.gamma"].words) == (int, ("auto",))
    assert [item.key for item in SCHEMA if item.words] == ["speculation.gamma"]
    assert BY_KEY["speculation.rule"].choices == ("block", "token")


def test_whole_numbers_end_where_a_c_int_does_unless_they_say_otherwise() -> None:
    assert BY_KEY["target.ctx"].maximum == MOST
    assert BY_KEY["sampling.seed"].maximum == 2**63 - 1


def test_every_default_is_acceptable() -> None:
    for item in SCHEMA:
        assert accept(item, item.default, item.key) == item.default


def test_sections_are_the_attributes_of_the_settings() -> None:
    assert list(SECTIONS) == [field.name for field in fields(Settings)]
    assert [item.key for item in settings_of("reply", SECTIONS["reply"])] == ["reply.system", "reply.max_tokens"]


# ------------------------------------------------------------------ folders


def test_everything_lies_below_the_folder_that_the_environment_names(tmp_path: Path) -> None:
    paths = find_paths({"SPECCHAT_HOME": str(tmp_path)})
    folders = {paths.config, paths.data, paths.cache, paths.log}
    assert len(folders) == 4
    assert {folder.parent for folder in folders} == {tmp_path}
    assert paths.settings_file == paths.config / "settings.toml"


@pytest.mark.parametrize("environ", [{}, {"SPECCHAT_HOME": ""}])
def test_else_the_folders_are_the_platforms_own(environ: dict[str, str]) -> None:
    paths = find_paths(environ)
    for folder in (paths.config, paths.data, paths.cache, paths.log):
        assert folder.is_absolute()
        assert "specchat" in folder.parts


def test_a_relative_home_is_taken_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_paths({"SPECCHAT_HOME": "here"}).config == tmp_path / "here" / "config"


# ------------------------------------------------------------------ precedence


def test_without_any_source_the_defaults_hold(tmp_path: Path) -> None:
    loaded = load(tmp_path / "none.toml", {}, {})
    assert loaded.settings == Settings()
    assert loaded.problems == ()


def test_the_command_line_beats_the_environment_and_that_beats_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "[sampling]\ntemperature = 0.1\ntop_k = 1\ntop_p = 0.1\n[draft]\nthreads = 7\n")
    environ = {"SPECCHAT_SAMPLING_TOP_K": "2", "SPECCHAT_SAMPLING_TOP_P": "0.2"}
    loaded = load(file, environ, {"sampling.top_p": 0.3})
    assert loaded.problems == ()
    sampling = loaded.settings.sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p) == (0.1, 2, 0.3)
    assert (loaded.settings.draft.threads, loaded.settings.target.threads) == (7, 0)


def test_a_refused_value_leaves_the_source_below_in_force(tmp_path: Path) -> None:
    loaded = load(written(tmp_path, "[speculation]\ngamma = 5\n"), {"SPECCHAT_SPECULATION_GAMMA": "500"}, {})
    assert loaded.settings.speculation.gamma == 5
    assert [problem.params["name"] for problem in loaded.problems] == ["SPECCHAT_SPECULATION_GAMMA"]


# ------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("sampling.temperature", 1, 1.0),
        ("sampling.temperature", 10, 10.0),
        ("speculation.gamma", 32, 32),
        ("speculation.gamma", 0, 0),
        ("speculation.gamma", "auto", "auto"),
        ("speculation.rule", "token", "token"),
        ("speculation.enabled", False, False),
        ("reply.system", "", ""),
    ],
)
def test_values_that_fit_are_taken(key: str, raw: object, value: object) -> None:
    accepted = accept(BY_KEY[key], raw, key)
    assert accepted == value
    assert type(accepted) is type(value)


@pytest.mark.parametrize(
    ("key", "raw", "code", "shown"),
    [
        ("speculation.gamma", 500, "setting_whole_number_or_word", "500"),
        ("speculation.gamma", -1, "setting_whole_number_or_word", "-1"),
        ("speculation.gamma", 3.0, "setting_whole_number_or_word", "3.0"),
        ("speculation.gamma", True, "setting_whole_number_or_word", "true"),
        ("speculation.gamma", "3", "setting_whole_number_or_word", '"3"'),
        ("speculation.gamma", [3], "setting_whole_number_or_word", "[3]"),
        ("speculation.gamma", "many", "setting_whole_number_or_word", '"many"'),
        ("target.ctx", "auto", "setting_whole_number", '"auto"'),
        ("target.ctx", 2**31, "setting_whole_number", str(2**31)),
        pytest.param("target.ctx", 1 << 100_000, "setting_whole_number", "…", id="too-long-to-print"),
        ("sampling.temperature", True, "setting_number", "true"),
        ("sampling.temperature", float("nan"), "setting_number", "nan"),
        ("sampling.temperature", float("inf"), "setting_number", "inf"),
        pytest.param("sampling.temperature", 10**400, "setting_number", "…", id="too-large-for-a-float"),
        ("speculation.enabled", 1, "setting_switch", "1"),
        ("speculation.rule", "both", "setting_choice", '"both"'),
        ("speculation.rule", 7, "setting_choice", "7"),
        ("reply.system", 7, "setting_text", "7"),
        pytest.param("reply.system", ["x" * 99], "setting_text", "['" + "x" * 57 + "…", id="long"),
    ],
)
def test_values_that_do_not_fit_are_problems(key: str, raw: object, code: str, shown: str) -> None:
    problem = accept(BY_KEY[key], raw, "the name")
    assert isinstance(problem, Problem)
    assert problem.code == code
    assert (problem.params["name"], problem.params["value"]) == ("the name", shown)


def test_a_problem_names_the_range_or_the_choices() -> None:
    gamma = accept(BY_KEY["speculation.gamma"], 500, "")
    rule = accept(BY_KEY["speculation.rule"], "", "")
    assert isinstance(gamma, Problem)
    assert isinstance(rule, Problem)
    assert (gamma.params["minimum"], gamma.params["maximum"], gamma.params["words"]) == (0, 32, "auto")
    assert rule.params["choices"] == "block, token"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("speculation.gamma", "7", 7),
        ("speculation.gamma", "7.0", "7.0"),
        ("speculation.gamma", "auto", "auto"),
        pytest.param("speculation.gamma", "9" * 5000, "9" * 5000, id="too-long-to-read"),
        ("sampling.temperature", "1e-1", 0.1),
        ("sampling.temperature", "warm", "warm"),
        ("speculation.enabled", "Off", False),
        ("speculation.enabled", "yes", True),
        ("speculation.enabled", "maybe", "maybe"),
        ("reply.system", " 7 ", " 7 "),
        ("reply.system", "caf\udce9", "caf?"),
    ],
)
def test_text_is_read_as_the_settings_kind_where_it_can_be(key: str, text: str, value: object) -> None:
    read = parse(BY_KEY[key], text)
    assert read == value
    assert type(read) is type(value)


# ------------------------------------------------------------------ the file


@pytest.mark.parametrize(
    ("text", "code", "params"),
    [
        ("[samplin]\ntop_k = 1", "setting_unknown_near", {"name": "[samplin]", "nearest": "[sampling]"}),
        ("[zzz]", "setting_unknown", {"name": "[zzz]"}),
        ("[sampling]\ntop_m = 1", "setting_unknown_near", {"name": "sampling.top_m", "nearest": "sampling.top_p"}),
        ("[sampling]\ngama = 1", "setting_unknown_near", {"name": "sampling.gama", "nearest": "speculation.gamma"}),
        ("[sampling]\nzzz = 1", "setting_unknown", {"name": "sampling.zzz"}),
        ("[reply]\nthreads = 1", "setting_unknown_near", {"name": "reply.threads", "nearest": "target.threads"}),
        ("top_k = 1", "setting_unknown_near", {"name": "top_k", "nearest": "sampling.top_k"}),
        ("sampling = 1", "setting_not_section", {"name": "sampling"}),
    ],
)
def test_stray_names_come_with_the_nearest_known_one(
    tmp_path: Path, text: str, code: str, params: dict[str, str]
) -> None:
    file = written(tmp_path, text)
    chosen, problems = read_file(file)
    named = {**params, "name": f"{file}: {params['name']}"}
    assert (chosen, problems) == ({}, [Problem(code, named)])


def test_what_is_good_in_a_file_holds_beside_what_is_not(tmp_path: Path) -> None:
    file = written(tmp_path, "[sampling]\ntop_k = 5\ntop_p = 2\n[nonsense]\n[speculation]\nrule = 'token'\n")
    chosen, problems = read_file(file)
    assert chosen == {"sampling.top_k": 5, "speculation.rule": "token"}
    assert [problem.code for problem in problems] == ["setting_number", "setting_unknown"]
    assert problems[0].params["name"] == f"{file}: sampling.top_p"


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    assert read_file(written(tmp_path, b"\xef\xbb\xbf[sampling]\ntop_k = 5\n")) == ({"sampling.top_k": 5}, [])


@pytest.mark.parametrize(
    ("content", "code", "detail"),
    [
        (b"top_k =\n", "settings_not_toml", ("reason", "line 1")),
        pytest.param(b"x = " + b"[" * 5000, "settings_not_toml", ("reason", ""), id="too-deep"),
        pytest.param(b"x = " + b"9" * 5000, "settings_not_toml", ("reason", "limit"), id="too-long-to-read"),
        (b"[sampling]\n# caf\xe9\n", "settings_not_utf8", ("line", "2")),
    ],
)
def test_a_file_that_cannot_be_understood_is_one_problem(
    tmp_path: Path, content: bytes, code: str, detail: tuple[str, str]
) -> None:
    file = written(tmp_path, content)
    loaded = load(file, {}, {})
    assert loaded.settings == Settings()
    [problem] = loaded.problems
    assert (problem.code, problem.params["path"]) == (code, str(file))
    assert detail[1] in str(problem.params[detail[0]])


def test_a_folder_in_the_files_place_is_a_problem(tmp_path: Path) -> None:
    assert read_file(tmp_path) == ({}, [Problem("settings_is_folder", {"path": str(tmp_path)})])


def test_a_file_that_cannot_be_opened_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    file = tmp_path / "settings.toml"
    expected = Problem("settings_unreadable", {"path": str(file), "reason": "Permission denied"})
    assert read_file(file) == ({}, [expected])


# ------------------------------------------------------------------ the environment


def test_each_setting_has_a_variable_of_its_own() -> None:
    names = {variable(item) for item in SCHEMA}
    assert len(names) == len(SCHEMA)
    assert variable(BY_KEY["target.gpu_layers"]) == "SPECCHAT_TARGET_GPU_LAYERS"


def test_misspelt_variables_are_problems_and_foreign_ones_are_not(tmp_path: Path) -> None:
    environ = {"SPECCHAT_HOME": "x", "PATH": "y", "SPECCHAT_SAMPLING_TEMPRATURE": "1", "SPECCHAT_XYZZY": "1"}
    loaded = load(tmp_path / "none.toml", environ, {})
    near = {"name": "SPECCHAT_SAMPLING_TEMPRATURE", "nearest": "SPECCHAT_SAMPLING_TEMPERATURE"}
    assert loaded.problems[0] == Problem("setting_unknown_near", near)
    assert [problem.params["name"] for problem in loaded.problems[1:]] == ["SPECCHAT_XYZZY"]
