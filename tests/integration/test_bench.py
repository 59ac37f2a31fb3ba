"""`specchat bench` as a person meets it, on a scripted engine and on a real one with tiny models."""

from __future__ import annotations

import hashlib
import math
import os
import signal
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from specchat.app.bench.document import Document, from_json
from support.cli import Outcome, all_of, engine_of, gone, read_until, rest, run, started
from support.fake_engine import Fault, Scenario, fake_engine
from support.specchat_with_engine import specchat_with
from support.tiny_gguf import write_tiny_llama, write_tiny_recurrent

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"
PROMPTS = '[[prompt]]\nkind = "letters"\ntext = "abcabcabc"\n[[prompt]]\nkind = "more"\ntext = "xyzzy xyzzy"\n'
FASTER = Scenario(endless=True, rate=30, plain_rate=20)
REAL = ("bench", "--target", "target.gguf", "--prompts", "prompts.toml", "--max-tokens", "12", "--ctx", "128")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two prompts, a small model that writes letters for ever, and drafts that fit it and don't."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "prompts.toml").write_text(PROMPTS, encoding="utf-8")
    write_tiny_llama(folder / "target.gguf", usable=20, template=TEMPLATE)
    write_tiny_llama(folder / "draft.gguf", usable=20, seed=1)
    write_tiny_recurrent(folder / "recurrent.gguf")
    return folder


def faked(home: Path, *words: str, scenario: Scenario = FASTER) -> Outcome:
    """A benchmark on a scripted engine; the files it names are real, since they are looked at first."""
    command = specchat_with(fake_engine(scenario))
    return run(home, "bench", "--target", "target.gguf", "--prompts", "prompts.toml", *words, command=command)


# ------------------------------------------------------------------ a scripted engine


def test_the_table_goes_to_standard_output_and_nothing_else_is_said(home: Path) -> None:
    outcome = faked(home)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert "lookup, γ auto  helps: 1.50× (1.50–1.50)" in outcome.stdout
    assert max(map(cell_len, outcome.stdout.splitlines())) <= 80


def test_json_is_a_document(home: Path) -> None:
    outcome = faked(home, "--json", "--repeat", "2", "--draft", "draft.gguf", "--draft", "lookup", "--gamma", "3")
    document = from_json(outcome.stdout)
    assert (outcome.status, outcome.stderr, document.partial) == (0, "", False)
    assert [(Path(side.draft).name, side.drafter) for side in document.sides] == [
        ("draft.gguf", "model"),
        ("lookup", "lookup"),
    ]
    assert len(document.runs) == 2 * 2 * 3
    for side in document.sides:
        assert side.overall.speed_up == pytest.approx(1.5)
        assert list(side.kinds) == ["letters", "more"]
    for found, name in zip((document.target, *document.drafts), ("target.gguf", "draft.gguf"), strict=True):
        content = (home / name).read_bytes()
        assert (found.sha256, found.size) == (hashlib.sha256(content).hexdigest(), len(content))


def test_files_are_written_and_the_table_is_shown_as_well(home: Path, tmp_path: Path) -> None:
    report, picture = tmp_path / "r.md", tmp_path / "p.svg"
    outcome = faked(home, "--repeat", "1", "--output", str(report), "--plot", str(picture))
    assert outcome.status == 0
    assert outcome.stderr.splitlines() == [f"The report is in {report}.", f"The picture is in {picture}."]
    assert "| letters |" in report.read_text(encoding="utf-8")
    assert "\nletters  " in outcome.stdout
    assert picture.read_bytes().startswith(b"<?xml")


def test_a_sweep_has_seven_sides(home: Path) -> None:
    document = from_json(faked(home, "--json", "--repeat", "1", "--gamma", "sweep").stdout)
    assert sorted(str(side.gamma) for side in document.sides) == ["1", "11", "15", "3", "5", "7", "auto"]


