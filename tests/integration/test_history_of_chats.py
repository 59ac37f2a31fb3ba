"""Sums in the history equal the rounds' sums, whatever happens in a chat; `specchat history` tells of them."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import aclosing
from pathlib import Path

import pytest

from specchat.app.bench.document import Document
from specchat.app.bench.prompts import Prompt
from specchat.app.compare.order import order_for
from specchat.app.compare.session import Session
from specchat.app.history.archive import Archive
from specchat.app.history.chat_sums import chat_sums
from specchat.models.decoding.counters import Counters, Tally, count
from specchat.models.decoding.rounds import Round
from specchat.models.engine.errors import EngineDied
from specchat.models.engine.messages import Written
from specchat.settings.values import Sampling, Settings
from support.cli import run
from support.conversing import Scene, conversing
from support.fake_engine import Fault, Scenario

PROMPT = Prompt("chat", "Is 7 prime?")


async def written(scene: Scene, text: str, *, toggle_at: int = 0, stop_at: int = 0) -> list[Round]:
    """The rounds of a reply, in which speculation is toggled and which is stopped after so many of them."""
    rounds = []
    async with aclosing(scene.conversation.send(text)) as events:
        async for event in events:
            if isinstance(event, Written):
                rounds.append(event.round)
                if len(rounds) == toggle_at:
                    scene.conversation.change(enabled=not scene.conversation.speculation.enabled)
                if len(rounds) == stop_at:
                    scene.conversation.stop()
    return rounds


def by_speculation(rounds: list[Round]) -> tuple[Counters, Counters]:
    on, off = Tally(), Tally()
    for round in rounds:
        (on if round.speculating else off).add(round)
    return on.counters(), off.counters()


async def test_a_chat_with_toggles_stops_a_killed_engine_and_a_cancelled_comparison(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.touch()
    fault = Fault("reply", "signal", signal.SIGKILL, once=str(killed))
    scenario = Scenario(endless=True, rate=500, plain_rate=200, real_time=True, faults=(fault,))
    async with conversing(tmp_path, scenario, settings=Settings(sampling=Sampling(temperature=0.0))) as scene:
        rounds = await written(scene, "one", toggle_at=3, stop_at=8)
        rounds += await written(scene, "two", toggle_at=2, stop_at=6)
        result = await cancelled_comparison(scene)
        killed.unlink()
        with pytest.raises(EngineDied):
            await written(scene, "three")
        rounds += [step.round for step in scene.messages[-1].steps]
        rounds += await written(scene, "four", stop_at=4)

        on, off = by_speculation(rounds)
        assert off.tokens and on.tokens
        sums = await chat_sums(scene.conversation.store)
        for side, whole in (("on", on), ("off", off)):
            for name in ("tokens", "target_passes", "drafted", "accepted", "rejected", "draft_runs"):
                assert sum(getattr(getattr(row, side), name) for row in sums) == getattr(whole, name)
            assert sum(getattr(row, side).seconds for row in sums) == pytest.approx(whole.seconds)
        assert scene.conversation.on.counters().tokens == on.tokens

        [entry] = await Archive(scene.conversation.store).entries()
        assert entry.partial
        assert entry.on.tokens + entry.off.tokens == sum(run.tokens for run in result.runs[: 2 * entry.pairs])


async def cancelled_comparison(scene: Scene) -> Document:
    """What is left of a comparison that was cancelled in its fourth reply."""
    session = Session(scene.conversation, scene.conversation.store, order_for(scene.conversation, PROMPT, 3))
    begun = asyncio.Event()
    task = asyncio.create_task(session.run(lambda: _after(session, 3, begun)))
    await begun.wait()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert session.result is not None and session.result.measured.partial
    return session.result.measured


def _after(session: Session, replies: int, done: asyncio.Event) -> None:
    """Note that so many replies were begun."""
    if session.began and session.began.number > replies:
        done.set()


async def test_the_chat_goes_on_after_a_comparison_as_if_nothing_had_been(tmp_path: Path) -> None:
    async with conversing(tmp_path, Scenario()) as scene:
        await scene.say("one")
        before = scene.conversation.speculation, scene.conversation.drafter, len(scene.messages)
        heard = scene.engine.on_measured
        session = Session(scene.conversation, scene.conversation.store, order_for(scene.conversation, PROMPT, 1))
        await session.run(lambda: None)
        assert session.result is not None and not session.told
        assert (scene.conversation.speculation, scene.conversation.drafter, len(scene.messages)) == before
        assert scene.engine.on_measured == heard
        _events = [event async for event in scene.conversation.load()]
        _events = [event async for event in scene.conversation.read_again()]
        assert scene.engine.prompts[-1][:2] == ["user: one", f"assistant: {scene.messages[1].content}"]
        await scene.say("two")
        assert scene.messages[-1].state == "whole"
        assert count(step.round for step in scene.messages[-1].steps).drafted


def test_the_command_tells_of_it(tmp_path: Path) -> None:
    outcome = run(tmp_path, "history")
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith("Nothing is known yet")
    assert json.loads(run(tmp_path, "history", "--json").stdout)["measured"] == []
    assert run(tmp_path, "history", "--json", "--csv").status == 2
