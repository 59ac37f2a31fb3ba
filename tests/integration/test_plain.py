"""`--plain`: the conversation line by line, through pipes and on a terminal, over a scripted engine and a real one."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from specchat.models.engine.messages import Notice
from specchat.settings.paths import HOME_VARIABLE
from support.cli import SPECCHAT, Outcome, run
from support.fake_engine import TEXT, Fault, Scenario, fake_engine
from support.specchat_with_engine import specchat_with

if sys.platform != "win32":
    from support.pseudo_terminal import Program

needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")

PLAIN = ("chat", "--plain", "--target", "target.gguf")
WITH_DRAFT = (*PLAIN, "--draft", "draft.gguf")
ENDLESS = Scenario(endless=True, rate=500, real_time=True)
SLOW_LOAD = Scenario(load_seconds=600)


def talk(home: Path, *lines: str, words: tuple[str, ...] = WITH_DRAFT, scenario: Scenario | None = None) -> Outcome:
    """What comes of these lines, piped in."""
    stdin = "".join(f"{line}\n" for line in lines)
    return run(home, *words, stdin=stdin, command=specchat_with(fake_engine(scenario)))


@contextmanager
def on_terminal(home: Path, scenario: Scenario | None = None) -> Iterator[Program]:
    """A plain chat on a terminal."""
    with Program([*specchat_with(fake_engine(scenario)), *WITH_DRAFT], home, environ={"TERM": "dumb"}) as program:
        yield program


def messages(home: Path) -> list[tuple[str, str]]:
    """Role and content of all that was kept."""
    [file] = home.rglob("chats.sqlite3")
    with closing(sqlite3.connect(file)) as store:
        return store.execute("SELECT role, content FROM messages ORDER BY id").fetchall()


# ------------------------------------------------------------------ through pipes


def test_replies_go_to_standard_output_and_their_figures_to_standard_error(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "What is a prime?", "And two?")
    assert (outcome.status, outcome.stdout) == (0, f"{TEXT}\n{TEXT}\n")
    loading, loaded, *figures = outcome.stderr.splitlines()
    assert (loading, loaded) == ("Loading target.gguf …", "Loaded, on CPU.")
    assert len(figures) == 2
    assert all("tok/s" in line and "accepted" in line for line in figures)
    assert all(line.endswith(" · mostly 3 guesses: more wouldn't pay") for line in figures)
    assert messages(tmp_path) == [
        ("user", "What is a prime?"),
        ("assistant", TEXT),
        ("user", "And two?"),
        ("assistant", TEXT),
    ]


def test_the_end_of_the_input_needs_no_newline(tmp_path: Path) -> None:
    outcome = run(tmp_path, *PLAIN, stdin="Hi", command=specchat_with(fake_engine()))
    assert (outcome.status, outcome.stdout) == (0, f"{TEXT}\n")


def test_nothing_after_quit_is_sent_and_nothing_that_is_blank(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "", "   ", "Hi", "/quit", "Never sent")
    assert outcome.stdout == f"{TEXT}\n"
    assert [content for role, content in messages(tmp_path) if role == "user"] == ["Hi"]


def test_speculation_can_be_switched(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "/off", "plain", "/on", "/gamma 1", "guessing")
    said = outcome.stderr.splitlines()[2:]
    assert said[0] == "Speculation is off from the next round on: the target writes alone."
    assert "accepted" not in said[1]
    assert said[2] == "Speculation is on from the next round on."
    assert said[3] == "1 guess a round (γ) from now on."
    assert "accepted" in said[4]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/gamma 32", "32 guesses a round (γ) from now on."),
        ("/gamma 33", "γ takes a whole number from 0 to 32, or auto, as in /gamma 3."),
        ("/gamma", "γ takes a whole number from 0 to 32, or auto, as in /gamma 3."),
        ("/gamma auto", "As many guesses a round as pay from now on (γ auto)."),
        ("/draft both", "Guesses are looked up where the text repeats itself, else the draft model guesses."),
        ("/draft lookup", "Guesses are looked up in the text so far, from the next round on."),
        ("/draft none", "Nobody guesses: the target writes alone."),
        ("/draft model", "The draft model guesses from the next round on."),
        ("/rule token", "Guesses are judged one by one (token rule)."),
        ("/rule block", "A round's guesses are judged together (block rule)."),
        ("/new", "A new chat begins."),
        ("/help", "/on: let the draft guess"),
        ("/ofF", "There is no such command. A space before it sends it as a message."),
        ("/on off", "There is no such command. A space before it sends it as a message."),
    ],
)
def test_a_command_says_what_it_did(tmp_path: Path, line: str, said: str) -> None:
    assert said in talk(tmp_path, line).stderr.splitlines()


@pytest.mark.parametrize("drafter", ["both", "model"])
def test_a_draft_model_that_is_not_there_can_not_guess(tmp_path: Path, drafter: str) -> None:
    outcome = talk(tmp_path, f"/draft {drafter}", words=PLAIN)
    assert outcome.stderr.splitlines()[2:] == ["There is no draft model here that could guess."]


def test_a_space_sends_what_looks_like_a_command(tmp_path: Path) -> None:
    talk(tmp_path, " /etc is a folder?")
    assert messages(tmp_path)[0] == ("user", " /etc is a folder?")


def test_a_new_chat_forgets_the_one_before(tmp_path: Path) -> None:
    talk(tmp_path, "one", "/new", "two")
    [file] = tmp_path.rglob("chats.sqlite3")
    with closing(sqlite3.connect(file)) as store:
        assert store.execute("SELECT title FROM chats ORDER BY id").fetchall() == [("one",), ("two",)]


def test_the_pair_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "target.gguf").touch()
    (tmp_path / "draft.gguf").touch()
    talk(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environ = os.environ | {HOME_VARIABLE: str(tmp_path)}
    command = [*specchat_with(fake_engine()), "chat", "--plain"]
    said = subprocess.run(command, input="", stderr=subprocess.PIPE, cwd=elsewhere, env=environ, text=True, check=True)
    assert said.stderr.splitlines() == ["Loading target.gguf …", "Loaded, on CPU."]


def test_what_the_engine_notices_is_told_of(tmp_path: Path) -> None:
    outcome = talk(tmp_path, scenario=Scenario(notices=(Notice("bad_logits", {"path": "x.gguf"}),)))
    assert "specchat: x.gguf gives numbers that make no sense" in outcome.stderr


def test_an_engine_that_dies_is_told_of_and_started_anew(tmp_path: Path) -> None:
    fault = Fault("reply", "exit", 7, once=str(tmp_path / "mark"))
    outcome = talk(tmp_path, "first", "second", scenario=Scenario(faults=(fault,)))
    assert outcome.status == 1
    assert outcome.stdout == f"A prime number has\n{TEXT}\n"
    assert "specchat: The engine ended by itself" in outcome.stderr
    assert outcome.stderr.count("Loaded, on CPU.") == 2


@pytest.mark.parametrize("prompts", [(), ("Hi", "Hello")])
def test_models_that_can_not_be_loaded_end_it_in_failure(tmp_path: Path, prompts: tuple[str, ...]) -> None:
    fault = Fault("load", "failure", "no_vocabulary")
    outcome = talk(tmp_path, *prompts, scenario=Scenario(faults=(fault,)))
    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr.count("has no vocabulary") == 1 + len(prompts)


def test_a_load_that_fails_at_first_is_no_failure_once_all_is_answered(tmp_path: Path) -> None:
    fault = Fault("load", "failure", "no_vocabulary", once=str(tmp_path / "mark"))
    assert talk(tmp_path, "Hi", scenario=Scenario(faults=(fault,))).status == 0


def test_an_engine_that_died_twice_is_not_started_unasked(tmp_path: Path) -> None:
    outcome = talk(tmp_path, "one", "two", "three", scenario=Scenario(faults=(Fault("reply", "exit", 7),)))
    assert outcome.stderr.count("The engine ended by itself") == 2
    assert f"The engine died twice over {tmp_path / 'target.gguf'}" in outcome.stderr.splitlines()[-1]


def test_hostile_text_is_cleaned(tmp_path: Path) -> None:
    hostile = "a\x1b]52;c;aGk=\x07b \x1b[31mred\x1b[0m \x9b2Jc [/INST] [@click=app.quit]x[/]"
    outcome = talk(tmp_path, "Hi \x1b]0;title\x07", scenario=Scenario(text=hostile))
    assert outcome.stdout == "ab red c [/INST] [@click=app.quit]x[/]\n"
    assert "\x1b" not in outcome.stderr


def test_a_reader_that_goes_away_ends_it(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    outcome = run(tmp_path, *PLAIN, stdin="Hi\n", stdout=write, command=specchat_with(fake_engine()))
    os.close(write)
    assert (outcome.status, "Traceback" in outcome.stderr, "mistake" in outcome.stderr) == (141, False, False)


def test_the_bundled_model_chats(tmp_path: Path) -> None:
    words = ("chat", "--plain", "--temperature", "0", "--max-tokens", "8")
    outcome = run(tmp_path, *words, stdin="How many days are in a week?\n/off\nAnd in a year?\n", command=SPECCHAT)
    assert outcome.status == 0
    assert outcome.stdout.startswith("A week is approximately 7")
    assert outcome.stderr.startswith("This is the small bundled model; prompt lookup can guess for it.")
    assert outcome.stderr.count("tok/s") == 2
    assert "specchat: The reply was cut at 8 tokens; --max-tokens allows more." in outcome.stderr.splitlines()


# ------------------------------------------------------------------ on a terminal


@needs_terminal
def test_a_person_gets_a_prompt_and_no_escape_sequences(tmp_path: Path) -> None:
    with on_terminal(tmp_path) as program:
        program.read_until("Type a message, or /help.\r\n> ")
        program.send("Hi\n")
        program.read_until("tok/s")
        program.read_until("> ")
        program.send("\x04")
        assert program.end() == 0
        assert b"\x1b" not in program.written
        assert program.attributes_after == program.attributes_before


@needs_terminal
def test_ctrl_c_stops_a_reply_and_keeps_it(tmp_path: Path) -> None:
    with on_terminal(tmp_path, ENDLESS) as program:
        program.read_until("> ")
        program.send("Hi\n")
        program.read_until("A prime number")
        program.send("\x03")
        program.read_until("The reply was stopped.")
        program.read_until("tok/s")
        program.read_until("> ")
        program.send("/quit\n")
        assert program.end() == 0
    [_said, (role, kept)] = messages(tmp_path)
    assert role == "assistant"
    assert kept.startswith("A prime number")


@needs_terminal
def test_ctrl_c_at_the_prompt_says_how_to_quit(tmp_path: Path) -> None:
    with on_terminal(tmp_path) as program:
        program.read_until("> ")
        program.send("\x03")
        program.read_until("/quit leaves. Everything is on disk already.\r\n> ")
        program.send("/quit\n")
        assert program.end() == 0


@needs_terminal
def test_ctrl_c_stops_the_loading(tmp_path: Path) -> None:
    with on_terminal(tmp_path, SLOW_LOAD) as program:
        program.read_until("Loading target.gguf …")
        program.send("\x03")
        program.read_until("specchat: The loading was cancelled.")
        program.read_until("> ")
        program.send("\x04")
        assert program.end() == 0


@needs_terminal
def test_a_person_may_let_an_engine_that_died_twice_start_again(tmp_path: Path) -> None:
    with on_terminal(tmp_path, Scenario(faults=(Fault("reply", "exit", 7),))) as program:
        for _death in range(2):
            program.read_until("> ")
            program.send("Hi\n")
            program.read_until("ended by itself")
        program.read_until("> ")
        program.send("Hi\n")
        program.read_until("Type yes to start it with them again.\r\n> ")
        program.send("no\n")
        program.read_until("The message wasn't sent.\r\n> ")
        program.send("Hi\n")
        program.read_until("Type yes to start it with them again.\r\n> ")
        program.send("yes\n")
        program.read_until("ended by itself")


@needs_terminal
def test_a_signal_ends_it_with_its_engine(tmp_path: Path) -> None:
    with on_terminal(tmp_path, ENDLESS) as program:
        program.read_until("> ")
        program.send("Hi\n")
        program.read_until("A prime number")
        program.process.send_signal(signal.SIGTERM)
        assert program.end() == -signal.SIGTERM
