"""The engine's process, its server and its client, with a session that plays scenarios."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any, TypeVar

import psutil
import pytest

from specchat.models.engine.child import LARGEST_LOG
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineDied, EngineFailure
from specchat.models.engine.messages import (
    PROTOCOL,
    Change,
    Done,
    Event,
    Failed,
    Loaded,
    ModelFile,
    Notice,
    Position,
    Prefilled,
    Progress,
    Quit,
    Ready,
    Written,
    decode_event,
    encode,
)
from specchat.models.engine.silence import Patience
from specchat.settings.values import ModelOptions, Sampling, Speculation
from support import streaming_parent
from support.cli import gone
from support.fake_engine import TEXT, Fault, Scenario, fake_engine

T = TypeVar("T")

SECONDS = 60
TARGET = ModelFile("target.gguf", ModelOptions())
DRAFT = ModelFile("draft.gguf", ModelOptions())
ENDLESS = Scenario(endless=True, rate=500, real_time=True)

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@pytest.fixture
def log_path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "engine.log"


def play(
    log_path: Path,
    scenario: Scenario | None,
    scene: Callable[[EngineClient], Awaitable[T]],
    patience: Patience | None = None,
) -> T:
    """Run `scene` with a client whose engine plays `scenario`; no process may be left."""

    async def run() -> T:
        async with EngineClient(log_path, fake_engine(scenario), patience=patience) as engine:
            return await scene(engine)

    result = asyncio.run(asyncio.wait_for(run(), SECONDS))
    assert psutil.Process().children() == []
    return result


async def load(engine: EngineClient, draft: ModelFile | None = DRAFT) -> list[Event]:
    return [event async for event in engine.load(TARGET, draft)]


async def first_round(events: AsyncIterator[Event]) -> str:
    """The drafter of the first round among `events`."""
    async for event in events:
        if isinstance(event, Written):
            return event.round.drafter
    raise AssertionError("no round")


def generate(engine: EngineClient, **changes: Any) -> AsyncGenerator[Event, None]:
    asked: dict[str, Any] = {
        "prompt": "Is 7 prime?",
        "sampling": Sampling(seed=7),
        "speculation": Speculation(gamma=3),
        "drafter": "model",
        "max_tokens": 0,
    }
    return engine.generate(**(asked | changes))


async def failure_of(events: AsyncIterator[Event]) -> EngineFailure:
    with pytest.raises(EngineFailure) as caught:
        async for _ in events:
            pass
    return caught.value


def written(events: list[Event]) -> list[Written]:
    return [event for event in events if isinstance(event, Written)]


def said(log_path: Path, text: str) -> bool:
    return log_path.exists() and text in log_path.read_text()


def is_utf8(piece: bytes) -> bool:
    return piece.decode(errors="ignore").encode() == piece


# -------------------------------------------------------------------- when all goes well


def test_a_load_and_a_reply(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> tuple[list[Event], list[Event]]:
        return await load(engine), [event async for event in generate(engine)]

    loading, reply = play(log_path, Scenario(notices=(Notice("fewer_layers", {"layers": 3}),)), scene)
    assert [event.done for event in loading if isinstance(event, Progress) and event.stage == "target"][-1] == 1000
    assert Notice("fewer_layers", {"layers": 3}) in loading
    loaded = loading[-1]
    assert isinstance(loaded, Loaded)
    assert loaded.draft is not None
    assert (loaded.target.path, loaded.draft.path) == ("target.gguf", "draft.gguf")

    assert any(isinstance(event, Prefilled) and (event.tokens, event.seed) == (3, 7) for event in reply)
    assert reply[-1] == Done(2, "end")
    assert "".join(event.text for event in written(reply)) == TEXT
    rounds = written(reply)
    assert [event.round.accepted for event in rounds][:5] == [3, 2, 0, 1, 3]
    kept = [(*event.pieces[: event.round.accepted], event.pieces[-1]) for event in rounds]
    assert b"".join(piece for pieces in kept for piece in pieces) == TEXT.encode()
    assert not all(is_utf8(piece) for event in rounds for piece in event.pieces)  # or nothing was put to the test


def test_a_position_is_looked_at_through_the_process(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> tuple[int, Position, EngineFailure]:
        await load(engine)
        reply = [event async for event in generate(engine)]
        tokens = sum(event.round.tokens for event in written(reply))
        with pytest.raises(EngineFailure) as caught:
            await engine.look(tokens)
        return tokens, await engine.look(4), caught.value

    tokens, position, failure = play(log_path, None, scene)
    assert (position.guess, position.accepted, position.overlap) == (100, True, 0.9)
    assert (failure.code, failure.params["position"]) == ("position_unknown", tokens + 1)


def test_without_a_model_there_is_nothing_to_look_at(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> EngineFailure:
        with pytest.raises(EngineFailure) as caught:
            await engine.look(0)
        return caught.value

    assert play(log_path, None, scene).code == "not_loaded"


def test_a_length_is_kept(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> list[Event]:
        await load(engine)
        return [event async for event in generate(engine, max_tokens=5)]

    assert sum(event.round.tokens for event in written(play(log_path, None, scene))) == 5


def test_two_megabytes_pass_in_both_directions(log_path: Path) -> None:
    words = "漢字 " * 300_000

    async def scene(engine: EngineClient) -> tuple[list[Event], list[Event]]:
        path = "x" * 2_000_000
        loading = [event async for event in engine.load(ModelFile(path, ModelOptions()))]
        return loading, [event async for event in generate(engine, prompt=words, max_tokens=1)]

    loading, reply = play(log_path, None, scene)
    assert isinstance(loading[-1], Loaded)
    assert len(loading[-1].target.path) == 2_000_000
    assert any(isinstance(event, Prefilled) and event.tokens == 300_000 for event in reply)


def test_a_change_acts_inside_a_reply_and_a_stop_ends_it(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> list[Event]:
        await load(engine)
        events = []
        async for event in generate(engine):
            events.append(event)
            if isinstance(event, Written) and event.round.drafter == "model":
                engine.change(Change(drafter="lookup", gamma=1))
            if isinstance(event, Written) and event.round.drafter == "lookup":
                engine.stop()
        return events

    events = play(log_path, ENDLESS, scene)
    assert written(events)[0].round.width == 4
    assert written(events)[-1].round.width == 2
    assert isinstance(events[-1], Done)
    assert events[-1].stop_reason == "cancelled"


def test_a_change_is_for_replies_that_wait_too(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> None:
        await load(engine)
        first, second = generate(engine), generate(engine)
        await anext(first)
        waiting = asyncio.ensure_future(anext(second))
        await asyncio.sleep(0)  # so that the second is asked for
        engine.change(Change(drafter="lookup"))
        await first.aclose()
        await waiting
        assert await first_round(second) == "lookup"

    play(log_path, ENDLESS, scene)


def test_leaving_a_reply_stops_it(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> list[Event]:
        await load(engine)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(None) as limit:
                async for event in generate(engine):
                    if isinstance(event, Written):
                        limit.reschedule(0)
        return await load(engine)  # whose turn would never come

    assert isinstance(play(log_path, ENDLESS, scene)[-1], Loaded)


def test_a_load_can_be_stopped(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> EngineFailure:
        async def stopping() -> AsyncIterator[Event]:
            async for event in engine.load(TARGET):
                engine.stop()
                yield event

        failure = await failure_of(stopping())
        assert engine.loaded is None
        return failure

    assert play(log_path, Scenario(load_seconds=3600), scene).code == "cancelled"


def test_unloading_forgets(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> None:
        await load(engine)
        engine.unload()
        with pytest.raises(EngineFailure, match="not_loaded"):
            generate(engine)
        assert isinstance((await load(engine))[-1], Loaded)

    play(log_path, None, scene)


def test_a_client_that_was_closed_can_start_again(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> tuple[EngineFailure, Event]:
        await load(engine)
        reply = generate(engine)
        await anext(reply)
        await engine.close()
        assert (engine.ready, engine.loaded) == (None, None)
        return await failure_of(reply), (await load(engine))[-1]

    failure, loaded = play(log_path, ENDLESS, scene)
    assert failure.code == "engine_closed"
    assert isinstance(loaded, Loaded)


# -------------------------------------------------------------------- failures the process survives


def test_a_failed_request_leaves_the_process_serving(log_path: Path, tmp_path: Path) -> None:
    once = str(tmp_path / "happened")
    scenario = Scenario(faults=(Fault("load", "failure", "file_truncated", once=once),))

    async def scene(engine: EngineClient) -> EngineFailure:
        failure = await failure_of(engine.load(TARGET))
        ready = engine.ready
        await load(engine)
        assert engine.ready is ready
        return failure

    failure = play(log_path, scenario, scene)
    assert not isinstance(failure, EngineDied)
    assert (failure.code, failure.params) == ("file_truncated", {"path": "model.gguf"})


def test_an_unforeseen_error_is_told_and_logged(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> EngineFailure:
        await load(engine)
        return await failure_of(generate(engine))

    failure = play(log_path, Scenario(faults=(Fault("prefill", "exception", "boom"),)), scene)
    assert (failure.code, failure.params) == ("internal", {"error": "ValueError: boom"})
    assert "Traceback" in log_path.read_text()


def test_text_that_is_no_unicode_is_refused(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> EngineFailure:
        await load(engine)
        return await failure_of(generate(engine, prompt="caf\udce9"))

    failure = play(log_path, None, scene)
    assert (failure.code, failure.params) == ("not_unicode", {"text": r"'caf\udce9'"})


@contextmanager
def raw_engine() -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """An engine's process without a client, past its greeting, and its pipes; it must have ended well in the end."""
    with subprocess.Popen(fake_engine(), stdin=PIPE, stdout=PIPE, stderr=subprocess.DEVNULL, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert isinstance(decode_event(process.stdout.readline()), Ready)
        yield process, process.stdin, process.stdout
        process.stdin.close()
        assert process.wait(SECONDS) == 0


@pytest.mark.parametrize(("line", "id"), [(b"nonsense\n", 0), (b'{"type":"generate","id":9}\n', 9)])
def test_a_malformed_request_fails_by_its_number(line: bytes, id: int) -> None:
    with raw_engine() as (_, requests, events):
        requests.write(line)
        answer = decode_event(events.readline())
    assert isinstance(answer, Failed)
    assert (answer.id, answer.code) == (id, "protocol")


def test_quit_ends_the_process() -> None:
    with raw_engine() as (process, requests, _):
        requests.write(encode(Quit()))
        assert process.wait(SECONDS) == 0


# -------------------------------------------------------------------- the process is lost


@posix
@pytest.mark.parametrize("at", ["load", "prefill", "reply"])
def test_a_killed_process_is_reported_and_replaced_by_the_next_load(at: Any, log_path: Path, tmp_path: Path) -> None:
    once = str(tmp_path / "happened")

    async def both(engine: EngineClient) -> AsyncIterator[Event]:
        async for event in engine.load(TARGET):
            yield event
        async for event in generate(engine):
            yield event

    async def scene(engine: EngineClient) -> tuple[EngineFailure, list[Event]]:
        failure = await failure_of(both(engine))
        with pytest.raises(EngineFailure, match="not_loaded"):
            generate(engine)
        return failure, [event async for event in both(engine)]

    failure, again = play(log_path, Scenario(faults=(Fault(at, "signal", signal.SIGKILL, once=once),)), scene)
    assert isinstance(failure, EngineDied)
    assert (failure.code, failure.params["exit"]) == ("engine_killed", "SIGKILL")
    assert "".join(event.text for event in written(again)) == TEXT


@posix
def test_an_abort_brings_the_reason_from_the_log_of_this_process_only(log_path: Path) -> None:
    log_path.parent.mkdir()
    log_path.write_text("error: an old story\n")
    fault = Fault("reply", "signal", signal.SIGABRT, log="ggml.c:1: GGML_ASSERT(a == b) failed")

    async def scene(engine: EngineClient) -> EngineFailure:
        await load(engine)
        return await failure_of(generate(engine))

    failure = play(log_path, Scenario(faults=(fault,)), scene)
    assert isinstance(failure, EngineDied)
    assert failure.code == "engine_aborted"
    assert failure.params == {"exit": "SIGABRT", "log": "ggml.c:1: GGML_ASSERT(a == b) failed"}


@pytest.mark.parametrize("at", ["start", "load"])
def test_a_process_that_ends_is_reported(at: Any, log_path: Path) -> None:
    scenario = Scenario(faults=(Fault(at, "exit", 77, log="no such device"),))
    failure = play(log_path, scenario, lambda engine: failure_of(engine.load(TARGET)))
    assert isinstance(failure, EngineDied)
    assert (failure.code, failure.params) == ("engine_ended", {"exit": "77", "log": "no such device"})


def test_a_process_that_is_silent_at_its_start_is_given_up(log_path: Path) -> None:
    scenario = Scenario(faults=(Fault("start", "silence"),))
    patience = Patience(start=0.3, work=3600)
    failure = play(log_path, scenario, lambda engine: failure_of(engine.load(TARGET)), patience)
    assert isinstance(failure, EngineDied)
    assert failure.code == "engine_silent"


@pytest.mark.parametrize("at", ["prefill", "reply"])
def test_a_process_that_is_silent_at_work_is_given_up(at: Any, log_path: Path) -> None:
    async def scene(engine: EngineClient) -> EngineFailure:
        await load(engine)
        return await failure_of(generate(engine))

    failure = play(log_path, Scenario(faults=(Fault(at, "silence"),)), scene, Patience(start=3600, work=0.3))
    assert isinstance(failure, EngineDied)
    assert failure.code == "engine_silent"


def test_an_idle_process_may_be_silent(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> None:
        ready = await engine.start()
        await asyncio.sleep(0.2)  # twenty times the patience: what is looked for is that nothing happens
        assert engine.ready is ready

    play(log_path, None, scene, Patience(start=3600, work=0.01))


def test_garbage_ends_the_process(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> EngineFailure:
        await load(engine)
        return await failure_of(generate(engine))

    failure = play(log_path, Scenario(faults=(Fault("reply", "garbage", "hello from a library"),)), scene)
    assert isinstance(failure, EngineDied)
    assert (failure.code, failure.params["line"]) == ("engine_garbled", "hello from a library")


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(protocol=999),
        Scenario(faults=(Fault("start", "garbage", '{"type":"ready","protocol":999}'),)),
    ],
    ids=["same shape", "another shape"],
)
def test_an_engine_of_another_protocol_is_refused(scenario: Scenario, log_path: Path) -> None:
    failure = play(log_path, scenario, lambda engine: failure_of(engine.load(TARGET)))
    assert failure.code == "protocol_version"
    assert (failure.params["app"], failure.params["engine"]) == (PROTOCOL, 999)


def test_an_engine_that_cannot_start_says_why(log_path: Path) -> None:
    scenario = Scenario(faults=(Fault("start", "exception", "no libllama"),))
    failure = play(log_path, scenario, lambda engine: failure_of(engine.load(TARGET)))
    assert (failure.code, failure.params["error"]) == ("engine_start", "ValueError: no libllama")


def test_a_command_that_does_not_exist(log_path: Path, tmp_path: Path) -> None:
    async def start() -> None:
        async with EngineClient(log_path, [str(tmp_path / "nothing")]) as engine:
            await engine.start()

    with pytest.raises(EngineFailure, match="engine_start"):
        asyncio.run(start())


# -------------------------------------------------------------------- the log


def test_a_large_log_is_put_aside(log_path: Path) -> None:
    log_path.parent.mkdir()
    log_path.write_bytes(b"x" * (LARGEST_LOG + 1))
    play(log_path, None, lambda engine: engine.start())
    assert log_path.stat().st_size == 0
    assert log_path.with_name("engine.log.old").stat().st_size == LARGEST_LOG + 1


def test_without_a_place_for_its_log_the_engine_works_and_says_so(log_path: Path) -> None:
    log_path.mkdir(parents=True)
    scenario = Scenario(faults=(Fault("reply", "exit", 1, log="error: deep trouble"),))

    async def scene(engine: EngineClient) -> tuple[list[Event], EngineFailure]:
        return await load(engine), await failure_of(generate(engine))

    loading, failure = play(log_path, scenario, scene)
    assert isinstance(loading[0], Notice)
    assert loading[0] == Notice("log_unwritable", {"path": str(log_path), "error": "Is a directory"})
    assert failure.params["log"] == "error: deep trouble"


# -------------------------------------------------------------------- the parent ends


@pytest.mark.parametrize("is_late", [False, True], ids=["while the process is made", "before it is ready"])
def test_a_cancelled_start_leaves_nothing(is_late: bool, log_path: Path) -> None:
    scenario = Scenario(faults=(Fault("start", "silence", log="here"),))

    async def scene(engine: EngineClient) -> None:
        start = asyncio.ensure_future(engine.start())
        while not (said(log_path, "here") if is_late else psutil.Process().children()):
            await asyncio.sleep(0.001)
        start.cancel()
        await asyncio.wait({start})
        assert start.cancelled()

    play(log_path, scenario, scene)


def test_a_cancelled_close_leaves_nothing_even_of_a_process_that_hangs(log_path: Path) -> None:
    async def scene(engine: EngineClient) -> None:
        await load(engine)
        psutil.Process().children()[0].suspend()
        close = asyncio.ensure_future(engine.close())
        await asyncio.sleep(0)
        close.cancel()
        await asyncio.wait({close})
        assert close.cancelled()

    play(log_path, None, scene)


@contextmanager
def streaming(log_path: Path) -> Iterator[tuple[subprocess.Popen[str], psutil.Process]]:
    """A program that streams an endless reply to its stdout, and its engine's process."""
    command = [sys.executable, "-P", streaming_parent.__file__, str(log_path), *fake_engine(ENDLESS)]
    with subprocess.Popen(command, stdout=PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "'A prime number has'\n"
        (engine,) = psutil.Process(parent.pid).children()
        yield parent, engine


@posix
def test_ctrl_c_in_the_parent_ends_both(log_path: Path) -> None:
    with streaming(log_path) as (parent, engine):
        parent.send_signal(signal.SIGINT)
        parent.communicate(timeout=SECONDS)
        assert parent.returncode == 130
        assert gone(engine)


@posix
def test_the_engine_is_out_of_the_terminals_reach(log_path: Path) -> None:
    with streaming(log_path) as (parent, engine):
        assert os.getsid(engine.pid) != os.getsid(parent.pid)
        parent.kill()
        parent.communicate(timeout=SECONDS)


@posix
def test_the_engine_ignores_ctrl_c() -> None:
    with raw_engine() as (process, requests, events):
        process.send_signal(signal.SIGINT)
        requests.write(b"nonsense\n")
        assert isinstance(decode_event(events.readline()), Failed)


def test_a_killed_parent_takes_its_engine_along(log_path: Path) -> None:
    with streaming(log_path) as (parent, engine):
        parent.kill()
        parent.communicate(timeout=SECONDS)
        assert gone(engine)


def test_a_killed_parent_takes_along_an_engine_that_computes(log_path: Path) -> None:
    silent = fake_engine(Scenario(faults=(Fault("load", "silence", log="computing"),)))
    command = [sys.executable, "-P", streaming_parent.__file__, str(log_path), *silent]
    with subprocess.Popen(command, stdout=PIPE) as parent:
        deadline = time.monotonic() + SECONDS
        while not said(log_path, "computing"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        (engine,) = psutil.Process(parent.pid).children()
        parent.kill()
        parent.communicate(timeout=SECONDS)
        assert gone(engine)
