"""`specchat ask` as a person meets it: what it writes where, and that its figures are those of its rounds."""

from __future__ import annotations

import json
import os
import struct
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from specchat.app import figures
from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round
from specchat.models.files.bundled import bundled_model
from support.cli import Outcome, all_of, rest, run, started
from support.fake_engine import TEXT, Scenario, fake_engine
from support.screen import Screen
from support.specchat_with_engine import specchat_with
from support.tiny_gguf import write_tiny_llama, write_tiny_recurrent

NAMES = {
    "text",
    "stop_reason",
    "target_passes",
    "draft_runs",
    "drafted",
    "accepted",
    "rejected",
    "unused",
    "acceptance_rate",
    "alpha",
    "c",
    "tokens",
    "tokens_per_pass",
    "tokens_per_second",
    "tokens_per_second_without",
    "speed_up",
    "seconds_prefill",
    "seconds_draft",
    "seconds_verify",
    "seconds_sampling",
    "seconds_other",
    "target",
    "draft",
    "drafter",
    "rule",
    "gamma",
    "seed",
    "backend",
    "devices",
    "versions",
}

LIST = "List the days of the week, then list them again."
GUESSING = ("ask", LIST, "--draft", "lookup", "--gamma", "4", "--rule", "token", "--seed", "7", "--max-tokens", "60")
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
LETTERS = ("ask", "abc", "--target", "target.gguf", "--raw", "--max-tokens", "40")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small model that writes letters for ever, and a draft for it."""
    folder = tmp_path_factory.mktemp("home")
    write_tiny_llama(folder / "target.gguf", usable=20, template=TEMPLATE)
    write_tiny_llama(folder / "draft.gguf", usable=20, seed=1)
    return folder


@pytest.fixture(scope="module")
def plain(home: Path) -> Outcome:
    """A reply of the bundled model as text."""
    return run(home, *GUESSING)


@pytest.fixture(scope="module")
def rounds_file(home: Path) -> Path:
    return home / "rounds.jsonl"


@pytest.fixture(scope="module")
def told(home: Path, rounds_file: Path) -> dict[str, Any]:
    """The same reply as JSON."""
    return ask_json(home, *GUESSING, "--rounds", str(rounds_file))


def ask_json(home: Path, *words: str) -> dict[str, Any]:
    """What `ask … --json` prints when all goes well."""
    outcome = run(home, *words, "--json")
    assert (outcome.status, outcome.stderr) == (0, "")
    told: dict[str, Any] = json.loads(outcome.stdout)
    return told


# ------------------------------------------------------------------ text and figures


def test_the_text_goes_to_standard_output_and_the_figures_to_standard_error(
    plain: Outcome, told: dict[str, Any]
) -> None:
    assert plain.status == 0
    assert plain.stdout == told["text"] != ""
    assert plain.stderr.startswith(f"{told['tokens']} tokens · {told['target_passes']} target passes")
    assert f"{told['accepted']} of {told['drafted']} accepted" in plain.stderr


def test_json_has_every_name(told: dict[str, Any]) -> None:
    assert set(told) == NAMES


def test_json_says_what_the_reply_came_from(told: dict[str, Any]) -> None:
    assert told["target"] == str(bundled_model())
    assert (told["draft"], told["rule"], told["gamma"], told["seed"]) == ("lookup", "token", 4, 7)
    assert told["backend"] != ""
    assert told["devices"] != []
    assert {"specchat", "llama-cpp-python", "llama.cpp", "numpy"} <= set(told["versions"])


def test_the_figures_add_up(told: dict[str, Any]) -> None:
    assert told["drafted"] == told["accepted"] + told["rejected"] + told["unused"] > 0
    assert told["accepted"] > 0
    assert told["draft_runs"] == 0
    assert told["acceptance_rate"] == told["accepted"] / told["drafted"]
    assert told["tokens"] <= told["accepted"] + told["target_passes"]
    assert told["tokens_per_pass"] == told["tokens"] / told["target_passes"]
    assert told["speed_up"] == pytest.approx(told["tokens_per_second"] / told["tokens_per_second_without"])
    parts = [told[f"seconds_{part}"] for part in ("draft", "verify", "sampling", "other")]
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(told["tokens"] / told["tokens_per_second"])
    assert told["seconds_prefill"] > 0


def test_the_rounds_are_where_the_figures_come_from(told: dict[str, Any], rounds_file: Path) -> None:
    rounds = [msgspec.json.decode(line, type=Round) for line in rounds_file.read_bytes().splitlines()]
    assert len(rounds) == told["target_passes"]
    assert figures.as_json(count(rounds)) == {name: told[name] for name in figures.NAMES}


def test_the_bundled_model_makes_sense(home: Path) -> None:
    outcome = run(home, "ask", "How many days are in a week?", "--temperature", "0", "--max-tokens", "40")
    assert outcome.status == 0
    assert "7 days" in outcome.stdout


# ------------------------------------------------------------------ drafts


def test_a_model_that_is_its_own_draft_has_its_guesses_accepted(home: Path) -> None:
    words = ("ask", LIST, "--temperature", "0", "--max-tokens", "40")
    told = ask_json(home, *words, "--draft", str(bundled_model()), "--gamma", "3")
    assert told["drafted"] == told["draft_runs"] >= 30
    assert told["rejected"] <= 2  # where two tokens are all but equally likely, passes of another width may differ
    assert told["alpha"] > 0.9
    assert told["draft"] == str(bundled_model())
    assert told["c"] > 0


def test_without_speculation_no_draft_is_loaded(home: Path) -> None:
    told = ask_json(home, *LETTERS, "--draft", "there-is-no.gguf", "--no-speculation")
    assert (told["draft"], told["gamma"], told["drafted"], told["draft_runs"]) == (None, 0, 0, 0)
    assert (told["alpha"], told["acceptance_rate"], told["c"]) == (None, None, None)
    assert told["target_passes"] == told["tokens"] == 40


@pytest.mark.parametrize(
    ("words", "drafter", "gamma"),
    [
        (("--draft", "draft.gguf"), "both", "auto"),
        (("--draft", "draft.gguf", "--gamma", "3"), "model", 3),
        (("--draft", "lookup"), "lookup", "auto"),
        (("--draft", "none"), "none", 0),
        (("--draft", "draft.gguf", "--no-speculation"), "none", 0),
        ((), "none", 0),  # so that a seed gives the same text every time
    ],
)
def test_who_guesses_follows_from_the_draft_and_the_number_of_guesses(
    tmp_path: Path, words: tuple[str, ...], drafter: str, gamma: int | str
) -> None:
    command = specchat_with(fake_engine())
    outcome = run(tmp_path, "ask", "Hi", "--target", "target.gguf", *words, "--json", command=command)
    told = json.loads(outcome.stdout)
    assert (told["drafter"], told["gamma"]) == (drafter, gamma)
    assert (told["draft_runs"] > 0) == (drafter in ("both", "model"))


def test_without_the_draft_that_was_to_guess_lookup_is_left(tmp_path: Path) -> None:
    command = specchat_with(fake_engine(Scenario(misfits=("draft.gguf",))))
    words = ("ask", "Hi", "--target", "target.gguf", "--draft", "draft.gguf", "--json")
    told = json.loads(run(tmp_path, *words, command=command).stdout)
    assert (told["drafter"], told["draft"], told["gamma"]) == ("lookup", "lookup", "auto")


def test_the_json_names_no_draft_where_none_can_guess(home: Path) -> None:
    write_tiny_recurrent(home / "mamba.gguf")
    outcome = run(home, *LETTERS, "--target", "mamba.gguf", "--draft", "lookup", "--json")
    assert (outcome.status, "can't take back tokens" in outcome.stderr) == (0, True)
    told = json.loads(outcome.stdout)
    assert (told["draft"], told["gamma"], told["drafted"]) == (None, 0, 0)


def test_a_seed_repeats_a_reply_also_one_that_was_drawn(home: Path) -> None:
    words = (*LETTERS, "--draft", "draft.gguf", "--gamma", "3")
    first = ask_json(home, *words)
    again = ask_json(home, *words, "--seed", str(first["seed"]))
    assert again["text"] == first["text"]
    assert (again["drafted"], again["accepted"]) == (first["drafted"], first["accepted"])
    assert 0 < first["accepted"] < first["drafted"]
    other = ask_json(home, *words, "--seed", str(first["seed"] + 1))
    assert other["text"] != first["text"]


# ------------------------------------------------------------------ prompt, stops, settings


def test_the_prompt_may_come_from_standard_input(home: Path) -> None:
    words = ("--target", "target.gguf", "--raw", "--seed", "1", "--max-tokens", "8")
    typed = run(home, "ask", "two\nlines", *words)
    assert run(home, "ask", *words, stdin="two\nlines\n").stdout == typed.stdout != ""


def test_a_system_text_comes_first(home: Path) -> None:
    words = ("--target", "target.gguf", "--seed", "1", "--max-tokens", "8")
    raw = run(home, "ask", "first, second", "--raw", *words)
    templated = run(home, "ask", "second", "--system", "first, ", *words)
    assert templated.stdout == raw.stdout != ""


def test_a_reply_ends_before_a_stop_and_at_its_most_tokens(home: Path) -> None:
    whole = run(home, *LETTERS, "--seed", "1")
    assert len(whole.stdout) == 40
    assert whole.stderr.splitlines()[-1] == "specchat: The reply was cut at 40 tokens; --max-tokens allows more."
    stop = whole.stdout[10:13]
    told = ask_json(home, *LETTERS, "--seed", "1", "--stop", stop, "--stop", "XYZ")
    assert told["text"] == whole.stdout[: whole.stdout.index(stop)]
    assert told["stop_reason"] == "stop"


def test_a_reply_that_fills_the_context_says_so(home: Path) -> None:
    outcome = run(home, *LETTERS, "--ctx", "16")
    assert outcome.status == 0
    assert outcome.stderr.splitlines()[-1] == (
        "specchat: The reply was cut where its context of 16 tokens is full; a larger --ctx may help."
    )


def test_the_settings_file_is_read(home: Path, tmp_path: Path) -> None:
    settings = tmp_path / "config" / "settings.toml"
    settings.parent.mkdir()
    settings.write_text("[reply]\nmax_tokens = 5\n")
    told = ask_json(tmp_path, "ask", "abc", "--target", str(home / "target.gguf"))
    assert (told["tokens"], told["stop_reason"]) == (5, "length")


# ------------------------------------------------------------------ on a terminal


def seen_on_terminal(home: Path, text_file: Path | None = None) -> tuple[Screen, str]:
    """What a terminal shows after a scripted reply, and all that was sent to it; the text may go to a file."""
    import fcntl
    import termios

    width, height = 40, 8
    terminal, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    command = specchat_with(fake_engine(Scenario(rate=100, real_time=True)))
    with ExitStack() as opened:
        stdout = opened.enter_context(text_file.open("wb")).fileno() if text_file else end
        with started(home, "ask", "Hi", stdout=stdout, stderr=end, command=command) as process:
            os.close(end)
            sent = all_of(terminal).decode().replace("\r\n", "\n")
            assert rest(process).status == 0
    os.close(terminal)
    screen = Screen(width, height)
    screen.feed(sent)
    return screen, sent


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_the_line_below_the_text_is_gone_in_the_end(tmp_path: Path) -> None:
    screen, sent = seen_on_terminal(tmp_path)
    assert "tok/s" in sent.partition(TEXT[-5:])[0]
    assert "".join(screen.lines[:3]) == TEXT
    assert screen.lines[3].startswith("25 tokens")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_with_the_text_in_a_file_the_terminal_shows_the_line_alone(tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    screen, sent = seen_on_terminal(tmp_path, file)
    assert file.read_text(encoding="utf-8") == TEXT
    assert "target passes\x1b" in sent
    assert screen.lines[0].startswith("25 tokens")
