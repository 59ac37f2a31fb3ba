"""What the runner asks of an engine, and what it makes of the answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from specchat.app.bench.prompts import Prompt
from specchat.app.bench.runner import WARM_UP_TOKENS, Began, BenchEvent, Job, LeftOut, Run, Runner, Stalled, is_stalled
from specchat.app.bench.sides import LOOKUP, PLAIN, plan
from specchat.models.decoding.cost import CostTable, WidthCost
from specchat.models.decoding.counters import count
from specchat.models.engine import messages
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineDied, EngineFailure
from specchat.settings.values import Gamma, Reply, Sampling, Settings, Speculation
from support.fake_engine import Fault, Scenario, fake_engine
from support.rounds import make_round

PROMPTS = (Prompt("code", "Write code."), Prompt("story", "Tell a story."))
ENDLESS = Scenario(endless=True, plain_rate=20)
COSTS = messages.Measured(CostTable((WidthCost(1, 0.05, 3),), ()), CostTable((WidthCost(1, 0.01, 3),), ()))


class WatchedEngine(EngineClient):
    """Keeps what it was asked."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        super().__init__(folder / "engine.log", fake_engine(scenario))
        self.loads: list[tuple[str, CostTable | None, CostTable | None]] = []
        self.replies: list[dict[str, Any]] = []

    async def load(
        self,
        target: messages.ModelFile,
        draft: messages.ModelFile | None = None,
        *,
        target_costs: CostTable | None = None,
        draft_costs: CostTable | None = None,
    ) -> AsyncGenerator[messages.Event, None]:
        self.loads.append((draft.path if draft else "", target_costs, draft_costs))
        async with aclosing(super().load(target, draft, target_costs=target_costs, draft_costs=draft_costs)) as events:
            async for event in events:
                yield event

    def generate(
        self, prompt: tuple[messages.ChatMessage, ...] | str, **how: Any
    ) -> AsyncGenerator[messages.Event, None]:
        self.replies.append({"prompt": prompt, **how})
        return super().generate(prompt, **how)


def job(
    drafts: Sequence[str] = (LOOKUP,),
    choices: Sequence[Gamma] = (3,),
    repeats: int = 2,
    tokens: int = 40,
    seed: int = 7,
) -> Job:
    settings = Settings(
        sampling=Sampling(temperature=0.5),
        speculation=Speculation(enabled=False, gamma=9, rule="token"),
        reply=Reply(system="Be brief.", max_tokens=5),
    )
    return Job("target.gguf", plan(drafts, choices, PROMPTS, repeats), settings, tokens, seed)


async def collect(engine: EngineClient, job: Job) -> list[BenchEvent]:
    async with engine, aclosing(Runner(engine, job).run()) as events:
        return [event async for event in events]


def runs(events: Sequence[BenchEvent]) -> list[Run]:
    return [event for event in events if isinstance(event, Run)]


async def test_every_step_becomes_a_run_in_its_place(tmp_path: Path) -> None:
    wanted = job()
    events = await collect(WatchedEngine(tmp_path, ENDLESS), wanted)
    assert tuple(run.step for run in runs(events)) == wanted.steps
    began = [event for event in events if isinstance(event, Began)]
    assert [(event.number, event.total) for event in began] == [(number, 8) for number in range(9)]


async def test_a_run_holds_the_rounds_that_were_written(tmp_path: Path) -> None:
    events = await collect(WatchedEngine(tmp_path, ENDLESS), job(repeats=1))
    for run in runs(events):
        counters = count(run.rounds)
        assert counters.tokens == 40
        assert (counters.drafted > 0) is (run.step.side != PLAIN)
        assert counters.tokens_per_second == pytest.approx(20 if run.step.side == PLAIN else 30)
        assert run.stop_reason == "end"
        assert run.first_token_seconds == pytest.approx(run.prefill_seconds + run.rounds[0].seconds)


async def test_replies_differ_in_nothing_but_their_sides(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, ENDLESS)
    wanted = job(["draft.gguf", LOOKUP], [3, "auto"])
    await collect(engine, wanted)
    asked = engine.replies[1:]
    for step, reply in zip(wanted.steps, asked, strict=True):
        system, said = reply["prompt"]
        assert (system.role, system.content) == ("system", "Be brief.")
        assert (said.role, said.content) == ("user", step.prompt.text)
        assert reply["fresh"]
        assert reply["max_tokens"] == 40
        assert reply["sampling"] == Sampling(temperature=0.5, seed=7 + step.repeat)
        assert reply["speculation"] == Speculation(step.side != PLAIN, step.side.gamma, "token")
        assert reply["drafter"] == step.side.drafter


async def test_each_load_is_followed_by_a_reply_that_counts_for_nothing(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, ENDLESS)
    events = await collect(engine, job(["a.gguf", "b.gguf"], repeats=2))
    assert [Path(draft).name for draft, *_ in engine.loads] == ["a.gguf", "b.gguf", "a.gguf"]
    assert len(engine.replies) == len(runs(events)) + 3
    warm = [i for i, reply in enumerate(engine.replies) if reply["max_tokens"] == WARM_UP_TOKENS]
    assert warm == [0, 5, 14]  # four replies with a, eight with b, which is kept for the second repeat, four with a
    assert all(engine.replies[i]["speculation"].enabled for i in warm)


async def test_a_short_benchmark_has_a_short_warm_up(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, ENDLESS)
    await collect(engine, job(tokens=5))
    assert {reply["max_tokens"] for reply in engine.replies} == {5}


