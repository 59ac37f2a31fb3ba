"""The Lab's screen: its keys, its sizes and looks, and what it takes from the chat."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from specchat.app.chats.store import Store
from specchat.app.costs import Role, source_of
from specchat.app.history.archive import Archive, measurement
from specchat.app.lab.kept import kept_measurements
from specchat.app.lab.mine import MeasuredPoint, Mine
from specchat.app.screens.lab import LabScreen
from specchat.app.screens.lab_alone import LabApp
from specchat.app.widgets.lab_view import Controls
from specchat.models.decoding.cost import CostTable
from specchat.models.engine.messages import Measured, ModelFile, Ready
from specchat.settings.values import Look, ModelOptions, ThemeName
from support.benches import READY, make_document, make_runs
from support.chatting import Chatting, chatting
from support.fake_engine import Scenario
from support.labs import COSTS, DRAFT_COSTS, measured

QUIET = Look(reduced_motion=True)
SIZES = [(80, 24), (140, 40)]


def text(app: LabApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


async def until(app: LabApp, pilot: Pilot[None], holds: Callable[[], object]) -> None:
    for _ in range(200):
        if holds():
            return
        await pilot.pause(0.01)
    raise AssertionError(text(app))


@pytest.mark.parametrize("size", SIZES, ids=["80", "140"])
@pytest.mark.parametrize("theme", ["dark", "light", "no colours"])
async def test_every_page_is_whole_at_every_size_and_look(
    size: tuple[int, int], theme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if theme == "no colours":
        monkeypatch.setenv("NO_COLOR", "1")
    chosen: ThemeName = "light" if theme == "light" else "dark"
    app = LabApp(measured(), Look(chosen, reduced_motion=True))
    async with app.run_test(size=size) as pilot:
        for _mine in (False, True):
            for page in "123456":
                await pilot.press(page)
                await pilot.pause()
                screen = app.screen
                assert isinstance(screen, LabScreen)
                shown = " ".join(text(app).split())
                assert f"[{page}]" in shown
                assert screen.query_one("#body").max_scroll_y == 0, text(app)
                for row in screen.lab.figure(screen._figure.size.width):
                    whole = "".join(part for part, _style in row)
                    assert " ".join(whole.split()) in shown
                assert all(word in shown for word in screen.lab.words().split()[-3:])
                assert all(control.label in shown for control in screen.lab.controls)
                assert ("toy/mine" in shown) == (page in "1234")
            await pilot.press("1", "m")


async def test_keys_turn_pages_choose_and_change() -> None:
    app = LabApp(Mine(), QUIET)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("left")
        assert "[1]" in text(app)
        await pilot.press("right", "right", "right", "down", "minus", "equals_sign", "plus")
        await pilot.pause()
        assert re.search(r"▸ α, share of guesses kept +−  \+ +0.75", text(app))
        await pilot.press("up", "enter")
        await pilot.pause()
        assert re.search(r"▸ γ, guesses in a pass +−  \+ +5", text(app))
        await pilot.press("6", "right")
        assert "[6]" in text(app)
        await pilot.press("2", "space")
        await pilot.pause()
        assert "target passes 1" in text(app)


async def test_the_mouse_does_what_the_keys_do() -> None:
    app = LabApp(Mine(), QUIET)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("4")
        await pilot.pause()
        line = next(line for line in text(app).splitlines() if "α, share" in line)
        for sign, value in (("−", "0.65"), ("+", "0.70")):
            await pilot.click(Controls, offset=(line.index(sign) - 1, 1))
            await pilot.pause()
            assert re.search(rf"▸ α, share of guesses kept +−  \+ +{value}", text(app))
        await pilot.press("2")
        await pilot.pause()
        deeds = next(line for line in text(app).splitlines() if "Space one pass" in line)
        await pilot.click(Controls, offset=(deeds.index("a all"), 3))
        await pilot.pause()
        assert "tokens written 10/10" in text(app)


async def test_the_switch_says_what_to_do_first() -> None:
    app = LabApp(Mine(), QUIET)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("m")
        await pilot.pause()
        assert "Nothing has been measured yet." in text(app)
        await pilot.press("m")
        await pilot.pause()
        assert "WRITE 5" in text(app)


async def test_pages_with_nothing_to_measure_leave_the_switch_alone() -> None:
    app = LabApp(Mine(), QUIET)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5", "m", "6", "m", "m", "1")
        await pilot.pause()
        assert "WRITE 5" in text(app)


async def test_a_window_that_is_too_small_scrolls() -> None:
    app = LabApp(Mine(), QUIET)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("pagedown")
        await pilot.pause()
        assert app.screen.query_one("#body").scroll_offset.y > 0
        await pilot.press("pageup")
        await pilot.pause()
        assert app.screen.query_one("#body").scroll_offset.y == 0


async def test_figures_are_written_to_files_that_were_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = LabApp(Mine(), QUIET)
    async with app.run_test(size=(80, 24)) as pilot:
        for name in ("specchat-lab-4.svg", "specchat-lab-4-2.svg"):
            await pilot.press("4", "e")
            await until(app, pilot, (tmp_path / name).exists)
    assert "<svg" in (tmp_path / "specchat-lab-4.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", ["escape", "ctrl+q"])
async def test_alone_it_ends_with_its_screen(key: str) -> None:
    app = LabApp(Mine(), QUIET)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
    assert app.return_code == 0
    assert app.error is None


# ------------------------------------------------------------------ over the chat


async def opened(chat: Chatting, key: str) -> LabScreen:
    await chat.pilot.press(key)
    await chat.until(lambda: isinstance(chat.app.screen, LabScreen))
    assert isinstance(chat.app.screen, LabScreen)
    return chat.app.screen


@pytest.mark.parametrize("key", ["f6", "ctrl+right_square_bracket"])
async def test_a_key_opens_and_closes_it(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        await opened(chat, key)
        await chat.pilot.press(key)
        await chat.until(lambda: chat.app.screen is chat.chat)


async def test_it_shows_what_the_chat_has_measured(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(measured=Measured(COSTS, DRAFT_COSTS)), size=(80, 24)) as chat:
        await chat.ask("one")
        await chat.until(lambda: chat.conversation.costs.known[0])
        await opened(chat, "f6")
        await chat.pilot.press("m")
        await chat.until(lambda: "16 ★     297" in chat.text)
        await chat.pilot.press("2", "a")
        await chat.until(lambda: "The whole reply: 25 tokens in 10 passes" in chat.text)
        await chat.pilot.press("3")
        await chat.until(lambda: "The draft guessed “A”, and the rule kept it." in chat.text)
        await chat.pilot.press(*["plus"] * 6)
        await chat.until(lambda: "the target put “divisors,” there." in " ".join(chat.text.split()))
        await chat.pilot.press("4")
        await chat.until(lambda: "V(5)/V(1) 2.05" in chat.text)


async def test_another_chat_has_no_positions(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await chat.ask("one")
        assert chat.conversation.last_tokens == 25
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.replies)
        assert chat.conversation.last_tokens == 0
        await opened(chat, "f6")
        await chat.pilot.press("3", "m")
        await chat.until(lambda: "There is no reply yet whose tokens" in chat.text)


async def test_alone_it_shows_what_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "chats.sqlite3"
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
    (tmp_path / "target.gguf").touch()
    store = Store(path)
    await store.open()
    ready = Ready(3, {}, "CPU", (), "")
    roles: tuple[Role, ...] = ("target", "draft")
    sources = [source_of(role, ModelFile(str(tmp_path / "target.gguf"), ModelOptions()), ready) for role in roles]
    store.keep_costs({str(source): table for source, table in zip(sources, (COSTS, DRAFT_COSTS), strict=True)})
    store.keep_costs({"of another machine": COSTS, '{"role": "target", "machine": []}': DRAFT_COSTS})
    await store.close()
    mine = await kept_measurements(path)
    assert (mine.target, mine.draft) == (COSTS, DRAFT_COSTS)
    assert [reply.title[:7] for reply in mine.replies] == ["A prime"]
    assert (await kept_measurements(tmp_path / "none.sqlite3")).replies == []


async def test_alone_it_has_the_points_that_were_measured_of_the_pair(tmp_path: Path) -> None:
    path, store = tmp_path / "chats.sqlite3", Store(tmp_path / "chats.sqlite3")
    await store.open()
    runs = make_runs(lambda step: 20 if step.side.draft else 10)
    await Archive(store).keep(measurement("bench", make_document(runs), runs, READY))
    setup = (await Archive(store).entries())[0].setup
    ready = Ready(3, {}, "CPU", (), "")
    roles: tuple[tuple[Role, str, int, CostTable], ...] = (
        ("target", setup.target, setup.target_size, COSTS),
        ("draft", setup.draft, setup.draft_size, DRAFT_COSTS),
    )
    assert (await kept_measurements(path)).points == []
    for role, name, size, table in roles:
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
        store.keep_costs({str(source_of(role, ModelFile(str(tmp_path / name), ModelOptions()), ready)): table})
    await store.close()
    assert (await kept_measurements(path)).points == [MeasuredPoint(3, pytest.approx(2.0))]
