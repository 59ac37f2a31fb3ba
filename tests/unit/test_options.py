"""The command line: what its options mean, and what it says of those it can't understand."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from specchat.app.command_line.arguments import AskArguments, ask_arguments, chat_arguments
from specchat.app.command_line.options import parse
from specchat.app.command_line.parser import UsageError
from specchat.app.command_line.setting_options import option
from specchat.app.main import main
from specchat.app.words import sentence
from specchat.settings.schema import Setting
from specchat.settings.values import SCHEMA, ModelOptions, Settings

RUN = (sys.executable, "-c", "import sys; from specchat.app.main import main; sys.exit(main())")


def asked(*words: str, file: Path = Path("none.toml"), environ: dict[str, str] | None = None) -> AskArguments:
    return ask_arguments(parse(["ask", *words]), file, environ or {})


def complaint(*words: str) -> str:
    with pytest.raises(UsageError) as caught:
        ask_arguments(parse(words), Path("none.toml"), {})
    return sentence(caught.value.code, caught.value.params)


# ------------------------------------------------------------------ ask


def test_ask_alone_reads_the_prompt_from_standard_input_and_keeps_the_defaults() -> None:
    assert asked() == AskArguments(
        prompt=None,
        target=None,
        draft=None,
        settings=Settings(),
        speculation_on=True,
        stop=(),
        raw=False,
        json=False,
        rounds=None,
        notices=(),
    )


@pytest.mark.parametrize(
    "words",
    [
        ("Hi there",),
        ("Hi there", "--json"),
        ("--json", "Hi there"),
        ("--gamma", "2", "Hi there", "--raw"),
        ("--", "Hi there"),
    ],
)
def test_the_prompt_may_stand_anywhere(words: tuple[str, ...]) -> None:
    assert asked(*words).prompt == "Hi there"


@pytest.mark.parametrize(("word", "prompt"), [("-", None), ("", ""), ("-3 + 4 = ?", "-3 + 4 = ?"), ("-3", "-3")])
def test_a_dash_means_standard_input_and_other_words_themselves(word: str, prompt: str | None) -> None:
    assert asked(word).prompt == prompt


def test_a_prompt_that_looks_like_an_option_goes_behind_two_dashes() -> None:
    assert asked("--json", "--", "--json").prompt == "--json"


def test_models_and_output() -> None:
    arguments = asked("--target", "big.gguf", "--draft", "./lookup", "--rounds", "r.jsonl", "--json", "--raw")
    assert (arguments.target, arguments.draft, arguments.rounds) == (Path("big.gguf"), "./lookup", Path("r.jsonl"))
    assert (arguments.json, arguments.raw) == (True, True)


def test_stops_add_up() -> None:
    assert asked("--stop", "---", "--stop=\n", "--stop", "=").stop == ("---", "\n", "=")


def test_every_setting_has_an_option_of_its_own() -> None:
    names = [option(item) for item in SCHEMA]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("item", [item for item in SCHEMA if item.kind is not bool], ids=lambda item: item.key)
def test_every_option_sets_its_setting(item: Setting) -> None:
    value = item.choices[-1] if item.choices else item.kind(item.maximum or 7)
    of_screens = item.section in ("look", "models")
    judge = chat_arguments if of_screens else ask_arguments
    command = "chat" if of_screens else "ask"
    settings = judge(parse([command, option(item), str(value)]), Path("none.toml"), {}).settings
    section = getattr(settings, item.section)
    assert getattr(section, item.name) == value != item.default


def test_a_number_may_have_a_word_in_its_place(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[speculation]\ngamma = 3\n")
    assert asked("--gamma", "auto", file=file).settings.speculation.gamma == "auto"
    file.write_text('[speculation]\ngamma = "auto"\n')
    assert asked(file=file).settings.speculation.gamma == "auto"
    exported = {"SPECCHAT_SPECULATION_GAMMA": "5"}
    assert asked(file=file, environ=exported).settings.speculation.gamma == 5
    exported = {"SPECCHAT_SPECULATION_GAMMA": "auto"}
    assert asked(environ=exported).settings.speculation.gamma == "auto"


def test_bare_names_are_the_targets_and_the_drafts_have_a_prefix() -> None:
    settings = asked("--gpu-layers", "9", "--draft-gpu-layers=8", "--draft-cache-type-k", "q8_0").settings
    assert settings.target == ModelOptions(gpu_layers=9)
    assert settings.draft == ModelOptions(gpu_layers=8, cache_type_k="q8_0")


@pytest.mark.parametrize(
    ("words", "exported", "on"),
    [((), {}, True), ((), {"SPECCHAT_SPECULATION_ENABLED": "no"}, False), (("--no-speculation",), {}, False)],
)
def test_speculation_is_off_where_it_was_switched_off(
    words: tuple[str, ...], exported: dict[str, str], on: bool
) -> None:
    assert asked(*words, environ=exported).speculation_on is on


def test_typing_it_switches_speculation_on_again() -> None:
    assert asked("--speculation", environ={"SPECCHAT_SPECULATION_ENABLED": "no"}).speculation_on


def test_a_bad_settings_file_is_a_notice_and_what_was_typed_holds(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[speculation]\ngamma = 500\nrule = 'token'\n")
    arguments = asked("--top-k", "3", file=file)
    assert arguments.notices == (
        f"{file}: speculation.gamma takes a whole number from 0 to 32, or auto, not 500. It is left out.",
    )
    assert (arguments.settings.sampling.top_k, arguments.settings.speculation.rule) == (3, "token")


def test_bytes_that_are_no_text_reach_the_engine_as_question_marks() -> None:
    arguments = asked("caf\udce9", "--system", "\udce9", "--stop", "\udce9")
    assert (arguments.prompt, arguments.settings.reply.system, arguments.stop) == ("caf?", "?", ("?",))


# ------------------------------------------------------------------ usage errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ask", "--gamma", "500"), "--gamma takes a whole number from 0 to 32, or auto, not 500."),
        (("ask", "--gamma", "-1"), "--gamma takes a whole number from 0 to 32, or auto, not -1."),
        (("ask", "--gamma=x"), '--gamma takes a whole number from 0 to 32, or auto, not "x".'),
        (("ask", "--gamma", ""), '--gamma takes a whole number from 0 to 32, or auto, not "".'),
        (("ask", "--temperature", "-3"), "--temperature takes a number from 0 to 10, not -3.0."),
        (("ask", "--temperature", "-inf"), "--temperature takes a number from 0 to 10, not -inf."),
        (("ask", "--temperature", "-1e3"), "--temperature takes a number from 0 to 10, not -1000.0."),
        (("ask", "--top-p", "2"), "--top-p takes a number from 0 to 1, not 2.0."),
        (("ask", "--rule", "both"), '--rule takes one of block, token, not "both".'),
        (("ask", "--draft-ctx", "-5"), "--draft-ctx takes a whole number from 0 to 2147483647, not -5."),
        (("ask", "--gamma"), "--gamma needs a value."),
        (("ask", "--gamma", "--json"), "--gamma needs a value."),
        (("ask", "--system", "--top-k=3"), "--system needs a value."),
        (("ask", "--stop", "--"), "--stop needs a value."),
        (("ask", "--stop=--"), "--stop needs a value."),
        (("ask", "--target", ""), "--target can't be empty."),
        (("ask", "--stop", ""), "--stop can't be empty."),
        (
            ("ask", "--target", "caf\udce9.gguf"),
            "--target can't take caf\\udce9.gguf, since its name isn't valid Unicode; rename it.",
        ),
        (("ask", "--gama", "3"), "There is no option --gama here; did you mean --gamma?"),
        (("ask", "--temp", "3"), "There is no option --temp here; did you mean --temperature?"),
        (("ask", "-x"), "There is no option -x here; `specchat ask --help` lists those there are."),
        (("ask", "--raw=1"), "--raw takes no value."),
        (("ask", "one", "two"), "two is one argument too many; put a prompt of several words in quotes."),
        (("doctor", "--jso"), "There is no option --jso here; did you mean --json?"),
        (("doctor", "now"), "now is one argument too many: `specchat doctor` takes options alone."),
        (("chat", "hello"), "hello is one argument too many: `specchat chat` takes options alone."),
        (
            ("speak",),
            "There is no command speak; the commands are chat, demo, ask, bench, history, lab, models, doctor, "
            "completion.",
        ),
        (("--gamma", "3", "ask"), "ask is one argument too many: `specchat chat` takes options alone."),
        (
            ("demo", "--target", "x.gguf"),
            "There is no option --target here; `specchat demo --help` lists those there are.",
        ),
    ],
)
def test_each_mistake_has_its_sentence(words: tuple[str, ...], said: str) -> None:
    assert complaint(*words) == said


# ------------------------------------------------------------------ the command


def test_a_usage_error_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "Hi", "--gamma", "-1"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "specchat: --gamma takes a whole number from 0 to 32, or auto, not -1.\n"


@pytest.mark.parametrize("words", [["--help"], ["-h"]])
def test_help_names_the_commands(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    output = capsys.readouterr().out
    assert output.startswith("usage: specchat")
    assert {"chat", "demo", "ask", "doctor"} <= set(output.split())


def test_without_a_command_it_is_a_chat() -> None:
    parsed = parse(["--target", "big.gguf", "--plain", "--theme", "light"])
    chat = chat_arguments(parsed, Path("none.toml"), {})
    assert (parsed.command, chat.target, chat.draft, chat.plain) == ("chat", Path("big.gguf"), None, True)
    assert chat.settings.look.theme == "light"
    assert parse([]).command == "chat"


def test_the_help_of_ask_shows_every_option_but_the_drafts_and_fits_on_a_page_or_two(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["ask", "--help"]) == 0
    output = capsys.readouterr().out
    words = {word.strip(",") for word in output.split()}
    assert {option(item) for item in SCHEMA if item.section not in ("draft", "look", "models")} <= words
    assert not {option(item) for item in SCHEMA if item.section == "draft"} & words
    assert len(output.splitlines()) <= 60


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"specchat {version('specchat')}\n"


def test_the_command_line_is_read_without_loading_anything_heavy() -> None:
    code = (
        "import sys; from specchat.app.main import main; main(['ask', '--gamma', '-1']);"
        "print(sorted({'numpy', 'llama_cpp', 'textual', 'msgspec', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe can't be handed to a process this way on Windows")
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["ask", "--help"]])
def test_a_reader_that_went_away_ends_it_quietly(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*RUN, *words], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_is_status_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("specchat.app.command_line.options.parse", interrupt)
    assert main([]) == 130
