"""A benchmark's report in every form, from runs whose speeds are known."""

from __future__ import annotations

import csv
import json
import random
import re
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len

from specchat.app.bench import document, sheet
from specchat.app.bench.blocks import WIDTH, as_markdown, as_text
from specchat.app.bench.document import Document, from_json, to_json
from specchat.app.bench.prompts import Prompt, builtin_prompts
from specchat.app.bench.report import best_told, blocks, by_draft, verdict_sentence
from specchat.app.bench.results import compare
from specchat.app.bench.sides import LOOKUP, Step
from support.benches import DRAFT, make_document, make_runs
from support.json_schema import misfits

GAINS = {"": 1.0, DRAFT: 1.5, LOOKUP: 0.5}
SCHEMA = Path(document.__file__).with_name("bench.schema.json")


def rate(step: Step) -> float:
    """A speed that differs a little from repeat to repeat, and by the side."""
    uneven = 1 + 0.02 * ((step.repeat + step.prompt.text.count("e") + len(step.side.draft)) % 3)
    return 20 * GAINS[step.side.draft] * uneven


@pytest.fixture(scope="module")
def usual() -> Document:
    return make_document(make_runs(rate, [DRAFT, LOOKUP]))


@pytest.fixture(scope="module")
def swept() -> Document:
    prompts = builtin_prompts()
    return make_document(make_runs(rate, [DRAFT, LOOKUP], "sweep", prompts, 2), prompts)


def text(of: Document) -> str:
    return as_text(blocks(of))


# ------------------------------------------------------------------ for a terminal


def test_the_verdicts_come_first(usual: Document) -> None:
    lines = text(usual).splitlines()
    draft, lookup = (next(i for i, line in enumerate(lines) if line.startswith(name)) for name in ("draft", "lookup"))
    assert (draft, lookup) == (3, 4)
    assert re.fullmatch(r"draft\.gguf, γ 3  helps: 1\.\d\d× \(1\.\d\d–1\.\d\d\)", lines[draft])
    assert re.fullmatch(r"lookup, γ 3      hurts: 0\.\d\d× \(0\.\d\d–0\.\d\d\)", lines[lookup])


def test_it_is_readable_at_80_columns(usual: Document, swept: Document) -> None:
    for of in (usual, swept):
        assert max(map(cell_len, text(of).splitlines())) <= WIDTH


def test_a_kinds_row_has_its_figures(usual: Document) -> None:
    rows = [line.split() for line in text(usual).splitlines() if line.startswith("code ")]
    code = usual.sides[0].kinds["code"]
    assert rows[0][1:3] == [f"{code.with_draft.tokens_per_second:.1f}", f"{code.without_draft.tokens_per_second:.1f}"]
    assert rows[0][3:6] == [f"{code.speed_up:.2f}×", f"{code.low:.2f}–{code.high:.2f}", "helps"]
    assert rows[1] == ["code", "0.70", "0.10", "67", "%", "3.00", "100", "100", "0"]
    assert rows[2][1:9] == ["20", "%", "70", "%", "5", "%", "5", "%"]


def test_what_makes_it_repeatable_is_told(usual: Document) -> None:
    said = " ".join(text(usual).split())
    assert "temperature 0.8 · top-k 40 · top-p 0.95 · min-p 0.05 · seed 1" in said
    assert "128 tokens · 3 repeats · block rule" in said
    assert "1: 77.0 · 2: 132.0 · 4: 120.0 · 8: 195.0 · 16: 297.0" in said
    assert "A processor" in said
    assert "sha256 abababababababab…" in said
    assert "The draft takes 300 MiB." in said


def test_a_sweep_shows_speeds_by_gamma_and_tells_of_auto_in_full(swept: Document) -> None:
    said = text(swept)
    assert re.search(r"^kind +0 +1 +3 +5 +7 +11 +15 +auto$", said, re.MULTILINE)
    assert re.search(r"^γ +speed-up +95 % interval", said, re.MULTILINE)
    assert said.count("\ndraft.gguf, γ auto\n") == 1
    assert "\ndraft.gguf, γ 7\n" not in said


def test_the_fastest_of_a_row_has_a_star(swept: Document) -> None:
    row = next(line for line in text(swept).splitlines() if line.startswith("story "))
    speeds = [side.kinds["story"].with_draft.tokens_per_second for side in by_draft(swept.sides)[DRAFT]]
    assert max(speed for speed in speeds if speed) == pytest.approx(float(row.split("*")[0].split()[-1]), abs=0.05)


def test_one_repeat_is_said_to_have_no_interval() -> None:
    said = text(make_document(make_runs(rate, repeats=1)))
    assert "one repeat, which can't tell how sure that is" in said
    assert "Nothing was repeated, so there are no intervals; --repeat 3 gives them." in said


def test_a_part_is_called_one_and_shows_what_there_is() -> None:
    runs = make_runs(rate)
    assert "Partial: " in text(make_document(runs[:7], partial=True))
    said = text(make_document(runs[:1], partial=True))
    assert "Nothing can be compared" in said
    assert "128 tokens" in said


