"""The engine's session in this process, on tiny models: what it keeps between replies, and what it tells."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from specchat.models.engine.control import Control
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import (
    Change,
    Done,
    DrafterName,
    Event,
    Look,
    Measured,
    Notice,
    Position,
    Prefilled,
    Progress,
    Written,
)
from specchat.models.llama.context import Context
from specchat.settings.values import Sampling, Speculation
from support.talking import HOT, OTHER, PROMPT, THREE, Hear, Talk, talking, write_models


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Talk]:
    yield from talking(monkeypatch)


def after(written: int, act: Callable[[Control], object]) -> Hear:
    """Act once so many rounds were told of."""
    heard = itertools.count(1)

    def hear(event: Event, control: Control) -> None:
        if isinstance(event, Written) and next(heard) == written:
            act(control)

    return hear


# ------------------------------------------------------------------ switching


@pytest.mark.parametrize(
    ("drafter", "asleep", "change"),
    [
        ("model", replace(THREE, enabled=False), Change(enabled=True)),
        ("model", Speculation(gamma=0), Change(gamma=3)),
        ("none", THREE, Change(drafter="model")),
    ],
    ids=["switched off", "no guesses", "no drafter"],
)
@pytest.mark.parametrize(("prompt", "caught_up"), [(PROMPT, 0), (OTHER, len(OTHER) + 2)], ids=["same", "other"])
def test_a_draft_that_sat_out_the_beginning_joins_in(
    files: dict[str, Path],
    talk: Talk,
    drafter: DrafterName,
    asleep: Speculation,
    change: Change,
    prompt: str,
    caught_up: int,
) -> None:
    talk.load(files["target"], files["twin"])
    assert talk.ask(PROMPT).rounds[0].accepted == 3
    answer = talk.ask(prompt, drafter, asleep, tokens=19, hear=after(3, lambda control: control.change(change)))
    assert [len(round.guesses) for round in answer.rounds] == [0, 0, 0, 3, 3, 3, 3]
    assert [round.accepted for round in answer.rounds[3:]] == [3, 3, 3, 3]
    assert [round.caught_up for round in answer.rounds] == [0, 0, 0, caught_up, 1, 1, 1]
    assert answer.ids == talk.ask(prompt, "none", tokens=19).ids


def test_a_draft_reads_the_prompt_only_where_it_guesses_from_the_first_round_on(
    files: dict[str, Path], talk: Talk
) -> None:
    talk.load(files["target"], files["twin"])
    talk.ask(PROMPT, "model", Speculation(enabled=False))
    assert list(talk.loaded[1].context.tokens) == []
    assert talk.ask(PROMPT).rounds[0].caught_up == 0


# ------------------------------------------------------------------ what is kept between turns


def test_the_second_turn_goes_on_from_the_first_in_both_models(
    files: dict[str, Path], talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.load(files["target"], files["draft"])
    target, draft = (loaded.context for loaded in talk.loaded)
    first = talk.ask(["cxa"], sampling=HOT)
    assert talk.loaded[0].tokenizer.encode(first.text, special=False) != first.ids
    known = [*target.tokens, first.ids[-1]]
    held = list(draft.tokens)
    assert held == known[: len(held)]
    read = {target: 0, draft: 0}
    evaluate = Context.evaluate

    def counted(context: Context, tokens: Sequence[int], *arguments: object, **named: object) -> object:
        read[context] += len(tokens)
        return evaluate(context, tokens, *arguments, **named)  # type: ignore[arg-type]

    def look(event: Event, _control: Control) -> None:
        if isinstance(event, Prefilled):
            seen.append((list(target.tokens), list(draft.tokens), dict(read)))

    seen: list[tuple[list[int], list[int], dict[Context, int]]] = []
    monkeypatch.setattr(Context, "evaluate", counted)
    second = talk.ask(["cxa", first.text, "xbxdx"], sampling=HOT, hear=look)
    assert second.prefilled.tokens == len(known) + 5
    assert second.prefilled.reused == first.prefilled.tokens + len(first.ids) - 1
    ((target_tokens, draft_tokens, lately),) = seen
    assert target_tokens == draft_tokens
    assert target_tokens[: len(known)] == known
    assert lately == {target: 1 + 4, draft: len(known) + 4 - len(held)}


def test_an_edited_reply_is_read_anew_from_where_it_was_edited(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"])
    first = talk.ask(["cxa"], "none")
    second = talk.ask(["cxa", f"x{first.text}", "xbxdx"], "none")
    assert second.prefilled.reused == first.prefilled.tokens


def test_a_fresh_reply_reads_what_was_written_as_any_other_text(files: dict[str, Path], talk: Talk) -> None:
    """Of a reply's tokens the prompt of the next goes on with the very ids; read anew, two letters are one token."""
    talk.load(files["target"])
    first = talk.ask(["cxa"], "none", sampling=HOT)
    conversation = ["cxa", first.text, "xbxdx"]
    second = talk.ask(conversation, "none", fresh=True)
    assert second.prefilled.reused == 0
    assert second.prefilled.tokens < first.prefilled.tokens + len(first.ids) + 5
    assert second.prefilled.tokens == len(talk.loaded[0].tokenizer.encode("".join(conversation), special=False))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_fresh_reply_reuses_nothing_in_either_model(
    files: dict[str, Path], talk: Talk, monkeypatch: pytest.MonkeyPatch, fresh: bool
) -> None:
    talk.load(files["target"], files["draft"])
    target, draft = (loaded.context for loaded in talk.loaded)
    first = talk.ask(["cxa", "ab", "xbxdx"])
    assert list(draft.tokens)
    kept: list[tuple[list[int], list[int]]] = []
    evaluate = Context.evaluate

    def noted(context: Context, tokens: Sequence[int], *arguments: object, **named: object) -> object:
        kept.append((list(target.tokens), list(draft.tokens)))
        return evaluate(context, tokens, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Context, "evaluate", noted)
    again = talk.ask(["cxa", "ab", "xbxdx"], fresh=fresh)
    assert again.prefilled.reused == (0 if fresh else first.prefilled.tokens - 1)
    assert (kept[0] == ([], [])) is fresh
    assert again.ids == first.ids


