"""On the chat screen: how many guesses, by whom, and why so many."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette

from specchat.settings.values import Settings, Speculation
from support.chatting import chatting
from support.fake_engine import Scenario

# ---------------------------------------------------------------------- how many


@pytest.mark.parametrize(("key", "gamma"), [("f9", 2), ("f10", 4), ("left", 2), ("right", 4)])
async def test_the_guesses_of_a_round_can_be_changed(tmp_path: Path, key: str, gamma: int) -> None:
    async with chatting(tmp_path, settings=Settings(speculation=Speculation(gamma=3))) as chat:
        await chat.until(lambda: "γ 3 · block rule" in chat.text)
        await chat.pilot.press(key)
        await chat.until(lambda: f"γ {gamma} · block rule" in chat.text)
        assert chat.conversation.speculation.gamma == gamma
        assert f"{gamma} guesses a round (γ) from now on. Fewer than 0 is auto." in chat.notices


@pytest.mark.parametrize("key", ["f9", "f10", "left", "right"])
async def test_from_auto_a_person_takes_over_with_three_guesses(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        await chat.until(lambda: "DRAFT on · γ auto · block rule" in chat.text)
        await chat.pilot.press(key)
        await chat.until(lambda: "DRAFT on · γ 3 · block rule" in chat.text)
        assert chat.conversation.speculation.gamma == 3


async def test_fewer_than_no_guesses_is_auto(tmp_path: Path) -> None:
    async with chatting(tmp_path, settings=Settings(speculation=Speculation(gamma=1))) as chat:
        await chat.pilot.press("f9")
        await chat.until(lambda: "DRAFT off · γ 0" in chat.text)
        await chat.pilot.press("f9")
        await chat.until(lambda: "DRAFT on · γ auto" in chat.text)
        assert chat.notices == "As many guesses a round as pay from now on (γ auto)."


async def test_the_palette_leads_back_to_auto(tmp_path: Path) -> None:
    async with chatting(tmp_path, settings=Settings(speculation=Speculation(gamma=32))) as chat:
        await chat.pilot.press("ctrl+p")
        await chat.until(lambda: isinstance(chat.app.screen, CommandPalette))
        await chat.type("as pay")
        await chat.until(lambda: "As many guesses as pay" in chat.text)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.conversation.speculation.gamma == "auto")


# ---------------------------------------------------------------------- who


@pytest.mark.parametrize("key", ["f12", "ctrl+f"])
async def test_the_drafters_take_turns(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        seen = [chat.conversation.drafter]
        for _turn in range(4):
            await chat.pilot.press(key)
            seen.append(chat.conversation.drafter)
        assert seen == ["both", "model", "lookup", "none", "both"]
        await chat.until(lambda: "lookup + model" in chat.text)


async def test_with_a_given_number_of_guesses_the_draft_model_guesses(tmp_path: Path) -> None:
    async with chatting(tmp_path, settings=Settings(speculation=Speculation(gamma=3))) as chat:
        assert chat.conversation.drafter == "model"


async def test_without_a_draft_that_fits_only_lookup_guesses_and_that_is_what_is_shown(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(misfits=("draft.gguf",))) as chat:
        await chat.until(lambda: "target ◂ prompt lookup" in chat.text)
        await chat.until(lambda: "lookup + model" not in chat.text)
        await chat.pilot.press("f12")
        assert chat.conversation.drafter == "lookup"


# ---------------------------------------------------------------------- the reason


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=["beside the chat", "below it"])
async def test_the_reason_for_the_guesses_is_shown(tmp_path: Path, size: tuple[int, int]) -> None:
    async with chatting(tmp_path, size=size) as chat:
        await chat.ask("hello")
        await chat.until(lambda: "3 guesses: more wouldn't pay" in chat.text)


async def test_plain_decoding_says_why(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(reasons=("plain",))) as chat:
        await chat.ask("hello")
        await chat.until(lambda: "plain: guessing wouldn't pay" in chat.text)
        assert "DRAFT on · γ auto · block rule" in chat.text  # which is as true as before


async def test_the_reason_of_another_mode_is_gone_at_once(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("hello")
        await chat.until(lambda: "3 guesses" in chat.text)
        await chat.pilot.press("f2")
        await chat.until(lambda: "DRAFT off" in chat.text)
        assert "3 guesses" not in chat.text
        await chat.ask("again")
        await chat.until(lambda: "plain: the draft is off" in chat.text)
