"""One chat with one engine: what is said, kept, stopped and lost. The engine plays scenarios, but for the last test."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from specchat.app.chats import growing, schema
from specchat.app.chats.records import Message, StoreError
from specchat.app.chats.store import Store
from specchat.app.conversation import Conversation
from specchat.models.decoding.counters import count
from specchat.models.engine.client import COMMAND
from specchat.models.engine.errors import EngineDied
from specchat.models.engine.messages import Done, Event, Loaded, Notice, Prefilled, Progress, Written
from specchat.models.files.bundled import bundled_model
from specchat.settings.values import MAX_GAMMA, ModelOptions, Reply, Sampling, Settings, Speculation
from support import dying_chat
from support.conversing import QUESTION, SECONDS, conversing, kept, until_written, written_by
from support.fake_engine import TEXT, Fault, Scenario, fake_engine

ENDLESS = Scenario(endless=True, rate=500, real_time=True)
SAID = f"user: {QUESTION}"


def kinds(events: list[Event]) -> list[type[Event]]:
    """The kinds of `events`, each once, in the order of their first."""
    return list(dict.fromkeys(type(event) for event in events))


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Written | Done))


# -------------------------------------------------------------------- when all goes well


async def test_two_turns(tmp_path: Path) -> None:
    settings = Settings(reply=Reply(system="Be brief."), sampling=Sampling(seed=7))
    async with conversing(tmp_path, settings=settings) as scene:
        first = await scene.say()
        assert [kind for kind in kinds(first) if kind.__name__ != "Alive"] == [
            Progress,
            Loaded,
            Prefilled,
            Written,
            Done,
        ]
        assert text_of(first) == TEXT
        assert any(isinstance(event, Prefilled) and event.seed == 7 for event in first)
        assert Loaded not in kinds(await scene.say("And 8?"))
        system = "system: Be brief."
        assert scene.engine.prompts == [[system, SAID], [system, SAID, f"assistant: {TEXT}", "user: And 8?"]]

        said = scene.messages
        assert [(message.role, message.state, message.stop_reason) for message in said] == [
            ("user", "whole", ""),
            ("assistant", "whole", "end"),
        ] * 2
        rounds = [(event.round, event.pieces) for event in first if isinstance(event, Written)]
        assert [(step.round, step.pieces) for step in said[1].steps] == rounds
        assert await scene.kept() == said
        assert [chat.title for chat in await scene.conversation.store.list_chats()] == [QUESTION]


async def test_the_reply_is_kept_and_at_hand_before_done(tmp_path: Path) -> None:
    async with conversing(tmp_path) as scene:
        seen = [list(scene.messages) async for event in scene.conversation.send(QUESTION) if isinstance(event, Done)]
        assert [message.content for message in seen[0]] == [QUESTION, TEXT]
        assert await scene.kept() == seen[0]


async def test_what_was_typed_is_kept_before_the_engine_hears_of_it(tmp_path: Path) -> None:
    async with conversing(tmp_path) as scene:
        seen: list[list[Any]] = []
        scene.engine.before = lambda: seen.append(scene.rows("SELECT content FROM messages ORDER BY id"))
        await scene.say()
        await scene.say("And 8?")
        assert seen == [[(QUESTION,)], [(QUESTION,)], [(QUESTION,), (TEXT,), ("And 8?",)]]


async def test_a_reply_is_kept_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "SAVE_SECONDS", 0.0)
    async with conversing(tmp_path, ENDLESS) as scene:
        lengths: set[int] = set()
        async for _ in scene.conversation.send(QUESTION):
            if scene.messages and len(lengths) < 4:
                for reply in (await scene.kept())[1:]:
                    assert (reply.state, reply.content) == ("writing", written_by(reply))
                    lengths.add(len(reply.content))
            elif lengths:
                scene.conversation.stop()
        assert len(lengths) == 4
        assert await scene.kept() == scene.messages
        assert len(scene.rows("SELECT first FROM rounds")) == 1


async def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    async with conversing(tmp_path, settings=Settings(reply=Reply(system="\udce9"))) as scene:
        await scene.say("caf\udce9")
        assert scene.engine.prompts == [["system: ?", "user: caf?"]]
        assert [message.content for message in await scene.kept()] == ["caf?", TEXT]


# -------------------------------------------------------------------- stopping


async def test_a_reply_that_is_stopped_is_kept(tmp_path: Path) -> None:
    async with conversing(tmp_path, ENDLESS) as scene:
        async with aclosing(scene.conversation.send(QUESTION)) as events:
            await until_written(events)
            scene.conversation.stop()
            rest = [event async for event in events]
        assert isinstance(rest[-1], Done)
        assert rest[-1].stop_reason == "cancelled"
        reply = scene.messages[-1]
        assert (reply.state, reply.stop_reason) == ("stopped", "cancelled")
        assert reply.content == written_by(reply) != ""
        assert await scene.kept() == scene.messages
        await stopped_at_once(scene.conversation)
        assert scene.engine.prompts[1] == [SAID, f"assistant: {reply.content}", "user: Go on."]


async def stopped_at_once(conversation: Conversation) -> None:
    async for event in conversation.send("Go on."):
        if isinstance(event, Written):
            conversation.stop()


@pytest.mark.parametrize("how", ["closed", "cancelled"])
async def test_a_reply_that_is_left_is_kept(tmp_path: Path, how: str) -> None:
    async with conversing(tmp_path, ENDLESS) as scene:
        has_begun = asyncio.Event()

        async def read_on() -> None:
            async with aclosing(scene.conversation.send(QUESTION)) as events:
                await until_written(events)
                has_begun.set()
                while how == "cancelled":
                    await anext(events)

        reading = asyncio.create_task(read_on())
        await has_begun.wait()
        if how == "cancelled":
            reading.cancel()
        await asyncio.wait({reading})
        assert reading.cancelled() == (how == "cancelled")
        assert (scene.messages[-1].state, scene.messages[-1].stop_reason) == ("stopped", "cancelled")
        assert await scene.kept() == scene.messages
        await stopped_at_once(scene.conversation)  # whose turn would never come


async def test_a_stop_is_minded_while_the_engine_is_still_starting(tmp_path: Path) -> None:
    async with conversing(tmp_path, Scenario(load_seconds=3600)) as scene:
        saying = asyncio.create_task(scene.say_in_vain())
        scene.engine.before = scene.conversation.stop
        assert (await saying).code == "cancelled"
        assert scene.rows("SELECT * FROM messages") == scene.messages == scene.engine.prompts == []


async def test_a_stop_at_the_loads_end_stops_the_reply(tmp_path: Path) -> None:
    async with conversing(tmp_path, ENDLESS) as scene:
        async for event in scene.conversation.send(QUESTION):
            if isinstance(event, Loaded):
                scene.conversation.stop()
        assert [message.state for message in scene.messages] == ["whole", "stopped"]


async def test_an_empty_reply_is_kept_but_not_said_again(tmp_path: Path) -> None:
    async with conversing(tmp_path, Scenario(text="")) as scene:
        await scene.say()
        await scene.say("And 8?")
        assert [(message.role, message.content) for message in await scene.kept()] == [
            ("user", QUESTION),
            ("assistant", ""),
            ("user", "And 8?"),
            ("assistant", ""),
        ]
        assert scene.engine.prompts[1] == [SAID, "user: And 8?"]


# -------------------------------------------------------------------- speculation


async def test_changes_act_inside_a_reply_and_are_counted_apart(tmp_path: Path) -> None:
    settings = Settings(speculation=Speculation(gamma=2))
    async with conversing(tmp_path, ENDLESS, settings=settings) as scene:
        conversation = scene.conversation
        async for event in conversation.send(QUESTION):
            match event:
                case Written(round=round) if round.drafter == "model":
                    assert len(round.guesses) == 2
                    conversation.change(drafter="lookup", gamma=1)
                case Written(round=round) if round.drafter == "lookup" and len(round.guesses) == 1:
                    conversation.change(enabled=False)
                case Written(round=round) if not round.speculating:
                    conversation.stop()
        assert (conversation.speculation, conversation.drafter) == (Speculation(False, 1, "block"), "lookup")
        rounds = [step.round for step in scene.messages[-1].steps]
        assert conversation.on.counters() == count(round for round in rounds if round.speculating)
        assert conversation.off.counters() == count(round for round in rounds if not round.speculating)
        assert conversation.off.counters().tokens > 0


async def test_changes_hold_for_later_replies_and_stay_in_range(tmp_path: Path) -> None:
    async with conversing(tmp_path) as scene:
        scene.conversation.change(gamma=-1)
        assert scene.conversation.speculation.gamma == 0
        scene.conversation.change(gamma=MAX_GAMMA + 1, rule="token")
        assert scene.conversation.speculation == Speculation(True, MAX_GAMMA, "token")
        scene.conversation.change(gamma="auto")
        assert scene.conversation.speculation == Speculation(True, "auto", "token")
        scene.conversation.change(gamma=MAX_GAMMA)
        events = await scene.say()
        assert {event.round.width for event in events if isinstance(event, Written)} == {MAX_GAMMA + 1}


async def test_new_settings_change_what_is_new_in_them(tmp_path: Path) -> None:
    async with conversing(tmp_path) as scene:
        conversation = scene.conversation
        conversation.change(enabled=False, gamma=5)
        conversation.settings = replace(conversation.settings, sampling=Sampling(seed=9))
        assert conversation.speculation == Speculation(False, 5)
        conversation.settings = replace(conversation.settings, speculation=Speculation(rule="token"))
        assert conversation.speculation == Speculation(False, 5, "token")
        assert any(isinstance(event, Prefilled) and event.seed == 9 for event in await scene.say())


# -------------------------------------------------------------------- models


async def test_another_pair_is_loaded_when_it_is_needed_and_once(tmp_path: Path) -> None:
    async with conversing(tmp_path, models=(Path("target.gguf"), None)) as scene:
        conversation = scene.conversation
        drafters = [conversation.drafter]
        [*_, loaded] = [event async for event in conversation.load()]
        assert conversation.loaded == loaded
        await conversation.choose(Path("target.gguf"), Path("draft.gguf"))
        drafters.append(conversation.drafter)
        await scene.say()
        await scene.say()
        assert conversation.loaded is not None
        assert conversation.loaded.draft is not None
        conversation.settings = replace(conversation.settings, draft=ModelOptions(threads=2))
        await scene.say()
        await conversation.choose(Path("other.gguf"), None)
        drafters.append(conversation.drafter)
        await scene.say()
        assert drafters == ["lookup", "both", "lookup"]
        names = [(Path(target.path).name, draft and draft.options.threads) for target, draft in scene.engine.loads]
        assert names == [("target.gguf", None), ("target.gguf", 0), ("target.gguf", 2), ("other.gguf", None)]


# -------------------------------------------------------------------- chats


async def test_chats_are_left_and_gone_on_with(tmp_path: Path) -> None:
    async with conversing(tmp_path) as scene:
        await scene.say()
        first = scene.conversation.chat
        assert first is not None
        said = list(scene.messages)
        scene.conversation.new_chat()
        assert (scene.conversation.chat, scene.messages) == (None, [])
        await scene.say("And 8?")
        assert scene.engine.prompts[-1] == ["user: And 8?"]
        await scene.conversation.open_chat(first.id)
        assert scene.conversation.chat in await scene.conversation.store.list_chats()
        assert scene.messages == said
        await scene.say("And 9?")
        assert scene.engine.prompts[-1] == [SAID, f"assistant: {TEXT}", "user: And 9?"]
        assert [chat.title for chat in await scene.conversation.store.list_chats()] == [QUESTION, "And 8?"]


async def test_a_reply_belongs_to_the_chat_it_was_asked_for_in(tmp_path: Path) -> None:
    async with conversing(tmp_path) as scene:
        async for event in scene.conversation.send(QUESTION):
            if isinstance(event, Loaded):
                scene.conversation.new_chat()
        assert (scene.conversation.chat, scene.messages) == (None, [])
        [chat] = await scene.conversation.store.list_chats()
        assert [message.content for message in await kept(scene.path, chat.id)] == [QUESTION, TEXT]


# -------------------------------------------------------------------- failures


async def test_a_death_keeps_the_partial_reply_and_the_next_message_starts_anew(tmp_path: Path) -> None:
    fault = Fault("reply", "exit", 3, log="GGML_ASSERT(n > 0) failed", once=str(tmp_path / "happened"))
    async with conversing(tmp_path, Scenario(faults=(fault,))) as scene:
        failure = await scene.say_in_vain()
        assert isinstance(failure, EngineDied)
        assert failure.params["log"] == "GGML_ASSERT(n > 0) failed"
        reply = scene.messages[-1]
        assert (reply.state, reply.stop_reason, len(reply.steps)) == ("cut", failure.code, 1)
        assert reply.content == written_by(reply) != ""
        assert await scene.kept() == scene.messages
        assert scene.conversation.loaded is None
        assert text_of(await scene.say("Go on.")) == TEXT
        assert scene.engine.prompts[1] == [SAID, f"assistant: {reply.content}", "user: Go on."]


@pytest.mark.parametrize("at", ["load", "reply"])
async def test_a_third_try_must_be_allowed(tmp_path: Path, at: Any) -> None:
    async with conversing(tmp_path, Scenario(faults=(Fault(at, "exit", 3),))) as scene:
        conversation = scene.conversation
        for asks in (False, True):
            assert isinstance(await scene.say_in_vain(), EngineDied)
            assert conversation.must_ask_before_load == asks
        before = scene.rows("SELECT * FROM messages")
        assert (await scene.say_in_vain("once more")).code == "engine_died_twice"
        assert scene.rows("SELECT * FROM messages") == before
        assert len(scene.messages) == len(before) == (0 if at == "load" else 4)
        conversation.allow_load()
        assert not conversation.must_ask_before_load
        assert isinstance(await scene.say_in_vain(), EngineDied)
        assert conversation.must_ask_before_load

        settings = conversation.settings
        conversation.settings = replace(settings, target=ModelOptions(ctx=512))
        assert not conversation.must_ask_before_load
        conversation.settings = settings
        await conversation.choose(Path("other.gguf"), None)
        assert not conversation.must_ask_before_load


async def test_a_third_try_must_be_allowed_also_while_other_models_are_loaded(tmp_path: Path) -> None:
    fault = Fault("load", "exit", 3, path="target.gguf")
    async with conversing(tmp_path, Scenario(faults=(fault,))) as scene:
        conversation = scene.conversation
        for _death in range(2):
            assert isinstance(await scene.say_in_vain(), EngineDied)
        await conversation.choose(Path("other.gguf"), None)
        await scene.say()
        assert conversation.loaded is not None
        await conversation.choose(Path("target.gguf"), Path("draft.gguf"))
        assert conversation.must_ask_before_load
        conversation.allow_load()
        assert isinstance(await scene.say_in_vain(), EngineDied)


async def test_a_message_that_the_engine_refuses_is_not_said_again(tmp_path: Path) -> None:
    fault = Fault("prefill", "failure", "prompt_too_long", once=str(tmp_path / "happened"))
    async with conversing(tmp_path, Scenario(faults=(fault,))) as scene:
        assert (await scene.say_in_vain("far too much")).code == "prompt_too_long"
        assert [(message.state, message.stop_reason) for message in await scene.kept()] == [("cut", "prompt_too_long")]
        assert scene.messages == await scene.kept()
        await scene.say()
        assert scene.engine.prompts[1] == [SAID]


@pytest.mark.parametrize("fault", [Fault("load", "failure", "file_truncated"), Fault("load", "exit", 3)])
async def test_nothing_is_left_of_a_message_where_the_load_fails(tmp_path: Path, fault: Fault) -> None:
    fault = msgspec.structs.replace(fault, once=str(tmp_path / "happened"))
    async with conversing(tmp_path, Scenario(faults=(fault,))) as scene:
        await scene.say_in_vain()
        assert (scene.conversation.chat, scene.messages) == (None, [])
        assert scene.rows("SELECT * FROM messages") == scene.rows("SELECT * FROM chats") == []
        await scene.say("And 8?")
        assert scene.engine.prompts == [["user: And 8?"]]
        assert [chat.title for chat in await scene.conversation.store.list_chats()] == ["And 8?"]


async def test_a_load_that_fails_later_leaves_the_chat_as_it_was(tmp_path: Path) -> None:
    fault = Fault("load", "failure", "file_truncated", path="other.gguf")
    async with conversing(tmp_path, Scenario(faults=(fault,))) as scene:
        await scene.say()
        said, chat = list(scene.messages), scene.conversation.chat
        await scene.conversation.choose(Path("other.gguf"), None)
        assert (await scene.say_in_vain("And 8?")).code == "file_truncated"
        assert (scene.conversation.chat, scene.messages) == (chat, said)
        assert await scene.kept() == said


async def test_a_message_over_which_the_engine_dies_unanswered_is_not_said_again(tmp_path: Path) -> None:
    fault = Fault("prefill", "exit", 3, once=str(tmp_path / "happened"))
    async with conversing(tmp_path, Scenario(faults=(fault,))) as scene:
        failure = await scene.say_in_vain()
        assert [(message.state, message.stop_reason) for message in await scene.kept()] == [("cut", failure.code)]
        await scene.say("And 8?")
        assert scene.engine.prompts[1] == ["user: And 8?"]


async def test_a_reply_knows_which_model_wrote_it(tmp_path: Path) -> None:
    async with conversing(tmp_path) as scene:
        await scene.say()
        assert [message.model for message in await scene.kept()] == ["", "target.gguf"]


async def test_whether_all_is_on_disk_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.0)
    async with conversing(tmp_path) as scene:
        await scene.say()
        assert scene.conversation.store.is_on_disk
        with closing(sqlite3.connect(scene.path, isolation_level=None)) as other:
            async for event in scene.conversation.send(QUESTION):
                if isinstance(event, Prefilled):
                    other.execute("BEGIN IMMEDIATE")
        assert not scene.conversation.store.is_on_disk
        await scene.say()
        assert scene.conversation.store.is_on_disk


async def test_a_reply_that_is_left_is_saved_before_the_store_can_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with conversing(tmp_path, ENDLESS) as scene:
        saves, may_save, save = [], asyncio.Event(), Store.save

        async def slowly(store: Store, message: Message, *rest: Any) -> int:
            saves.append(message.state)
            if message.state == "stopped":
                await may_save.wait()
            return await save(store, message, *rest)

        monkeypatch.setattr(Store, "save", slowly)
        reading = asyncio.create_task(scene.say())
        while not saves:
            await asyncio.sleep(0)
        for _impatience in range(3):
            reading.cancel()
            while saves[-1] != "stopped":
                await asyncio.sleep(0)
            assert not reading.done()
        may_save.set()
        await asyncio.wait({reading})
        assert reading.cancelled()
        assert (await scene.kept())[-1].state == "stopped"


async def test_a_message_that_cannot_be_kept_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.0)
    async with conversing(tmp_path) as scene:
        with closing(sqlite3.connect(scene.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="store_unwritable"):
                await scene.say()
        assert (scene.conversation.chat, scene.messages, scene.engine.loads) == (None, [], [])
        await scene.say()
        assert await scene.kept() == scene.messages


@pytest.mark.parametrize("for_good", [False, True])
async def test_a_reply_that_cannot_be_kept_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, for_good: bool
) -> None:
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.0)
    monkeypatch.setattr(growing, "SAVE_SECONDS", 0.0)
    async with conversing(tmp_path, ENDLESS) as scene:
        notices = 0
        with closing(sqlite3.connect(scene.path, isolation_level=None)) as other:
            async for event in scene.conversation.send(QUESTION):
                if isinstance(event, Prefilled):
                    other.execute("BEGIN IMMEDIATE")
                elif isinstance(event, Notice):
                    assert (event.code, event.params["reason"]) == ("store_unwritable", "database is locked")
                    notices += 1
                elif isinstance(event, Written) and notices:
                    scene.conversation.stop()
                    if other.in_transaction and not for_good:
                        other.execute("ROLLBACK")
        assert notices == 1
        reply = scene.messages[-1]
        assert reply.content == written_by(reply) != ""
        assert await scene.kept() == (scene.messages[:1] if for_good else scene.messages)


async def test_what_was_written_is_there_after_specchat_was_ended_in_a_reply(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    command = [sys.executable, "-P", dying_chat.__file__, str(path), json.dumps(fake_engine(ENDLESS))]
    assert subprocess.run(command, check=False, timeout=SECONDS).returncode == 9
    said, reply = await kept(path, 1)
    assert (said.content, said.state) == (QUESTION, "whole")
    assert reply.state == "writing"
    assert reply.content == written_by(reply)
    assert len(reply.content) > 100


# -------------------------------------------------------------------- a real model


async def test_a_conversation_with_a_real_model(tmp_path: Path) -> None:
    model = bundled_model()
    if model is None:
        pytest.skip("the bundled model isn't installed")
    settings = Settings(sampling=Sampling(temperature=0), reply=Reply(max_tokens=12), target=ModelOptions(ctx=512))
    async with conversing(tmp_path, settings=settings, models=(model, None), command=COMMAND) as scene:
        await scene.say("Say hello.")
        second = await scene.say("Say it again.")
        assert [event.reused > 20 for event in second if isinstance(event, Prefilled)] == [True]
        for reply in scene.messages[1::2]:
            assert (reply.state, reply.stop_reason in ("end", "length")) == ("whole", True)
            assert count(step.round for step in reply.steps).tokens <= 12
            assert reply.content != ""
        assert await scene.kept() == scene.messages