# ------------------------------------------------------------------ loading


def test_a_draft_comes_and_goes_without_the_target(files: dict[str, Path], talk: Talk) -> None:
    assert talk.load(files["target"], files["twin"]) == ["target.gguf", "twin.gguf"]
    whole = talk.ask().ids
    assert talk.load(files["target"]) == []
    alone = talk.ask()
    assert (alone.ids, alone.rounds[0].guesses) == (whole, ())
    assert alone.prefilled.reused == alone.prefilled.tokens - 1
    assert talk.load(files["target"], files["twin"]) == ["twin.gguf"]
    assert talk.load(files["target"], files["twin"]) == []
    assert talk.load(files["target"], files["draft"]) == ["draft.gguf"]
    assert talk.ask().ids == whole


@pytest.mark.parametrize(
    ("name", "read"), [("target", ["target.gguf", "twin.gguf"]), ("twin", ["twin.gguf"])], ids=["target", "draft"]
)
@pytest.mark.parametrize("changed", ["size", "time"])
def test_a_changed_file_is_loaded_again(
    files: dict[str, Path], talk: Talk, tmp_path: Path, name: str, read: list[str], changed: str
) -> None:
    pair = {role: tmp_path / files[role].name for role in ("target", "twin")}
    for role, path in pair.items():
        shutil.copyfile(files[role], path)
    talk.load(pair["target"], pair["twin"])
    before = pair[name].stat()
    if changed == "size":
        with pair[name].open("ab") as file:
            file.write(bytes(32))
    later = before.st_mtime_ns + (2_000_000_000 if changed == "time" else 0)
    os.utime(pair[name], ns=(later, later))
    assert talk.load(pair["target"], pair["twin"]) == read
    assert talk.ask().rounds[0].accepted == 3


def test_without_models_nothing_is_written(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["twin"])
    talk.session.unload()
    with pytest.raises(EngineFailure) as caught:
        talk.ask()
    assert caught.value.code == "not_loaded"
    assert talk.load(files["target"]) == ["target.gguf"]
    assert talk.ask().done.stop_reason == "length"


# ------------------------------------------------------------------ ends


def test_stopping_while_the_prompt_is_read(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["twin"])

    def stop(event: Event, control: Control) -> None:
        if isinstance(event, Progress):
            control.stop()

    answer = talk.ask(OTHER, hear=stop)
    assert [type(event) for event in answer.events] == [Progress, Done, Measured]
    assert answer.done.stop_reason == "cancelled"
    assert talk.ask(OTHER).ids == talk.ask(OTHER, "none").ids


def test_stopping_in_the_reply(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["twin"])
    answer = talk.ask(["cxa"], hear=after(2, lambda control: control.stop()))
    assert (answer.done.stop_reason, len(answer.rounds), len(answer.text)) == ("cancelled", 2, 8)
    second = talk.ask(["cxa", answer.text, "xbxdx"])
    assert second.prefilled.reused == answer.prefilled.tokens + 8 - 1
    assert second.done.stop_reason == "length"


