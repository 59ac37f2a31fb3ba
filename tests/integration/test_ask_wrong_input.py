"""What `specchat ask` says of what can't work: one plain sentence, and the right exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.cli import SPECCHAT, Outcome, run
from support.tiny_gguf import write_tiny_bert, write_tiny_llama, write_vocabulary_only
from support.tiny_vocabulary import byte_vocabulary

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 98304\n"
FULL = Path("/dev/full")
SEEDED = ("--seed", "3", "--max-tokens", "8")

needs_full_device = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small model that works, `good.gguf`, and files that don't."""
    folder = tmp_path_factory.mktemp("files")
    good = write_tiny_llama(folder / "good.gguf", template=TEMPLATE, usable=20).read_bytes()
    (folder / "cut.gguf").write_bytes(good[:100_000])
    (folder / "text.gguf").write_text("Once upon a time there was a model.\n")
    (folder / "empty.gguf").touch()
    (folder / "pointer.gguf").write_text(POINTER)
    (folder / "folder.gguf").mkdir()
    write_tiny_bert(folder / "bert.gguf")
    write_vocabulary_only(folder / "vocabulary.gguf")
    write_tiny_llama(folder / "plain.gguf")
    write_tiny_llama(folder / "other.gguf", vocabulary=byte_vocabulary(words=("to", " b")))
    return folder


@pytest.fixture(scope="module")
def usual(files: Path) -> Outcome:
    """What `ask` comes to where nothing is wrong."""
    return ask(files, "Hi")


def ask(files: Path, *words: str, command: Sequence[str] | None = None) -> Outcome:
    """Run `specchat ask` with the small model."""
    return run(files, "ask", "--target", "good.gguf", *SEEDED, *words, command=command)


def redirected(how: str) -> list[str]:
    """The command with one of its streams redirected by a shell."""
    return ["sh", "-c", f'exec "$0" "$@" {how}', *SPECCHAT]


def complaints(outcome: Outcome) -> list[str]:
    return [line for line in outcome.stderr.splitlines() if line.startswith("specchat: ")]


def assert_refused(outcome: Outcome, said: str, status: int) -> None:
    assert (outcome.status, outcome.stdout, outcome.stderr) == (status, "", f"specchat: {said}\n")


# ------------------------------------------------------------------ the target


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cut.gguf", "is cut short: it has 100,000 of at least {size:,} bytes. Download it again."),
        ("text.gguf", "isn't a GGUF file; it looks like plain text."),
        ("empty.gguf", "is empty; download it again."),
        ("pointer.gguf", "only points to the model's file in Git LFS; `git lfs pull` fetches the model itself."),
        ("folder.gguf", "is a folder, not a GGUF file."),
        ("bert.gguf", "makes embeddings and writes no text; choose a chat model."),
        ("vocabulary.gguf", "holds a vocabulary and no weights; choose the model itself."),
        ("plain.gguf", "has no chat template; choose a model made for chat, or use `specchat ask --raw`."),
    ],
)
def test_a_file_that_cannot_chat_is_refused(name: str, said: str, files: Path) -> None:
    outcome = run(files, "ask", "Hi", "--target", name)
    size = (files / "good.gguf").stat().st_size
    assert_refused(outcome, f"{files / name} {said.format(size=size)}", 1)


def test_a_missing_file_is_refused(files: Path) -> None:
    assert_refused(run(files, "ask", "Hi", "--target", "no.gguf"), f"There is no file {files / 'no.gguf'}.", 1)


def test_a_model_without_a_template_works_raw(files: Path) -> None:
    outcome = run(files, "ask", "Hi", "--raw", "--target", "plain.gguf", *SEEDED)
    assert outcome.status == 0
    assert outcome.stdout != ""


# ------------------------------------------------------------------ the draft


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (
            "other.gguf",
            "The draft's tokens aren't the target's: the first that differs, 259, is “th” for the target and “to” for "
            "the draft (tokens that differ: 2).",
        ),
        ("cut.gguf", "{path} is cut short: it has 100,000 of at least {size:,} bytes. Download it again."),
        ("missing.gguf", "There is no file {path}."),
    ],
    ids=["another vocabulary", "cut short", "missing"],
)
def test_a_draft_that_cannot_guess_is_told_of_and_left_out(draft: str, said: str, files: Path, usual: Outcome) -> None:
    outcome = ask(files, "Hi", "--draft", draft)
    path, size = files / draft, (files / "good.gguf").stat().st_size
    assert outcome.status == 0
    assert complaints(outcome)[:2] == [
        f"specchat: {said.format(path=path, size=size)}",
        f"specchat: Replies are written without the draft {path}.",
    ]
    assert outcome.stdout == usual.stdout
    assert "accepted" not in outcome.stderr


# ------------------------------------------------------------------ the prompt