def test_a_draft_that_does_not_fit_is_left_out_in_two_sentences(home: Path) -> None:
    scenario = Scenario(endless=True, misfits=("draft.gguf",))
    outcome = faked(home, "--draft", "draft.gguf", "--draft", "lookup", scenario=scenario)
    assert outcome.status == 0
    assert outcome.stderr.splitlines() == [
        "specchat: The target has 5 tokens and the draft 6.",
        "specchat: draft.gguf is left out.",
    ]
    assert "lookup, γ auto" in outcome.stdout
    assert "draft.gguf, γ" not in outcome.stdout


def test_a_reply_that_is_written_anew_is_told_of(home: Path) -> None:
    outcome = faked(home, "--json", "--repeat", "1", scenario=Scenario(endless=True, stalls=(1,)))
    assert outcome.stderr == "specchat: The machine stood still during a reply (letters), so that is written anew.\n"
    document = from_json(outcome.stdout)
    assert (document.stalls, len(document.runs)) == (1, 4)


def test_without_any_draft_that_fits_nothing_is_measured(home: Path) -> None:
    outcome = faked(home, "--draft", "draft.gguf", scenario=Scenario(misfits=("draft.gguf",)))
    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr.splitlines()[-1] == "specchat: Nothing was measured."


def test_an_engine_that_dies_leaves_what_was_measured(home: Path) -> None:
    scenario = Scenario(endless=True, dies_after=6)
    outcome = faked(home, "--json", scenario=scenario)
    document = from_json(outcome.stdout)
    assert outcome.status == 1
    assert outcome.stderr.startswith("specchat: The engine ended by itself")
    assert document.partial
    assert len(document.runs) == 5  # the first reply warmed up
    assert document.target.sha256 is None


def test_an_engine_that_dies_at_once_leaves_nothing(home: Path) -> None:
    outcome = faked(home, scenario=Scenario(faults=(Fault("start", "exit", 3),)))
    assert (outcome.status, outcome.stdout) == (1, "")
    assert "specchat: Nothing was measured." in outcome.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "none.gguf"), "There is no file none.gguf."),
        (("--draft", "prompts.toml"), "isn't a GGUF file"),
        (("--prompts", "none.toml"), "The prompts in none.toml can't be read"),
        (("--output", "no/such.json"), "since there is no folder no."),
        (("--plot", "folder.png"), "folder.png is a folder"),
    ],
)
def test_what_can_not_work_is_said_before_anything_is_measured(home: Path, words: tuple[str, str], said: str) -> None:
    (home / "folder.png").mkdir(exist_ok=True)
    outcome = run(home, "bench", *words)
    assert (outcome.status, outcome.stdout) == (1, "")
    assert said in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() == 0, reason="permissions don't hold root or Windows")
def test_a_folder_that_is_not_ones_own_is_said_before_too(home: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "can't be written: permission denied." in run(home, "bench", "--output", str(tmp_path / "r.json")).stderr


# ------------------------------------------------------------------ ctrl+C

needs_signals = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither these signals nor such terminals"
)


@needs_signals
def test_interrupted_it_reports_what_there_is_as_a_part(home: Path) -> None:
    scenario = Scenario(rate=500, real_time=True)
    command = specchat_with(fake_engine(scenario))
    terminal, stderr = os.openpty()
    words = ("bench", "--target", "target.gguf", "--prompts", "prompts.toml", "--repeat", "100", "--json")
    with started(home, *words, stderr=stderr, command=command) as process:
        os.close(stderr)
        read_until(terminal, b"6 of 400")
        engine = engine_of(process)
        process.send_signal(signal.SIGINT)
        outcome = rest(process)
        said = all_of(terminal).decode()
    os.close(terminal)
    document = from_json(outcome.stdout)
    assert outcome.status == 130
    assert document.partial
    assert 5 <= len(document.runs) < 400
    assert document.sides[0].overall.pairs >= 2
    assert gone(engine)
    assert "Traceback" not in said