async def test_costs_that_were_measured_are_handed_back_at_the_next_load(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, endless(measured=COSTS))
    async with engine:
        runner = Runner(engine, job(["a.gguf", "b.gguf"], repeats=2))
        async with aclosing(runner.run()) as events:
            async for _ in events:
                pass
    assert engine.loads == [
        ("a.gguf", None, None),
        ("b.gguf", COSTS.target, None),
        ("a.gguf", COSTS.target, COSTS.draft),
    ]
    assert runner.costs == {"target.gguf": COSTS.target, "a.gguf": COSTS.draft, "b.gguf": COSTS.draft}


async def test_a_draft_that_does_not_fit_is_left_out_and_the_others_are_measured(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, endless(misfits=("a.gguf",)))
    events = await collect(engine, job(["a.gguf", LOOKUP, "b.gguf"]))
    assert [event for event in events if isinstance(event, LeftOut)] == [LeftOut("a.gguf")]
    assert {run.step.side.draft for run in runs(events)} == {"", LOOKUP, "b.gguf"}
    assert [draft for draft, *_ in engine.loads] == ["a.gguf", "", "b.gguf", ""]
    last = [event for event in events if isinstance(event, Began)][-1]
    assert last.number == last.total == len(runs(events))


async def test_where_no_draft_can_be_used_nothing_is_written(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, endless(misfits=("a.gguf",)))
    events = await collect(engine, job(["a.gguf"]))
    assert [event for event in events if isinstance(event, LeftOut)] == [LeftOut("a.gguf")]
    assert engine.replies == []


async def test_a_target_that_cannot_take_back_guesses_leaves_nothing_to_measure(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, endless(can_roll_back=False))
    events = await collect(engine, job([LOOKUP]))
    assert [event.draft for event in events if isinstance(event, LeftOut)] == [LOOKUP]
    assert "no_rollback" in [event.code for event in events if isinstance(event, messages.Notice)]
    assert engine.replies == []


async def test_leaving_early_stops_the_reply_at_hand(tmp_path: Path) -> None:
    slow = endless(rate=500, plain_rate=500, real_time=True)
    async with WatchedEngine(tmp_path, slow) as engine:
        async with aclosing(Runner(engine, job(tokens=100_000)).run()) as events:
            async for event in events:
                if isinstance(event, messages.Written):
                    break
        async with asyncio.timeout(30):
            assert [event async for event in engine.load(messages.ModelFile("other.gguf", Settings().target))]


async def test_a_reply_that_was_stopped_is_no_run(tmp_path: Path) -> None:
    found: list[BenchEvent] = []
    slow = endless(rate=500, plain_rate=500, real_time=True)
    wanted = job(repeats=1, tokens=100)
    async with WatchedEngine(tmp_path, slow) as engine, aclosing(Runner(engine, wanted).run()) as events:
        async for event in events:
            found.append(event)
            if isinstance(event, messages.Prefilled) and len(engine.replies) == 2:
                engine.stop()
    assert [run.step for run in runs(found)] == list(wanted.steps[1:])


async def test_a_reply_during_which_the_machine_slept_is_written_anew(tmp_path: Path) -> None:
    engine = WatchedEngine(tmp_path, endless(stalls=(2, 3)))
    wanted = job(repeats=1)
    events = await collect(engine, wanted)
    assert [event.step for event in events if isinstance(event, Stalled)] == [wanted.steps[1]] * 2
    assert tuple(run.step for run in runs(events)) == wanted.steps
    assert all(count(run.rounds).seconds < 10 for run in runs(events))
    assert [reply["sampling"].seed for reply in engine.replies] == [7] * 7


async def test_after_three_tries_a_slow_reply_counts_as_it_is(tmp_path: Path) -> None:
    events = await collect(WatchedEngine(tmp_path, endless(stalls=(2, 3, 4))), job(repeats=1))
    assert [count(run.rounds).seconds > 3600 for run in runs(events)] == [False, True, False, False]


def test_what_counts_as_standing_still() -> None:
    step = job().steps[0]
    long, short, tiny = (make_round(0, 0, seconds=seconds) for seconds in (100.0, 0.1, 0.001))
    rest = (short,) * 20
    assert is_stalled(Run(step, 1, (*rest, long), 9, 0.1, "end"))
    for rounds in ((*rest[:6], long), rest, (*rest, long, long), (short, *(tiny,) * 20), ()):
        assert not is_stalled(Run(step, 1, rounds, 9, 0.1, "end"))


async def test_a_failure_ends_it_and_what_was_measured_came_before(tmp_path: Path) -> None:
    fault = Fault("reply", "exit", 3)
    found: list[BenchEvent] = []
    engine = WatchedEngine(tmp_path, endless(faults=(fault,)))
    with pytest.raises(EngineDied):
        async with engine, aclosing(Runner(engine, job()).run()) as events:
            async for event in events:
                found.append(event)
    assert any(isinstance(event, messages.Written) for event in found)


async def test_a_target_that_cannot_be_loaded_is_a_failure(tmp_path: Path) -> None:
    scenario = endless(faults=(Fault("load", "failure", "file_missing"),))
    with pytest.raises(EngineFailure, match="file_missing"):
        await collect(WatchedEngine(tmp_path, scenario), job())


def endless(**changes: Any) -> Scenario:
    """An engine that never ends by itself, and all of this."""
    return msgspec.structs.replace(ENDLESS, **changes)