@pytest.mark.parametrize("prompt", ["", " \n\t"])
def test_an_empty_prompt_is_refused(prompt: str, files: Path) -> None:
    assert_refused(ask(files, prompt), "The prompt is empty; type one after the command, or pipe it in.", 2)


def test_an_empty_standard_input_is_an_empty_prompt(files: Path) -> None:
    assert_refused(run(files, "ask"), "The prompt is empty; type one after the command, or pipe it in.", 2)


def test_a_prompt_longer_than_the_context_is_refused(files: Path) -> None:
    said = "The prompt takes 100 tokens, with room for 64; shorten it or raise --ctx."
    assert_refused(ask(files, "x" * 100, "--ctx", "64"), said, 1)


def test_a_prompt_longer_than_any_context_of_the_model_is_refused(files: Path) -> None:
    said = f"The prompt takes 300 tokens, and {files / 'good.gguf'} was trained for 256; shorten it."
    assert_refused(ask(files, "x" * 300), said, 1)


# ------------------------------------------------------------------ options and settings


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gamma", "-1"), "--gamma takes a whole number from 0 to 32, or auto, not -1."),
        (("--gamma", "500"), "--gamma takes a whole number from 0 to 32, or auto, not 500."),
        (("--temperature", "-3"), "--temperature takes a number from 0 to 10, not -3.0."),
        (("--top-p", "2"), "--top-p takes a number from 0 to 1, not 2.0."),
        (("--gama", "3"), "There is no option --gama here; did you mean --gamma?"),
    ],
)
def test_a_usage_error_is_status_2(words: tuple[str, ...], said: str, files: Path) -> None:
    assert_refused(ask(files, "Hi", *words), said, 2)


def test_a_context_above_the_trained_length_is_capped(files: Path) -> None:
    outcome = ask(files, "Hi", "--ctx", "100000")
    path = files / "good.gguf"
    assert outcome.status == 0
    assert outcome.stdout != ""
    assert complaints(outcome)[0] == (
        f"specchat: {path} was trained for 256 tokens of context, so it gets 256 and not 100000."
    )


@pytest.mark.parametrize("kind", ["invalid", "folder"])
def test_an_unreadable_settings_file_is_told_of_and_left_out(
    kind: str, files: Path, usual: Outcome, tmp_path: Path
) -> None:
    settings = tmp_path / "config" / "settings.toml"
    settings.parent.mkdir()
    if kind == "folder":
        settings.mkdir()
        said = f"{settings} is a folder, not a settings file. It is left out."
    else:
        settings.write_text("[speculation\ngamma = 3\n")
        said = f"The settings file {settings} isn't valid TOML: Expected ']' at the end of a table declaration"
    outcome = run(tmp_path, "ask", "Hi", "--target", str(files / "good.gguf"), *SEEDED)
    assert outcome.status == 0
    assert complaints(outcome)[0].startswith(f"specchat: {said}")
    assert outcome.stdout == usual.stdout


# ------------------------------------------------------------------ output


def test_a_place_where_no_rounds_can_be_written_is_told_of(files: Path) -> None:
    path = files / "nowhere" / "rounds.jsonl"
    outcome = ask(files, "Hi", "--rounds", str(path))
    assert_refused(outcome, f"{path} can't be written: No such file or directory.", 1)


@needs_full_device
@pytest.mark.parametrize("words", [("ask", "Hi", "--target", "good.gguf", *SEEDED), ("doctor",), ("--help",)])
def test_a_full_disk_below_the_output_is_told_of(words: tuple[str, ...], files: Path) -> None:
    with FULL.open("wb") as full:
        outcome = run(files, *words, stdout=full)
    assert outcome.status == 1
    assert outcome.stderr.splitlines()[-1] == "specchat: Standard output can't be written: No space left on device."
    assert "Traceback" not in outcome.stderr


@needs_full_device
def test_a_full_disk_below_the_rounds_is_told_of(files: Path) -> None:
    outcome = ask(files, "Hi", "--rounds", str(FULL))
    assert outcome.status == 1
    assert outcome.stderr.splitlines()[-1] == f"specchat: {FULL} can't be written: No space left on device."
    assert "Traceback" not in outcome.stderr


@needs_full_device
def test_a_full_disk_below_standard_error_does_no_harm(files: Path, usual: Outcome) -> None:
    outcome = ask(files, "Hi", command=redirected(f"2>{FULL}"))
    assert (outcome.status, outcome.stdout) == (0, usual.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="closes streams in a POSIX shell")
@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_closed_standard_stream_does_no_harm(stream: int, files: Path, usual: Outcome) -> None:
    outcome = ask(files, "Hi", command=redirected(f"{stream}>&-"))
    assert outcome.status == 0
    assert outcome.stdout == ("" if stream == 1 else usual.stdout)
    assert ("8 tokens" in outcome.stderr) is (stream != 2)