def test_what_comes_from_files_and_prompts_cannot_reach_the_terminal() -> None:
    evil = Prompt("\x1b]0;gotcha\x07a very long name indeed | [x](y)", "x")
    runs = make_runs(lambda _: 20.0, ["/tmp/\x1b[2Jd|raft.gguf"], prompts=[evil])
    of = make_document(runs, [evil])
    for said in (text(of), as_markdown(blocks(of)), sheet.as_csv(of), to_json(of)):
        assert "\x1b" not in said
        assert "\x07" not in said
    assert max(map(cell_len, text(of).splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ({"": 1.0, DRAFT: 1.5}, r"helps: 1\.\d\d× \(1\.\d\d–1\.\d\d\)"),
        ({"": 1.0, DRAFT: 0.7}, r"hurts: 0\.\d\d× \(0\.\d\d–0\.\d\d\)"),
        ({"": 1.0, DRAFT: 1.001}, r"no clear difference: \d\.\d\d× \(0\.\d\d–1\.\d\d\)"),
    ],
)
def test_the_verdict_in_words(gains: dict[str, float], said: str) -> None:
    noise = random.Random(1)
    [side] = compare(make_runs(lambda step: 20 * gains[step.side.draft] * noise.uniform(0.98, 1.02)))
    assert re.fullmatch(said, verdict_sentence(side.overall))


def test_without_auto_the_fastest_side_is_told_of() -> None:
    speeds = {0: 10.0, 1: 12.0, 3: 15.0, 5: 11.0}
    runs = [run for gamma in (1, 3, 5) for run in make_runs(lambda step: speeds[int(step.side.gamma)], [DRAFT], gamma)]
    assert best_told(compare(runs)).gamma == 3


# ------------------------------------------------------------------ Markdown, CSV


def test_markdown_tables_are_tables(usual: Document) -> None:
    said = as_markdown(blocks(usual))
    tables = re.findall(r"(?:^\|.*\|\n)+", said, re.MULTILINE)
    assert len(tables) == 3 * 2
    for table in tables:
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
        assert len({len(row) for row in rows}) == 1
        assert all(re.fullmatch(r" ---:? ", cell) for cell in rows[1])
    assert "- draft.gguf, γ 3: helps: 1." in said


def test_csv_has_a_line_for_each_side_and_kind(usual: Document) -> None:
    rows = list(csv.DictReader(StringIO(sheet.as_csv(usual))))
    assert [(row["draft"], row["kind"]) for row in rows] == [
        (draft, kind) for draft in (DRAFT, LOOKUP) for kind in ("code", "story", sheet.ALL_KINDS)
    ]
    first, code = rows[0], usual.sides[0].kinds["code"]
    assert float(first["speed_up"]) == code.speed_up
    assert float(first["draft_tokens_per_second"]) == code.with_draft.tokens_per_second
    assert float(first["plain_tokens_per_second"]) == code.without_draft.tokens_per_second
    assert first["draft_acceptance_by_position"] == "1.0000 1.0000 0.0000"
    assert first["plain_acceptance_rate"] == ""


def test_csv_of_nothing_is_a_heading_alone() -> None:
    assert sheet.as_csv(make_document(make_runs(rate)[:1], partial=True)) == "target\n"


# ------------------------------------------------------------------ JSON


def test_json_comes_back_as_it_was(usual: Document, swept: Document) -> None:
    for of in (usual, swept):
        assert from_json(to_json(of)) == of


def test_json_says_what_it_is(usual: Document) -> None:
    raw = json.loads(to_json(usual))
    assert (raw["schema"], raw["version"]) == ("specchat.bench", 1)
    assert raw["target"]["costs"]["widths"][2] == {"width": 4, "seconds": 0.12, "count": 5}
    assert raw["target"]["sha256"] == "ab" * 32
    assert [side["draft"] for side in raw["sides"]] == [DRAFT, LOOKUP]
    assert len(raw["runs"]) == 2 * 3 * 3
    assert raw["conditions"]["repeats"] == 3
    assert raw["prompts"]["tokens"] == {"code": 20, "story": 20}


def test_the_schema_that_is_shipped_is_that_of_the_code() -> None:
    """`python -c "from specchat.app.bench.document import *; print(schema(), end='')"` writes it anew."""
    assert SCHEMA.read_text(encoding="utf-8") == document.schema()


def test_what_is_written_fits_the_schema(usual: Document, swept: Document) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for of in (usual, swept, make_document(make_runs(rate)[:1], partial=True)):
        assert misfits(json.loads(to_json(of)), schema) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("schema",), "other"),
        (("sides", 0, "gamma"), "often"),
        (("sides", 0, "overall", "verdict"), "perhaps"),
        (("target", "size"), "big"),
        (("runs", 0, "seconds"), None),
    ],
)
def test_what_does_not_fit_is_refused(usual: Document, path: tuple[str | int, ...], value: object) -> None:
    raw = json.loads(to_json(usual))
    holder = raw
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    with pytest.raises(msgspec.ValidationError):
        from_json(json.dumps(raw))
    assert misfits(raw, json.loads(SCHEMA.read_text(encoding="utf-8"))) != []