@needs_signals
def test_interrupted_before_anything_was_measured_it_says_so(home: Path) -> None:
    command = specchat_with(fake_engine(Scenario(load_seconds=60)))
    terminal, stderr = os.openpty()
    with started(home, "bench", "--target", "target.gguf", stderr=stderr, command=command) as process:
        os.close(stderr)
        read_until(terminal, b"loading the target")
        process.send_signal(signal.SIGINT)
        outcome = rest(process)
    os.close(terminal)
    assert (outcome.status, outcome.stdout) == (130, "")


# ------------------------------------------------------------------ a real engine


@pytest.fixture(scope="module")
def real(home: Path) -> Document:
    """A benchmark of tiny models, with a draft and with lookup."""
    words = ("--draft", "draft.gguf", "--draft", "lookup", "--gamma", "3", "--repeat", "2", "--json")
    outcome = run(home, *REAL, *words)
    assert (outcome.status, outcome.stderr) == (0, "")
    return from_json(outcome.stdout)


def test_real_models_are_measured(real: Document) -> None:
    assert [(Path(side.draft).name, side.drafter, side.gamma) for side in real.sides] == [
        ("draft.gguf", "model", 3),
        ("lookup", "lookup", 3),
    ]
    assert len(real.runs) == 2 * 2 * 3
    for side in real.sides:
        for comparison in (*side.kinds.values(), side.overall):
            assert comparison.low is not None
            assert comparison.high is not None
            assert comparison.speed_up is not None
            assert comparison.low < comparison.speed_up < comparison.high
            assert comparison.without_draft.tokens_per_pass == 1
            assert comparison.without_draft.drafted == 0
    assert real.sides[0].overall.with_draft.drafted > 0
    assert real.sides[0].overall.with_draft.c is not None


def test_real_replies_have_their_length_and_the_same_seeds_on_all_sides(real: Document) -> None:
    assert {result.tokens for result in real.runs} == {12}
    assert {(result.repeat, result.seed) for result in real.runs} == {(0, 1), (1, 2)}
    assert all(result.stop_reason == "length" for result in real.runs)


def test_real_prompts_are_read_anew_each_time(real: Document) -> None:
    assert real.prompts.tokens.keys() == {"letters", "more"}
    assert all(result.seconds_prefill > 0 for result in real.runs)
    assert real.prompts.source.endswith("prompts.toml")


def test_real_figures_fit_their_runs(real: Document) -> None:
    for side in real.sides:
        for kind, comparison in side.kinds.items():
            speeds = [
                result.tokens_per_second or math.nan
                for result in real.runs
                if (result.draft, result.kind) == (side.draft, kind)
            ]
            mean = math.exp(sum(map(math.log, speeds)) / len(speeds))
            assert comparison.with_draft.tokens_per_second == pytest.approx(mean)
            assert comparison.with_draft.tokens == 24


def test_what_a_real_engine_tells_is_kept(real: Document, home: Path) -> None:
    assert real.versions.keys() >= {"specchat", "python", "llama-cpp-python"}
    assert real.target.path == str(home / "target.gguf")
    assert real.target.ctx == 128
    assert real.machine.cpu
    assert real.machine.backend
    assert real.target.costs is not None
    assert {cost.width for cost in real.target.costs.widths} >= {1, 4}


def test_a_real_target_that_can_not_take_back_guesses_has_nothing_to_measure(home: Path) -> None:
    outcome = run(home, "bench", "--target", "recurrent.gguf", "--prompts", "prompts.toml")
    assert outcome.status == 1
    assert outcome.stderr.splitlines()[0].endswith("can't take back tokens it has read, so no draft can guess for it.")
    assert outcome.stderr.splitlines()[-1] == "specchat: Nothing was measured."


def test_a_real_engine_chooses_gamma_itself(home: Path) -> None:
    outcome = run(home, *REAL, "--draft", "draft.gguf", "--repeat", "1", "--json")
    assert (outcome.status, outcome.stderr) == (0, "")
    [side] = from_json(outcome.stdout).sides
    assert (side.gamma, side.drafter) == ("auto", "both")
    assert side.overall.with_draft.tokens == 24
