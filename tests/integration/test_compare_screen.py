"""Compare on the screen: keys and states, at both sizes, over a scripted engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.widgets import OptionList

from specchat.app.chats.records import Message, Setup, Step
from specchat.app.chats.store import Store
from specchat.app.screens.compare import CompareScreen
from specchat.app.screens.drafts import DraftsScreen
from specchat.app.screens.history import HistoryScreen
from specchat.app.screens.question import Question
from specchat.settings.values import Reply, Sampling, Settings
from support.chatting import Chatting, chatting
from support.fake_engine import Fault, Scenario
from support.rounds import make_round

GREEDY = Settings(sampling=Sampling(temperature=0.0), reply=Reply(max_tokens=30))
FASTER = Scenario(rate=30, plain_rate=20)
SLOW = Scenario(endless=True, rate=200, plain_rate=150, real_time=True)


async def opened(chat: Chatting, key: str = "f4") -> CompareScreen:
    """The screen, opened on what is typed or was asked."""
    await chat.until(lambda: chat.conversation.loaded)
    await chat.pilot.press(key)
    await chat.until(lambda: isinstance(chat.app.screen, CompareScreen))
    assert isinstance(chat.app.screen, CompareScreen)
    return chat.app.screen


async def done(chat: Chatting) -> None:
    """Wait for the verdict, and until the chat has its models again."""
    await chat.until(lambda: "Done." in chat.text)
    await chat.until(lambda: chat.chat._turns.doing == "nothing")


def replies(screen: CompareScreen) -> int:
    """How many replies of a comparison were begun."""
    began = screen._session.began if screen._session else None
    return began.number if began else 0


@pytest.mark.parametrize(("key", "size"), [("f4", (80, 24)), ("ctrl+circumflex_accent", (140, 40))], ids=["80", "140"])
async def test_a_prompt_is_compared_and_the_verdict_stands_above_the_texts(
    tmp_path: Path, key: str, size: tuple[int, int]
) -> None:
    async with chatting(tmp_path, FASTER, size=size) as chat:
        await chat.ask("Is 7 prime?")
        screen = await opened(chat, key)
        assert "Is 7 prime?" in chat.text
        await chat.pilot.press("3")
        await done(chat)
        assert "helps: 1.50× (1.50–1.50)" in chat.text
        await chat.pilot.press("end")
        await chat.until(lambda: "· without" in chat.text and "▔ draft.gguf" in chat.text)
        side = "A prime number" in chat.text.split("· without", 1)[1].splitlines()[1]
        assert side
        heads = [line for line in chat.text.splitlines() if "· without" in line or "▔ draft.gguf" in line]
        assert len(heads) == (1 if size[0] >= 100 else 2)  # stacked where it is narrow
        assert screen.query_one("#page").max_scroll_x == 0
        await chat.pilot.press(key)
        await chat.until(lambda: chat.app.screen is chat.chat)
        await chat.ask("next")


async def test_what_is_typed_is_compared_with_the_chat_before_it(tmp_path: Path) -> None:
    async with chatting(tmp_path, FASTER) as chat:
        await chat.ask("one")
        await chat.type("two")
        screen = await opened(chat)
        assert (screen._prompt.text, [said.content for said in screen._prompt.before][:1]) == ("two", ["one"])
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.chat)
        assert chat.composer.text == "two"


async def test_keys_that_were_typed_just_before_are_part_of_the_prompt(tmp_path: Path) -> None:
    async with chatting(tmp_path, FASTER) as chat:
        for letter in "Hi":
            chat.composer.post_message(events.Key(letter, letter))
        chat.chat.action_compare()
        await chat.until(lambda: isinstance(chat.app.screen, CompareScreen))
        assert "Hi" in chat.text


async def test_the_selected_prompt_is_compared(tmp_path: Path) -> None:
    async with chatting(tmp_path, FASTER) as chat:
        await chat.ask("one")
        await chat.ask("two")
        await chat.pilot.press("tab", "up", "up")
        screen = await opened(chat)
        assert (screen._prompt.text, screen._prompt.before) == ("one", ())


async def test_without_any_prompt_nothing_opens(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.pilot.press("f4")
        await chat.until(lambda: "no prompt yet" in chat.notices)
        assert chat.app.screen is chat.chat


async def test_it_does_not_take_the_engine_from_a_reply(tmp_path: Path) -> None:
    async with chatting(tmp_path, SLOW) as chat:
        await chat.send("go on")
        await chat.until(lambda: chat.conversation.on.counters().tokens)
        await chat.pilot.press("f4")
        await chat.until(lambda: "A reply is being written" in chat.notices)
        assert chat.app.screen is chat.chat
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.replies[0].message)


async def test_esc_stops_it_and_keeps_what_was_measured(tmp_path: Path) -> None:
    async with chatting(tmp_path, SLOW, settings=GREEDY) as chat:
        await chat.type("Is 7 prime?")
        screen = await opened(chat)
        await chat.pilot.press("5")
        await chat.until(lambda: replies(screen) >= 4 and "s left" in chat.text)
        await chat.pilot.press("escape")
        await done(chat)
        assert "Partial" in chat.text
        assert "helps" in chat.text or "one repeat" in chat.text
        await chat.pilot.press("h")
        await chat.until(lambda: isinstance(chat.app.screen, HistoryScreen))
        await chat.until(lambda: "partial" in chat.text)
        await chat.pilot.press("escape", "escape")
        await chat.until(lambda: chat.app.screen is chat.chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.replies and chat.replies[0].message)


async def test_the_next_comparison_begins_without_the_verdict_of_the_one_before(tmp_path: Path) -> None:
    async with chatting(tmp_path, SLOW, size=(80, 24), settings=GREEDY) as chat:
        await chat.type("Hi")
        screen = await opened(chat)
        await chat.pilot.press("1")
        await done(chat)
        assert "why" in chat.text and "pays if" in chat.text
        await chat.pilot.press("3")
        await chat.until(lambda: replies(screen) >= 1)
        assert "pays if" not in chat.text
        assert "· without" in chat.text
        await chat.pilot.press("escape")
        await chat.until(lambda: not screen._is_running)


async def test_it_can_be_left_where_the_engine_may_not_be_started(tmp_path: Path) -> None:
    fault = Fault("load", "exit", 3)
    async with chatting(tmp_path, Scenario(faults=(fault,))) as chat:
        await chat.until(lambda: "ended by itself" in chat.notices)
        await chat.send("Hi")
        await chat.until(lambda: chat.conversation.must_ask_before_load and chat.composer.text == "Hi")
        await chat.pilot.press("f4")
        await chat.until(lambda: isinstance(chat.app.screen, CompareScreen))
        await chat.pilot.press("3")
        await chat.until(lambda: isinstance(chat.app.screen, Question))
        await chat.pilot.press("escape")
        await chat.until(lambda: "Enter or 3 compares it" in chat.text)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.chat)


async def test_ctrl_c_stops_it_too(tmp_path: Path) -> None:
    async with chatting(tmp_path, SLOW, settings=GREEDY) as chat:
        await chat.type("Hi")
        screen = await opened(chat)
        await chat.pilot.press("5")
        await chat.until(lambda: replies(screen) >= 2)
        await chat.pilot.press("ctrl+c")
        await done(chat)


async def test_at_temperature_0_it_shows_where_the_texts_part(tmp_path: Path) -> None:
    async with chatting(tmp_path, FASTER, settings=GREEDY) as chat:
        await chat.type("Hi")
        await opened(chat)
        await chat.pilot.press("1")
        await done(chat)
        await chat.pilot.press("end")
        await chat.until(lambda: "other tokens from token 1 on" in " ".join(chat.text.split()))


async def test_an_engine_that_dies_is_told_of_and_the_chat_goes_on(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(dies_after=2)) as chat:
        await chat.type("Hi")
        await opened(chat)
        await chat.pilot.press("3")
        await chat.until(lambda: "The engine ended by itself" in chat.text)
        await chat.until(lambda: chat.conversation.loaded and chat.chat._turns.doing == "nothing")
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.chat)


async def test_a_tournament_sorts_drafts_by_their_speed(tmp_path: Path) -> None:
    for name, size in (("target.gguf", 1000), ("draft.gguf", 10), ("small.gguf", 5)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    async with chatting(tmp_path, FASTER, size=(80, 24)) as chat:
        await chat.type("Hi")
        await opened(chat)
        await chat.pilot.press("t")
        await chat.until(lambda: isinstance(chat.app.screen, DraftsScreen))
        await chat.until(lambda: "small.gguf" in chat.text)
        assert chat.text.count("■") == 2
        await chat.pilot.press("down", "down", "space")
        await chat.until(lambda: "3 drafts and none, in turns, on this prompt." in chat.text)
        assert chat.app.screen.query_one(OptionList).highlighted == 2
        await chat.pilot.press("enter")
        await done(chat)
        rows = [line for line in chat.text.splitlines() if "×" in line]
        assert any("no draft" in line and "1.00×" in line for line in rows)
        assert sum("1.50×" in line for line in rows) >= 3
        assert "memory" in chat.text
        assert Path(chat.conversation.loaded.draft.path).name == "draft.gguf"  # type: ignore[union-attr]


async def test_a_comparison_is_exported_into_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with chatting(tmp_path, FASTER) as chat:
        await chat.type("Hi")
        await opened(chat)
        await chat.pilot.press("e")
        await chat.until(lambda: "nothing to export" in chat.text)
        await chat.pilot.press("1")
        await done(chat)
        await chat.pilot.press("e")
        await chat.until(lambda: "Written:" in chat.text)
        assert {path.suffix for path in tmp_path.glob("specchat-compare-*")} == {".md", ".json", ".svg", ".png"}


async def test_the_history_lists_measurements_and_chats(tmp_path: Path) -> None:
    async with chatting(tmp_path, FASTER, size=(80, 24)) as chat:
        await chat.pilot.press("ctrl+underscore")
        await chat.until(lambda: "Nothing is known yet" in chat.text)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.chat)
        await chat.ask("Is 7 prime?")
        await opened(chat)
        await chat.pilot.press("enter")
        await done(chat)
        await chat.pilot.press("h")
        await chat.until(lambda: isinstance(chat.app.screen, HistoryScreen) and "1.50×" in chat.text)
        assert "draft.gguf ▸ target.gguf" in chat.text
        assert "A processor · CPU" in chat.text
        assert "estimated" not in chat.text  # it was measured
        await chat.pilot.press("down")
        await chat.until(lambda: "indicative, not measured" in " ".join(chat.text.split()))


async def test_sums_of_on_and_off_bear_an_honest_label(tmp_path: Path) -> None:
    async with chatting(tmp_path, FASTER, size=(120, 40)) as chat:
        await chat.ask("one")
        assert "indicative" not in chat.text
        await chat.pilot.press("f2")
        await chat.ask("two")
        await chat.until(lambda: "other texts: indicative, not measured" in chat.text)


async def test_a_draft_that_used_to_be_better_is_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specchat.app.history.collapse.COLLAPSE", 0.9)  # the scripted draft's α is always 0.7
    store = Store(tmp_path / "chats.sqlite3")
    assert await store.open() is None
    kept, _said = await store.start_chat("", "before")
    steps = (Step(replace(make_round(10, 9), alpha_sum=9.5, alpha_weight=10.0), ()),) * 30
    setup = Setup("target.gguf", 0, "draft.gguf", 0, "A processor · CPU")
    await store.save(Message(0, kept.id, "assistant", "…", "whole", steps, "end", "target.gguf", setup))
    await store.close()
    settings = Settings(reply=Reply(max_tokens=200))
    async with chatting(tmp_path, Scenario(endless=True), settings=settings) as chat:
        await chat.ask("one")
        said = "draft.gguf agrees far less with the target than in earlier chats: α 0.70, 0.95 before."
        await chat.until(lambda: said in chat.notices)
        await chat.pilot.press("escape")
        await chat.ask("two")
        assert said not in chat.notices
