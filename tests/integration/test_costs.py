"""What passes cost is measured once: it is kept, and handed back with the next load of the same models."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from specchat.app.costs import Role, opened_quietly, source_of
from specchat.models.decoding.cost import CostTable, DepthFactor, WidthCost
from specchat.models.engine.messages import Device, Event, Measured, ModelFile, Ready
from specchat.settings.values import ModelOptions, Settings
from support.cli import Outcome, run
from support.conversing import Scene, conversing
from support.fake_engine import TEXT, Scenario, fake_engine
from support.specchat_with_engine import specchat_with

OF_TARGET = CostTable((WidthCost(1, 0.08, 9), WidthCost(4, 0.12, 3)), (DepthFactor(1024, 1.1, 2),))
OF_DRAFT = CostTable((WidthCost(1, 0.01, 9),), ())
MEASURING = Scenario(measured=Measured(OF_TARGET, OF_DRAFT))
NONE = {"target_costs": None, "draft_costs": None}


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    paths = (tmp_path / "target.gguf", tmp_path / "draft.gguf")
    for path in paths:
        path.write_bytes(b"GGUF")
    return paths


# ------------------------------------------------------------------ what costs depend on

CARD = Device("CUDA0", "A card", "gpu", memory_free=1, memory_total=2)
READY = Ready(2, {"llama.cpp": "b1"}, "CUDA", (CARD,), "AVX2 = 1")


def test_costs_are_of_the_same_file_options_and_machine_again(models: tuple[Path, Path]) -> None:
    def source(role: Role = "target", ready: Ready = READY, path: Path = models[0], **options: object) -> str | None:
        return source_of(role, ModelFile(str(path), ModelOptions(**options)), ready)  # type: ignore[arg-type]

    first = source()
    assert first is not None
    same = {source(), source(ctx=4096), source(ready=replace(READY, devices=(replace(CARD, memory_free=0),)))}
    assert same == {first}
    others = {
        source("draft"),
        source(path=models[1]),
        source(gpu_layers=3),
        source(main_gpu=1),
        source(batch=64),
        source(threads=2),
        source(cache_type_k="q8_0"),
        source(cache_type_v="q8_0"),
        source(flash_attention="on"),
        source(ready=replace(READY, devices=(replace(CARD, description="Another card"),))),
        source(ready=replace(READY, backend="Vulkan")),
        source(ready=replace(READY, versions={"llama.cpp": "b2"})),
    }
    models[0].write_bytes(b"GGUF GGUF")
    others.add(source())
    os.utime(models[0], ns=(0, 0))
    others.add(source())
    assert len(others | {first}) == 15


@pytest.mark.parametrize("name", ["none.gguf", "a\x00b.gguf"])
def test_a_file_that_is_not_there_has_no_costs(tmp_path: Path, name: str) -> None:
    assert source_of("target", ModelFile(str(tmp_path / name), ModelOptions()), READY) is None


@pytest.mark.skipif(sys.platform != "linux", reason="names there are Unicode")
def test_a_name_that_is_no_unicode_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "caf\udce9.gguf"
    path.touch()
    assert source_of("target", ModelFile(str(path), ModelOptions()), READY) is not None


# ------------------------------------------------------------------ a conversation


async def until_kept(scene: Scene, count: int = 2) -> None:
    """Wait until so many costs are in the file."""
    while scene.rows("SELECT count(*) FROM costs") != [(count,)]:
        await asyncio.sleep(0.01)


async def load(scene: Scene) -> list[Event]:
    return [event async for event in scene.conversation.load()]


async def test_what_was_measured_comes_with_the_next_load(tmp_path: Path, models: tuple[Path, Path]) -> None:
    async with conversing(tmp_path, MEASURING, models=models) as scene:
        events = await load(scene)
        await until_kept(scene)  # with nothing asked for
        assert not any(isinstance(event, Measured) for event in events)
        assert scene.engine.costs == [NONE]
    async with conversing(tmp_path, MEASURING, models=models) as scene:
        await load(scene)
        scene.conversation.settings = Settings(draft=ModelOptions(threads=2))
        await load(scene)
        scene.conversation.settings = Settings(target=ModelOptions(threads=2))
        await load(scene)
        known = {"target_costs": OF_TARGET, "draft_costs": OF_DRAFT}
        assert scene.engine.costs == [known, known | {"draft_costs": None}, known | {"target_costs": None}]


async def test_what_a_reply_has_shown_is_kept(tmp_path: Path, models: tuple[Path, Path]) -> None:
    async with conversing(tmp_path, MEASURING, models=(models[0], None)) as scene:
        events = await scene.say()
        await until_kept(scene, 1)  # without a draft there is nothing to be kept of one
        assert not any(isinstance(event, Measured) for event in events)


def lose_the_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE costs")


def spoil_the_costs(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE costs SET costs = '?'")


@pytest.mark.parametrize("harm", [lose_the_table, spoil_the_costs])
async def test_costs_that_cannot_be_read_or_kept_are_nobodys_trouble(
    tmp_path: Path, models: tuple[Path, Path], harm: Callable[[Path], None]
) -> None:
    async with conversing(tmp_path, MEASURING, models=models) as scene:
        await load(scene)
        await until_kept(scene)
        harm(scene.path)
        await scene.conversation.choose(models[0], None)
        await scene.say()
        assert scene.messages[-1].content == TEXT
        assert scene.engine.costs[-1] == NONE


async def test_a_store_that_cannot_be_used_is_one_without_costs(tmp_path: Path) -> None:
    async with opened_quietly(tmp_path) as store:
        store.keep_costs({"x": OF_TARGET})
        assert await store.find_costs("x") == OF_TARGET
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ commands


def command(home: Path, *words: str, stdin: str = "") -> Outcome:
    return run(home, *words, stdin=stdin, command=specchat_with(fake_engine(MEASURING)))


PAIR = ("--target", "target.gguf", "--draft", "draft.gguf")
ASK = ("ask", "Is 7 prime?", *PAIR)
PLAIN = ("chat", "--plain", *PAIR)


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(("words", "stdin"), [(ASK, ""), (PLAIN, "Is 7 prime?\n")], ids=["ask", "plain"])
def test_commands_keep_costs_for_each_other(tmp_path: Path, words: tuple[str, ...], stdin: str) -> None:
    known = f"known costs: {OF_TARGET} {OF_DRAFT}"
    [first, second] = [command(tmp_path, *words, stdin=stdin) for _ in range(2)]
    assert (first.status, first.stdout.strip()) == (second.status, second.stdout.strip()) == (0, TEXT)
    assert (tmp_path / "log" / "engine.log").read_text().count(known) == 1
    command(tmp_path, *ASK)
    assert (tmp_path / "log" / "engine.log").read_text().count(known) == 2


@pytest.mark.usefixtures("models")
def test_ask_needs_no_place_for_costs(tmp_path: Path) -> None:
    usual = command(tmp_path, *ASK)
    shutil.rmtree(tmp_path / "data")
    (tmp_path / "data").write_text("in the way")
    assert command(tmp_path, *ASK) == usual
    assert usual.status == 0
