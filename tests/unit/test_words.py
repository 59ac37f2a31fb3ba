"""The sentences: one for every code, whatever their parameters are."""

from __future__ import annotations

import ast
import re
import string
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import specchat.app
import specchat.models
import specchat.settings
from specchat.app.sentences import PHRASES, SENTENCES
from specchat.app.words import sentence, visible

REPORTS = {
    "DecodeError",
    "DemoError",
    "Difference",
    "EngineDied",
    "EngineFailure",
    "Failed",
    "Failure",
    "LlamaError",
    "LoadError",
    "ModelFileError",
    "Notice",
    "Problem",
    "Refusal",
    "Refused",
    "StoreError",
    "TemplateError",
    "Trouble",
    "UsageError",
    "sentence",
}
"""What takes a code as one of its first two arguments."""
KINDS = (
    "engine",
    "file",
    "folder",
    "model_is",
    "pair",
    "prompt",
    "setting",
    "settings",
    "standin",
    "store",
    "template",
)
"""What codes begin with. What looks like one of these is one, wherever it stands."""
OTHERS = {"store_true"}


@dataclass(frozen=True)
class Found:
    """A string of the source, in what it stands, and where."""

    text: str
    node: ast.Constant
    parent: ast.AST
    where: str

    @property
    def is_reported(self) -> bool:
        """Whether it is handed to something that takes a code."""
        func = getattr(self.parent, "func", None)
        name = getattr(func, "id", None) or getattr(func, "attr", "")
        return isinstance(self.parent, ast.Call) and name in REPORTS and self.node in self.parent.args[:2]


def strings(*packages: ModuleType) -> list[Found]:
    """Every string in the packages' modules, but for the sentences themselves."""
    files = [file for package in packages for file in sorted(Path(*package.__path__).rglob("*.py"))]
    return [
        Found(node.value, node, parent, f"{file.name}:{node.lineno}")
        for file in files
        if file.name != "sentences.py"
        for parent in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for node in ast.iter_child_nodes(parent)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


@pytest.mark.parametrize("package", [specchat.models, specchat.settings, specchat.app], ids=lambda p: p.__name__)
def test_every_code_that_is_reported_has_a_sentence(package: ModuleType) -> None:
    looks_like_one = re.compile(f"(?:{'|'.join(KINDS)})(?:_[a-z0-9]+)+").fullmatch
    found = strings(package)
    codes = [each for each in found if each.is_reported or looks_like_one(each.text)]
    assert any(each.is_reported for each in found)
    assert [(each.text, each.where) for each in codes if each.text not in {*SENTENCES, *OTHERS}] == []


def test_every_sentence_is_for_a_code_that_is_reported() -> None:
    found = strings(specchat.models, specchat.settings, specchat.app)
    texts = {each.text for each in found}
    beginnings = tuple(each.text for each in found if isinstance(each.parent, ast.JoinedStr) and each.text[-1] == "_")
    assert [code for code in SENTENCES if code not in texts and not code.startswith(beginnings)] == []


def test_every_sentence_is_one_and_takes_its_parameters_by_name() -> None:
    for code, template in SENTENCES.items():
        names = [name for _text, name, _format, _conversion in string.Formatter().parse(template) if name is not None]
        assert all(name.isidentifier() for name in names), code
        assert sentence(code, dict.fromkeys(names, 1)) != "", code
        assert template.endswith((".", "?", "{reason}", "{error}", "{line}", "{text}")), code


def test_every_phrase_belongs_to_a_sentence() -> None:
    assert {code for code, _value in PHRASES} <= set(SENTENCES)


def test_parameters_are_filled_in() -> None:
    params = {"tokens": 9000, "room": 8192}
    assert sentence("prompt_too_long", params) == (
        "The prompt takes 9000 tokens, with room for 8192; shorten it or raise --ctx."
    )


def test_values_that_are_codes_are_put_into_words() -> None:
    said = sentence("file_not_gguf", {"path": "x.gguf", "looks_like": "text"})
    assert said == "x.gguf isn't a GGUF file; it looks like plain text."


def test_an_empty_reason_is_put_into_words() -> None:
    assert sentence("load_failed", {"path": "x", "reason": ""}) == "x can't be loaded: no reason was given"


def test_without_a_path_the_model_is_meant() -> None:
    assert sentence("model_is_speech", {}) == "The model is a speech model; choose a chat model."


def test_an_unknown_code_is_shown_as_it_came() -> None:
    assert sentence("new_code", {"path": "x"}) == "Something went wrong: new_code (path=x)"


@pytest.mark.parametrize("params", [{"seconds": 30}, {}])
def test_a_missing_parameter_never_raises(params: dict[str, int]) -> None:
    said = sentence("engine_silent", params)
    assert said.startswith("The engine said nothing" if params else "Something went wrong: engine_silent")


def test_a_parameter_of_another_type_never_raises() -> None:
    assert "file_truncated" in sentence("file_truncated", {"path": "x", "have": "few", "need": "many"})


def test_the_logs_lines_follow_the_sentence() -> None:
    params = {"exit": "SIGABRT", "log": "GGML_ASSERT failed\n\x1b[31mred\n"}
    assert sentence("engine_aborted", params).splitlines()[1:] == ["  GGML_ASSERT failed", "  \\x1b[31mred"]
    assert "\n" not in sentence("engine_aborted", {"log": ""})


def test_nothing_that_a_terminal_obeys_gets_through() -> None:
    assert visible("naïve 模型 🙂 “x”") == "naïve 模型 🙂 “x”"
    assert visible("\x1b]52;c;eA==\x07\n\u202e\x9b\udce9") == r"\x1b]52;c;eA==\x07\n\u202e\x9b\udce9"
    assert sentence("file_missing", {"path": "\x1b[2J"}) == r"There is no file \x1b[2J."
