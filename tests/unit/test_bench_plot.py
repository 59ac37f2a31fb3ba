"""The picture of a benchmark: what is in it, and that both kinds of file are drawn."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from specchat.app.bench.document import Document
from specchat.app.bench.plot import between, draw, papers_curve, save_plot
from specchat.app.bench.report import by_draft
from specchat.app.bench.sides import LOOKUP, Step
from support.benches import DRAFT, V, make_document, make_runs


def rate(step: Step) -> float:
    """Speeds that fall with γ, differ between prompts, and are a little uneven."""
    gamma = 4 if step.side.gamma == "auto" else step.side.gamma
    return (30 - gamma) * (1 + 0.03 * ((step.repeat + len(step.prompt.text)) % 3))


@pytest.fixture(scope="module")
def swept() -> Document:
    return make_document(make_runs(rate, [DRAFT, LOOKUP], "sweep"))


@pytest.fixture(scope="module")
def usual() -> Document:
    return make_document(make_runs(rate, [DRAFT]))


def test_a_panel_of_speed_ups_and_one_for_each_swept_draft(usual: Document, swept: Document) -> None:
    assert len(draw(usual).axes) == 1
    titles = [axes.get_title() for axes in draw(swept).axes]
    assert titles == ["", "draft.gguf", "lookup"]


def test_speed_ups_are_where_they_belong(usual: Document) -> None:
    [axes] = draw(usual).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["code", "story", "all"]
    drawn = {container[0].get_ydata()[0]: container[0].get_xdata()[0] for container in axes.containers}  # type: ignore[index]
    [side] = usual.sides
    assert drawn == pytest.approx(
        {0: side.kinds["code"].speed_up, 1: side.kinds["story"].speed_up, 2: side.overall.speed_up}
    )


def test_a_sweep_has_the_measured_speeds_auto_plain_and_the_papers_curve(swept: Document) -> None:
    _, draft, lookup = draw(swept).axes
    lines = {str(line.get_label()): line for line in draft.get_lines()}
    assert set(lines) == {"measured, γ fixed", "plain decoding", "γ auto", "papers' formula"}
    sides = by_draft(swept.sides)[DRAFT]
    assert list(lines["measured, γ fixed"].get_xdata()) == [0, 1, 3, 5, 7, 11, 15]
    speeds = [sides[0].overall.without_draft, *(side.overall.with_draft for side in sides[:-1])]
    assert list(lines["measured, γ fixed"].get_ydata()) == [figures.tokens_per_second for figures in speeds]
    assert next(iter(lines["γ auto"].get_ydata())) == sides[-1].overall.with_draft.tokens_per_second
    assert "papers' formula" not in {line.get_label() for line in lookup.get_lines()}


def test_the_papers_curve_is_their_formula_on_measured_costs(swept: Document) -> None:
    curve = papers_curve(by_draft(swept.sides)[DRAFT][:-1], swept.target)
    assert list(curve) == list(range(16))
    assert curve[0] == pytest.approx(1 / V[1])
    assert curve[3] == pytest.approx((1 - 0.7**4) / (1 - 0.7) / (3 * 0.1 * V[1] + V[4]))
    assert papers_curve(by_draft(swept.sides)[LOOKUP][:-1], swept.target) == {}


def test_costs_are_on_straight_lines_between_the_measured_ones_and_unknown_beyond() -> None:
    assert between(V, 6) == pytest.approx((V[4] + V[8]) / 2)
    assert (between(V, 8), between(V, 17), between({}, 1)) == (V[8], None, None)


@pytest.mark.parametrize("name", ["bench.svg", "bench.PNG"])
def test_both_kinds_of_file_are_drawn(name: str, swept: Document, tmp_path: Path) -> None:
    path = tmp_path / name
    save_plot(swept, path)
    drawn = path.read_bytes()
    assert drawn.startswith(b"\x89PNG" if name.endswith("PNG") else b"<?xml")
    if name.endswith("svg"):
        assert {"code", "story", "all"} <= set(re.findall(r"<text[^>]*>([^<]*)</text>", drawn.decode()))


def test_the_same_result_gives_the_same_svg(usual: Document, tmp_path: Path) -> None:
    one, other = tmp_path / "a.svg", tmp_path / "b.svg"
    save_plot(usual, one)
    save_plot(usual, other)
    assert one.read_bytes() == other.read_bytes()


def test_names_with_dollars_are_no_formulas(tmp_path: Path) -> None:
    save_plot(make_document(make_runs(rate, ["/m/$x$ frac$.gguf"])), tmp_path / "a.svg")
    assert "$x$" in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("of", [1, 0])
def test_a_part_can_be_drawn_too(of: int, tmp_path: Path) -> None:
    runs = make_runs(rate)[: 4 if of else 1]
    save_plot(make_document(runs, partial=True), tmp_path / "part.png")
    assert (tmp_path / "part.png").stat().st_size > 1000


def test_matplotlib_is_imported_for_a_picture_only() -> None:
    code = "import sys, specchat.app.bench.command; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0
