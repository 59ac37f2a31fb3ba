"""What a benchmark asks: the built-in prompts, and files of one's own."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from specchat.app.bench.prompts import (
    Prompt,
    PromptsError,
    builtin_prompts,
    fingerprint,
    kind_name,
    read_prompts,
)
from specchat.app.words import sentence

KINDS = ["code", "edit", "summary", "story", "translation", "list", "problem", "chat"]


def test_there_are_eight_kinds_with_names_of_their_own() -> None:
    prompts = builtin_prompts()
    assert [prompt.kind for prompt in prompts] == KINDS
    assert len({kind_name(kind) for kind in KINDS}) == 8


def test_what_is_pasted_is_long_enough_to_be_looked_up_in() -> None:
    texts = {prompt.kind: prompt.text for prompt in builtin_prompts()}
    [code] = re.findall(r"```python\n(.*?)```", texts["edit"], re.DOTALL)
    ast.parse(code)
    assert 40 <= code.count("\n") <= 60
    assert 220 <= len(texts["summary"].split()) <= 300


def test_a_toml_file_has_the_built_in_ones_form(tmp_path: Path) -> None:
    file = tmp_path / "mine.TOML"
    file.write_text('[[prompt]]\nkind = "poem"\ntext = """\nWrite a poem.\n"""\n', encoding="utf-8-sig")
    assert read_prompts(file) == (Prompt("poem", "Write a poem."),)


def test_any_other_file_has_a_prompt_in_each_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("Write a poem.\n\n  Count to ten.\n", encoding="utf-8")
    assert read_prompts(file) == (Prompt("1", "Write a poem."), Prompt("3", "Count to ten."))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no prompt"),
        (b"\xff", "aren't UTF-8"),
        (b"[[prompt]", "isn't valid TOML"),
        (b'[[prompt]]\nkind = "a"\ntext = "x"\n' * 2, 'The kind "a" comes twice'),
        (b'[[prompt]]\nkind = "a"\ntext = "x"\n[[prompt]]\nkind = "b"\n', "Prompt 2"),
        (b'[[prompt]]\nkind = "a"\ntext = "  "\n', "Prompt 1"),
        (b'[[prompt]]\nkind = 3\ntext = "x"\n', "Prompt 1"),
        (b'[[prompt]]\nkind = "a"\ntext = "x"\nmore = 1\n', "Prompt 1"),
        (b'prompt = "x"\n', "prompt"),
        (b'title = "x"\n', "title"),
    ],
)
def test_a_file_that_makes_no_sense_is_told_of_in_a_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(content)
    with pytest.raises(PromptsError) as caught:
        read_prompts(file)
    told = sentence(caught.value.code, caught.value.params)
    assert said in told
    assert str(file) in told


def test_a_file_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(PromptsError) as caught:
        read_prompts(tmp_path / "none.txt")
    assert "none.txt" in sentence(caught.value.code, caught.value.params)


def test_the_fingerprint_tells_prompts_apart() -> None:
    one, other = Prompt("a", "bc"), Prompt("ab", "c")
    assert fingerprint([one]) == fingerprint([Prompt("a", "bc")])
    assert len({fingerprint([one]), fingerprint([other]), fingerprint([one, other]), fingerprint([other, one])}) == 4


def test_a_kind_of_ones_own_is_shown_as_it_is_but_harmless() -> None:
    assert kind_name("poem\x1b[2J") == r"poem\x1b[2J"
