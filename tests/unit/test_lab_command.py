"""`specchat lab` without a screen: numbers, pictures, wrong input."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from specchat.app.main import main

NOT_OF_PAGE = "--alpha is no slider of figure 1; `specchat lab --help` says whose it is."


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECCHAT_HOME", str(tmp_path))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["lab", "--print", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_numbers_of_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "1", "--others", "12")["checking"] == 65
    assert printed(capsys, "2")["passes_without"] == 10
    assert printed(capsys, "2", "--text", "verse")["passes_simulated"] == pytest.approx(5.3, abs=0.05)
    assert printed(capsys, "2", "--text", "verse", "--guesser", "good")["draft"] == "good"
    assert printed(capsys, "3")["alpha"] == 0.67
    assert printed(capsys, "3", "--similarity", "0.6")["tokens_per_pass"] == pytest.approx(3.94, abs=0.005)
    four = printed(capsys, "4", "--alpha", "0.3", "--c", "0.5", "--gamma", "4")
    assert four["speed_up"] == pytest.approx(0.475, abs=1e-3)
    assert four["can_help"] is False
    assert len(printed(capsys, "5")["questions"]) == 3  # type: ignore[arg-type]
    assert len(printed(capsys, "6")["variants"]) == 5  # type: ignore[arg-type]


def test_numbers_as_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--print", "4"]) == 0
    assert "best_gamma  4" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("page", range(1, 7))
def test_a_figure_as_svg(tmp_path: Path, page: int) -> None:
    file = tmp_path / "figure.svg"
    assert main(["lab", "--print", str(page), "--svg", str(file)]) == 0
    root = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    assert root.tag.endswith("svg")
    assert len(list(root)) > 10
    assert "http://www.w3.org/2000/svg" in file.read_text(encoding="utf-8")
    assert file.read_text(encoding="utf-8").count("http") == 1, "something is fetched from elsewhere"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--print", "7"), "There is no figure 7; they are numbered from 1 to 6."),
        (("--print", "one"), "There is no figure one; they are numbered from 1 to 6."),
        (("--print",), "--print needs a value."),
        (("--print", "4", "--alpha", "1.5"), "--alpha takes a number from 0 to 1, not 1.5."),
        (("--print", "4", "--alpha", "nan"), "--alpha takes a number from 0 to 1, not nan."),
        (("--print", "4", "--gamma", "0"), "--gamma takes a whole number from 1 to 12, not 0."),
        (("--print", "4", "--c", "-1"), "--c takes a number from 0 to 10, not -1.0."),
        (("--print", "2", "--text", "prose"), '--text takes one of days, verse, not "prose".'),
        (("--alpha", "0.5"), "--json, --svg and a figure's sliders need --print with the figure's number."),
        (("--print", "1", "--alpha", "0.5"), NOT_OF_PAGE),
        (("--print", "2", "--gamma", "9"), "--gamma takes a whole number from 1 to 8, not 9."),
        (("--json",), "--json, --svg and a figure's sliders need --print with the figure's number."),
        (("--gama", "3"), "There is no option --gama here; did you mean --gamma?"),
        (("now",), "now is one argument too many: `specchat lab` takes options alone."),
    ],
)
def test_wrong_input_gets_one_sentence(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str) -> None:
    assert main(["lab", *words]) == 2
    assert capsys.readouterr().err.strip() == f"specchat: {said}"


def test_a_picture_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--print", "4", "--svg", str(tmp_path / "none" / "x.svg")]) == 1
    assert "can't be written" in capsys.readouterr().err


def test_without_a_terminal_it_says_what_works(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab"]) == 2
    assert "specchat lab --print 1" in capsys.readouterr().err
