"""What is kept of measurements, what is known of a pair, and the drafts that used to be better."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from specchat.app.bench.results import of_side
from specchat.app.bench.sides import LOOKUP, Side
from specchat.app.chats.records import Message, Setup, Step
from specchat.app.chats.store import Store
from specchat.app.compare.candidates import find_candidates
from specchat.app.history.archive import Archive, keep_in, measurement
from specchat.app.history.chat_sums import chat_sums
from specchat.app.history.collapse import Collapse
from specchat.app.history.files import as_csv, as_json
from specchat.app.history.kinds import PASTED, kind_of
from specchat.app.history.known import read_known
from specchat.app.history.reading import read_history
from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round
from support.benches import DRAFT, PROMPTS, READY, make_document, make_runs
from support.rounds import make_round

SETUP = Setup("target.gguf", 10, "draft.gguf", 5, "A processor · CPU")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = Store(tmp_path / "chats.db")
    assert await store.open() is None
    yield store
    await store.close()


async def keep(store: Store, factor: float = 2.0, *, partial: bool = False, prompts: int = 2) -> int:
    runs = make_runs(lambda step: 10 * (factor if step.side.draft else 1), prompts=PROMPTS[:prompts])
    document = make_document(runs, PROMPTS[:prompts], partial=partial)
    return await Archive(store).keep(measurement("bench", document, runs, READY))


async def test_a_benchmark_is_kept_by_kind_and_as_a_whole(store: Store) -> None:
    await keep(store)
    entries = await Archive(store).entries()
    assert [entry.kind for entry in entries] == ["code", "story", ""]
    for entry in entries:
        assert entry.speed_up == pytest.approx(2)
        assert (entry.verdict, entry.gamma, entry.guesser, entry.source) == ("helps", "3", "model", "bench")
        assert (entry.setup.target, entry.setup.draft, entry.setup.machine) == (
            "target.gguf",
            "draft.gguf",
            "A processor · CPU",
        )


async def test_the_kept_counters_are_those_of_the_rounds(store: Store) -> None:
    runs = make_runs(lambda step: 20 if step.side.draft else 10)
    await Archive(store).keep(measurement("compare", make_document(runs), runs, READY))
    for entry in await Archive(store).entries():
        on, off = of_side(runs, Side(DRAFT, 3), [entry.kind] if entry.kind else ["code", "story"])
        assert entry.on == count(round for run in on for round in run.rounds)
        assert entry.off == count(round for run in off for round in run.rounds)
    kept = await store.work(lambda database: database.execute("SELECT counters FROM runs ORDER BY number").fetchall())
    assert [json.loads(counters)["tokens"] for (counters,) in kept] == [count(run.rounds).tokens for run in runs]


async def test_the_document_is_there_again(store: Store) -> None:
    bench = await keep(store)
    kept = await Archive(store).document(bench)
    assert kept is not None and json.loads(kept)["schema"] == "specchat.bench"
    assert await Archive(store).document(bench + 1) is None


async def test_what_can_not_be_read_is_passed_over(store: Store) -> None:
    await keep(store)
    await store.work(lambda database: database.execute("UPDATE comparisons SET counters_on = x'ff' WHERE kind = ''"))
    await store.work(lambda database: database.execute("UPDATE comparisons SET verdict = 7 WHERE kind = 'code'"))
    assert [entry.kind for entry in await Archive(store).entries()] == ["story"]


async def test_a_file_that_takes_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "chats.db").write_bytes(b"no database at all, but long enough to be one" * 20)
    runs = make_runs(lambda _step: 10)
    problem = await keep_in(tmp_path / "chats.db", measurement("bench", make_document(runs), runs, READY))
    assert problem is not None and problem.code == "store_damaged"


# ------------------------------------------------------------------ what is known


async def test_the_latest_whole_measurement_of_a_pair_is_known(store: Store, tmp_path: Path) -> None:
    for factor, partial in ((1.5, False), (2.0, False), (3.0, True)):
        await keep(store, factor, partial=partial)
    [entry, *_rest] = await Archive(store).entries()
    target, draft = tmp_path / "target.gguf", tmp_path / "draft.gguf"
    assert (await read_known(store)).speed_up(target, draft) is None  # other files of these names
    for path, size in ((target, entry.setup.target_size), (draft, entry.setup.draft_size)):
        with path.open("wb") as file:
            file.truncate(size)
    known = await read_known(store)
    assert known.speed_up(target, draft) == pytest.approx(2.0)
    assert known.points(target, draft) == [(3, pytest.approx(2.0))]
    assert known.speed_up(target, None) is None
    assert known.points(target, None) == []
    offered = {candidate.draft: candidate.known for candidate in find_candidates(target, str(draft), known)}
    assert offered == {str(draft): pytest.approx(2.0), LOOKUP: None}  # what the picker shows, too


def test_drafts_to_try_lie_beside_those_in_use(tmp_path: Path) -> None:
    for name, size in (("target.gguf", 100), ("draft.gguf", 10), ("small.gguf", 5), ("huge.gguf", 200), ("x.txt", 1)):
        (tmp_path / name).write_bytes(b"x" * size)
    found = find_candidates(tmp_path / "target.gguf", str(tmp_path / "draft.gguf"))
    assert [Path(candidate.draft).name for candidate in found] == ["draft.gguf", LOOKUP, "small.gguf"]


async def test_drafts_that_were_measured_are_known_wherever_they_lie(store: Store, tmp_path: Path) -> None:
    await keep(store)
    assert await Archive(store).drafts("target.gguf") == (DRAFT,)
    assert await Archive(store).drafts("another.gguf") == ()
    elsewhere = tmp_path / "elsewhere.gguf"
    (tmp_path / "target.gguf").write_bytes(b"xx")
    elsewhere.write_bytes(b"x")
    found = find_candidates(tmp_path / "target.gguf", LOOKUP, None, [str(elsewhere), DRAFT])
    assert [candidate.draft for candidate in found] == [LOOKUP, str(elsewhere)]  # the other isn't there any more


# ------------------------------------------------------------------ sums of chats


async def say(store: Store, prompt: str, *rounds: Round, setup: Setup | None = SETUP) -> None:
    chat, _said = await store.start_chat("", prompt)
    steps = tuple(Step(round, ()) for round in rounds)
    await store.save(Message(0, chat.id, "assistant", "…", "whole", steps, "end", "target.gguf", setup))


async def test_sums_are_by_setup_drafter_and_kind(store: Store) -> None:
    model, plain = make_round(3, 2), make_round(0, 0, on=False)
    lookup = replace(model, drafter="lookup")
    await say(store, "Hi", model, plain)
    await say(store, "Hi again", model)
    await say(store, "```x```", lookup)
    await say(store, "both", model, lookup)
    await say(store, "off", plain)
    await say(store, "old", model, setup=None)
    sums = {(row.setup, row.guesser, row.kind): row for row in await chat_sums(store)}
    assert set(sums) == {
        (SETUP, "model", "chat"),
        (SETUP, "lookup", "code"),
        (SETUP, "both", "chat"),
        (SETUP, "none", "chat"),
        (Setup("target.gguf"), "model", "chat"),
    }
    first = sums[SETUP, "model", "chat"]
    assert (first.replies, first.on, first.off) == (2, count([model, model]), count([plain]))


@pytest.mark.parametrize(
    ("prompt", "reply", "kind"),
    [("Hi", "Hello", "chat"), ("Hi", "```x```", "code"), ("x" * PASTED, "", "pasted"), ("漢字", "", "chat")],
)
def test_kinds_need_no_language(prompt: str, reply: str, kind: str) -> None:
    assert kind_of(prompt, reply) == kind


async def test_json_and_csv_hold_both(store: Store) -> None:
    await keep(store, prompts=1)
    await say(store, "Hi", make_round(3, 2), make_round(0, 0, on=False))
    history = await read_history(store)
    document = json.loads(as_json(history))
    assert (document["schema"], document["version"]) == ("specchat.history", 1)
    assert document["measured"][0]["speed_up"] == pytest.approx(2)
    assert document["chats"][0]["on"]["accepted"] == 2
    rows = list(csv.DictReader(io.StringIO(as_csv(history))))
    assert [row["source"] for row in rows] == ["bench", "chat"]
    assert (rows[0]["verdict"], rows[1]["on_accepted"], rows[1]["off_tokens"]) == ("helps", "2", "1")
    assert rows[1]["on_speed_up"] and not rows[1]["off_speed_up"]  # nothing was guessed that could be estimated


# ------------------------------------------------------------------ a draft that collapses


def of_alpha(alpha: float) -> Round:
    return replace(make_round(10, 5), alpha_sum=10 * alpha, alpha_weight=10.0)


@pytest.mark.parametrize(
    ("before", "now", "rounds", "tells"),
    [(0.8, 0.3, 10, True), (0.8, 0.5, 10, False), (0.8, 0.3, 9, False)],
    ids=["collapsed", "another kind of text", "too few guesses"],
)
async def test_a_draft_that_collapses_is_told_of_once(
    store: Store, before: float, now: float, rounds: int, tells: bool
) -> None:
    await say(store, "Hi", *[of_alpha(before)] * 30)
    watch = Collapse()
    await watch.remember(store, SETUP)
    for _round in range(rounds):
        watch.add(SETUP, of_alpha(now))
    found = watch.take(SETUP)
    assert found == ((pytest.approx(now), pytest.approx(before)) if tells else None)
    assert watch.take(SETUP) is None


async def test_nothing_is_said_without_a_history_of_the_same_pair(store: Store) -> None:
    await say(store, "Hi", *[of_alpha(0.9)] * 30, setup=replace_draft("other.gguf"))
    watch = Collapse()
    await watch.remember(store, SETUP)
    for _round in range(20):
        watch.add(SETUP, of_alpha(0.1))
    assert watch.take(SETUP) is None


def replace_draft(name: str) -> Setup:
    return Setup(SETUP.target, SETUP.target_size, name, 5, SETUP.machine)
