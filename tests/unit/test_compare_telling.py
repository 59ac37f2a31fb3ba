"""A comparison in words, in JSON and in files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from specchat.app.bench.blocks import as_text
from specchat.app.bench.document import to_json
from specchat.app.bench.results import of_side
from specchat.app.bench.sides import LOOKUP, Side, Step
from specchat.app.compare import document as documents
from specchat.app.compare.difference import Difference, Word
from specchat.app.compare.document import Asked, Compared, Text, Told
from specchat.app.compare.export import export, file_stem
from specchat.app.compare.reason import reason_of
from specchat.app.compare.telling import blocks, verdict
from specchat.models.engine.messages import ChatMessage
from support.benches import DRAFT, PROMPTS, TARGET, make_document, make_runs
from support.json_schema import misfits

WORDS = (Word(" over", 14.25), Word(" under", 14.0), Word("\x1b[31m", 3.0))
PARTED = Difference(position=3, shared="The gull flew ", without="over", with_draft="under", words=WORDS)


def faster(factor: float):  # type: ignore[no-untyped-def]
    def rate(step: Step) -> float:
        noise = 1 + 0.01 * step.repeat
        return (10 * factor if step.side.draft else 10) * (noise if step.side.draft else 1)

    return rate


def compared(
    factor: float = 1.5, *, difference: Difference | None = None, same: bool | None = None, temperature: float = 0.0
) -> Compared:
    runs = make_runs(faster(factor), prompts=PROMPTS[:1])
    measured = make_document(runs, PROMPTS[:1])
    sampling = replace(measured.conditions.sampling, temperature=temperature)
    conditions = msgspec.structs.replace(measured.conditions, sampling=sampling, system="Be brief.")
    on, off = of_side(runs, Side(DRAFT, 3), ("code",))
    reason = reason_of((r for run in on for r in run.rounds), (r for run in off for r in run.rounds))
    return Compared(
        measured=msgspec.structs.replace(measured, conditions=conditions),
        prompts=(Asked(kind="code", text="Write ```code```.", before=(ChatMessage("user", "Hi\x1b[2J"),)),),
        sides=(Told(draft=DRAFT, gamma=3, reason=reason, difference=difference, same_text=same),),
        texts=tuple(Text(text="") for _run in runs),
    )


def said(found: Compared) -> str:
    return " ".join(as_text(verdict(found)).split())


def test_the_verdict_comes_with_its_interval_and_its_reason() -> None:
    text = said(compared())
    assert text.startswith("helps: 1.5")
    assert "why here pays if" in text
    assert "α 0.70 above" in text
    assert "A round made 3.0 guesses, brought 3.00 tokens" in text


def test_a_draft_that_hurts_is_given_other_things_to_try() -> None:
    text = said(compared(0.5))
    assert text.startswith("hurts: 0.5")
    assert "Try γ auto" in text
    assert "Try lookup" in text


def test_a_draft_that_helps_is_not_spoken_against() -> None:
    text = said(compared(4.0))
    assert "Try a smaller draft" not in text
    assert "no draft is the fastest" not in text


def test_above_temperature_0_it_says_why_texts_differ() -> None:
    assert "The distribution doesn't" in said(compared(temperature=0.8))


def test_at_temperature_0_the_first_difference_is_shown_with_the_gap_of_the_logits() -> None:
    text = said(compared(difference=PARTED, same=False))
    assert "part at token 4, after “The gull flew”: “over” without, “under” with the draft." in text
    assert "are 0.250 apart in logits. That is a near-tie" in text
    wide = msgspec.structs.replace(PARTED, words=(Word("a", 9.0), Word("b", 1.0)))
    assert "That is no near-tie" in said(compared(difference=wide, same=False))


@pytest.mark.parametrize(("same", "claims"), [(True, True), (None, False)])
def test_texts_are_called_the_same_only_where_they_were_compared(same: bool | None, claims: bool) -> None:
    assert ("the same text, token for token" in said(compared(same=same))) is claims


def test_what_holds_of_a_few_rounds_is_not_promised_for_all() -> None:
    one = compared(0.5)
    reason = one.sides[0].reason
    assert reason is not None and reason.share == 1
    assert "Try γ" in said(compared(0.95)) and "of the rounds" not in said(compared(0.95))
    few = msgspec.structs.replace(reason, share=0.25)
    text = said(msgspec.structs.replace(one, sides=(msgspec.structs.replace(one.sides[0], reason=few),)))
    assert "Guesses were made in 25 % of the rounds; all this is of those rounds alone." in text
    assert "by these figures" not in text


def test_of_several_drafts_each_is_named_where_its_text_is_spoken_of() -> None:
    drafts = (DRAFT, LOOKUP)
    runs = make_runs(faster(0.5), drafts, prompts=PROMPTS[:1])
    one = compared(0.5)
    told = tuple(
        Told(draft=draft, gamma=3, reason=one.sides[0].reason, difference=difference, same_text=difference is None)
        for draft, difference in zip(drafts, (None, PARTED), strict=True)
    )
    measured = msgspec.structs.replace(make_document(runs, PROMPTS[:1]), conditions=one.measured.conditions)
    text = said(msgspec.structs.replace(one, measured=measured, sides=told))
    assert "draft.gguf: At temperature 0 both sides wrote the same text" in text
    assert "lookup: The texts part at token 4" in text
    assert "Try lookup" not in text  # it was tried


def test_json_keeps_all_of_it_and_has_a_published_form() -> None:
    whole = compared(difference=PARTED, same=False)
    text = to_json(whole)
    assert documents.from_json(text) == whole
    schema = (Path(documents.__file__).parent / "compare.schema.json").read_text(encoding="utf-8")
    assert schema == documents.schema()
    assert misfits(json.loads(text), json.loads(schema)) == []


async def test_an_export_overwrites_nothing_and_holds_what_repeats_it(tmp_path: Path) -> None:
    whole = compared(difference=PARTED, same=False)
    first = await export(whole, tmp_path, lambda _done, _all: None)
    before = {path: path.read_bytes() for path in first}
    second = await export(whole, tmp_path, lambda _done, _all: None)
    assert [path.suffix for path in first] == [".md", ".json", ".svg", ".png"]
    assert len({*first, *second}) == 8
    assert all(path.read_bytes() == content for path, content in before.items())
    assert first[0].name.startswith("specchat-compare-") and "target-draft" in first[0].name
    markdown = first[0].read_text(encoding="utf-8")
    assert "````\nWrite ```code```.\n````" in markdown
    assert "Be brief." in markdown
    assert "seed 1" in markdown
    again = documents.from_json(first[1].read_bytes())
    assert (again.measured.target.path, again.measured.conditions.repeats) == (TARGET, 3)
    assert first[2].read_bytes().startswith(b"<?xml") and first[3].read_bytes().startswith(b"\x89PNG")


def test_a_name_holds_nothing_that_a_file_system_minds() -> None:
    whole = compared()
    target = msgspec.structs.replace(whole.measured.target, path="/x/a:b*c 漢?.gguf")
    stem = file_stem(msgspec.structs.replace(whole, measured=msgspec.structs.replace(whole.measured, target=target)))
    unpaired = msgspec.structs.replace(whole.measured, sides=())
    assert file_stem(msgspec.structs.replace(whole, measured=unpaired)).endswith("-target")
    assert set(stem) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")


def test_the_whole_report_says_how_it_was_measured() -> None:
    text = as_text(blocks(compared()))
    assert "How it was measured" in text
    assert "draft.gguf" in text