@pytest.mark.parametrize("drafter", ["none", "model"])
def test_a_stop_string_ends_the_reply(files: dict[str, Path], talk: Talk, drafter: DrafterName) -> None:
    talk.load(files["target"], files["twin"])
    whole = talk.ask(["cxa"], "none").text
    stop = whole[5:8]
    answer = talk.ask(["cxa"], drafter, stop=("xyz", stop))
    assert answer.done.stop_reason == "stop"
    assert answer.text == whole[: whole.index(stop)]
    assert len(answer.ids) == len(answer.text)
    assert talk.ask(["cxa", answer.text, "xbxdx"], drafter).done.stop_reason == "length"


# ------------------------------------------------------------------ models that can't


def test_a_draft_whose_arithmetic_breaks_is_left_out_and_named(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["broken"])
    answer = talk.ask()
    path = {"path": str(files["broken"])}
    assert answer.notices == [Notice("bad_logits", path), Notice("draft_left_out", path)]
    assert answer.ids == talk.ask(drafter="none").ids
    assert [round.width for round in answer.rounds] == [1] * 12


def test_a_target_that_cannot_roll_back_writes_plainly(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["mamba"])
    answer = talk.ask("abababab", "lookup", sampling=HOT)
    assert answer.notices == [Notice("no_rollback", {"path": str(files["mamba"])})]
    assert [round.width for round in answer.rounds] == [1] * 12
    assert talk.ask("abababab", "none").notices == []


def test_a_target_that_cannot_roll_back_gets_no_draft(files: dict[str, Path], talk: Talk) -> None:
    assert talk.load(files["mamba"], files["twin"]) == ["mamba.gguf"]
    notices = [event for event in talk.events if isinstance(event, Notice)]
    left_out = Notice("draft_left_out", {"path": str(files["twin"])})
    assert notices == [Notice("no_rollback", {"path": str(files["mamba"])}), left_out]


# ------------------------------------------------------------------ dice


def test_a_seed_repeats_a_reply(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["draft"])
    first, again = talk.ask(sampling=HOT, tokens=40), talk.ask(sampling=HOT, tokens=40)
    assert [(r.guesses, r.accepted, r.token) for r in first.rounds] == [
        (r.guesses, r.accepted, r.token) for r in again.rounds
    ]
    assert first.prefilled.seed == again.prefilled.seed == 7


def test_guesses_are_drawn_with_other_dice_than_the_targets_tokens(files: dict[str, Path], talk: Talk) -> None:
    """With the same, the twin's first guess would be the target's first token, whatever the seed."""
    talk.load(files["target"], files["twin"])
    firsts = []
    for seed in range(8):
        sampling = Sampling(temperature=1, top_k=0, top_p=1, min_p=0, seed=seed)
        firsts.append([talk.ask(drafter=name, sampling=sampling, tokens=2).ids[0] for name in ("model", "none")])
    assert any(guessed != drawn for guessed, drawn in firsts)


# ------------------------------------------------------------------ looking back


def test_what_was_known_at_a_token_can_be_looked_at_until_the_next_reply(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["draft"])
    with pytest.raises(EngineFailure, match="position_unknown"):
        talk.session.look(Look(7, 0))
    answer = talk.ask(PROMPT, sampling=HOT)
    piece = talk.loaded[0].tokenizer.piece
    for number, token in enumerate(answer.ids):
        talk.session.look(Look(7, number))
        position = talk.events[-1]
        assert isinstance(position, Position)
        assert (position.id, position.token) == (7, token)
        assert {word.token: word.piece for word in position.words}[token] == piece(token)
        assert sum(word.p for word in position.words) + position.rest_p == pytest.approx(1, abs=1e-5)
        chances = [word.p for word in position.words]
        assert chances == sorted(chances, reverse=True)
    with pytest.raises(EngineFailure, match="position_unknown"):
        talk.session.look(Look(8, len(answer.ids)))
    talk.ask(OTHER, tokens=2)
    with pytest.raises(EngineFailure, match="position_unknown"):
        talk.session.look(Look(9, 2))
    talk.session.unload()
    with pytest.raises(EngineFailure, match="not_loaded"):
        talk.session.look(Look(10, 0))


def test_what_a_stop_string_cuts_off_has_no_position(files: dict[str, Path], talk: Talk) -> None:
    talk.load(files["target"], files["twin"])
    whole = talk.ask(PROMPT, sampling=HOT)
    stopped = talk.ask(PROMPT, sampling=HOT, stop=(whole.text[2:8],))
    assert len(stopped.ids) == 2
    talk.session.look(Look(7, len(stopped.ids) - 1))
    with pytest.raises(EngineFailure, match="position_unknown"):
        talk.session.look(Look(8, len(stopped.ids)))
