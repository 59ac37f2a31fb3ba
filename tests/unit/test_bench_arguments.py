"""The command line of `specchat bench`: what it means, and what it says of what it can't understand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from specchat.app.bench.arguments import BenchArguments, bench_arguments
from specchat.app.bench.choices import Choices
from specchat.app.command_line.options import parse
from specchat.app.command_line.parser import UsageError
from specchat.app.words import sentence
from specchat.settings.values import Settings

NOWHERE = Path("none.toml")


def judged(*words: str, file: Path = NOWHERE, environ: dict[str, str] | None = None) -> BenchArguments:
    return bench_arguments(parse(["bench", *words]), file, environ or {})


def complaint(*words: str) -> str:
    with pytest.raises(UsageError) as caught:
        judged(*words)
    return sentence(caught.value.code, caught.value.params)


def test_alone_it_measures_lookup_with_the_bundled_model() -> None:
    assert judged() == BenchArguments(
        target=None,
        drafts=("lookup",),
        prompts=None,
        choices=Choices(repeat=3, max_tokens=128, gamma="auto"),
        settings=Settings(),
        form="text",
        output=None,
        plot=None,
        notices=(),
    )


def test_drafts_add_up_and_each_counts_once() -> None:
    drafts = judged("--draft", "a.gguf", "--draft", "lookup", "--draft=./a.gguf", "--draft", "./lookup").drafts
    assert drafts == (str(Path("a.gguf").absolute()), "lookup", str(Path("lookup").absolute()))


@pytest.mark.parametrize(("typed", "gamma"), [("auto", "auto"), ("sweep", "sweep"), ("5", 5), ("32", 32)])
def test_gamma_is_a_number_or_chosen_or_swept(typed: str, gamma: int | str) -> None:
    assert judged("--gamma", typed).choices.gamma == gamma


def test_how_much_is_measured() -> None:
    choices = judged("--repeat", "5", "--max-tokens", "64").choices
    assert (choices.repeat, choices.max_tokens) == (5, 64)


def test_settings_are_the_chats_but_for_what_a_benchmark_decides(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[sampling]\ntop_k = 7\n[speculation]\ngamma = 9\n[reply]\nmax_tokens = 9\n", encoding="utf-8")
    arguments = judged("--temperature", "0", "--draft-threads", "2", "--rule", "token", file=file)
    settings = arguments.settings
    assert (settings.sampling.temperature, settings.sampling.top_k) == (0, 7)
    assert (settings.draft.threads, settings.speculation.rule) == (2, "token")
    assert arguments.choices == Choices()


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (("--json",), "json"),
        (("--csv",), "csv"),
        (("--markdown",), "markdown"),
        (("--output", "a.json"), "json"),
        (("--output", "a.CSV"), "csv"),
        (("--output", "a.md"), "markdown"),
        (("--output", "a.txt"), "text"),
        (("--output", "a.txt", "--json"), "json"),
    ],
)
def test_the_form_is_what_was_said_or_what_the_ending_says(words: tuple[str, ...], form: str) -> None:
    assert judged(*words).form == form


def test_files_are_taken_as_they_were_typed() -> None:
    arguments = judged("--target", "t.gguf", "--prompts", "p.toml", "--output", "o.json", "--plot", "p.svg")
    paths: dict[str, Any] = {name: getattr(arguments, name) for name in ("target", "prompts", "output", "plot")}
    assert paths == {
        "target": Path("t.gguf"),
        "prompts": Path("p.toml"),
        "output": Path("o.json"),
        "plot": Path("p.svg"),
    }
    assert judged("--prompts", "builtin").prompts is None
    assert judged("--prompts", "./builtin").prompts == Path("builtin")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gamma", "0"), "--gamma takes a whole number from 1 to 32, or auto, sweep, not 0."),
        (("--gamma", "often"), '--gamma takes a whole number from 1 to 32, or auto, sweep, not "often".'),
        (("--repeat", "0"), "--repeat takes a whole number from 1 to 1000, not 0."),
        (("--max-tokens", "x"), '--max-tokens takes a whole number from 1 to 2147483647, not "x".'),
        (("--draft", "none"), "--draft none has nothing to measure: plain replies are written anyway."),
        (("--draft", ""), "--draft can't be empty."),
        (("--json", "--csv"), "Only one of --json, --csv and --markdown can be had at a time."),
        (("--plot", "a.pdf"), "--plot can't draw a.pdf: its name must end in one of .svg, .png."),
        (("--output",), "--output needs a value."),
        (("--stop", "x"), "There is no option --stop here; did you mean --top-p?"),
        (("--speculation",), "There is no option --speculation here"),
        (("Hello",), "Hello is one argument too many"),
        (("--temperature", "hot"), '--temperature takes a number from 0 to 10, not "hot".'),
    ],
)
def test_what_can_not_be_meant_is_told_of_in_one_sentence(words: tuple[str, ...], said: str) -> None:
    assert complaint(*words).startswith(said)
