"""Keys and actions on every screen: the command palette, the help, ctrl+c, the footers, the prompt's history."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.events import Paste
from textual.widgets import Input, OptionList

from specchat.app.actions import ACTIONS
from specchat.app.palette import OFFERED
from specchat.app.screens.help import HelpScreen
from specchat.app.widgets.words_help import WORDS
from specchat.settings.values import Look, Settings
from support.chatting import Chatting, chatting
from support.fake_engine import Scenario

ENDLESS = Scenario(endless=True, rate=200.0, real_time=True)
NAME_WIDTH = 23
"""Of the help's column of names, without what is left free beside it."""
OVER_THE_CHAT = ("f1", "f3", "f5", "f6", "f7", "f8", "ctrl+p")


async def opened(chat: Chatting, key: str) -> None:
    """Open what lies over the chat."""
    await chat.pilot.press(key)
    await chat.until(lambda: chat.app.screen is not chat.chat and chat.app.screen.is_current)


async def choose(chat: Chatting, title: str) -> None:
    """Have the command palette do something."""
    await opened(chat, "ctrl+p")
    await chat.type(title)
    await chat.pilot.press("enter")
    await chat.until(lambda: chat.app.screen is chat.chat)


# ---------------------------------------------------------------------- the command palette


async def test_the_palette_offers_every_action(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await opened(chat, "ctrl+p")
        offered = chat.app.screen.query_one(OptionList)
        await chat.until(lambda: offered.option_count == len(ACTIONS) - 1)  # all but itself
        for index, action in enumerate(OFFERED):
            assert str(offered.get_option_at_index(index).prompt).startswith(action.title)


async def test_the_palette_acts_on_the_app(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await choose(chat, "Light or dark")
        await chat.until(lambda: not chat.app.current_theme.dark)


async def test_the_palette_acts_on_the_chat(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await choose(chat, "Speculation on or off")
        await chat.until(lambda: not chat.conversation.speculation.enabled)


async def test_the_palette_acts_on_the_prompt(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.type("a")
        await choose(chat, "New line")
        await chat.type("b")
        assert chat.composer.text == "a\nb"


async def test_the_palette_acts_on_the_messages(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        reply = await chat.ask("one")
        await choose(chat, "Copy the selected")
        await chat.until(lambda: chat.app.clipboard == reply.raw)
        await choose(chat, "Message before")
        await chat.until(lambda: [view for view in chat.views if view.has_class("-selected")] == [chat.views[0]])
        assert chat.app.focused is chat.transcript


async def test_the_palette_stops_a_reply(tmp_path: Path) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await chat.send("go on")
        await chat.until(lambda: chat.replies and chat.replies[-1].raw)
        await choose(chat, "Stop")
        await chat.until(lambda: chat.replies[0].message)


async def test_enter_chooses_what_is_found_for_all_that_was_typed_before_it(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await opened(chat, "ctrl+p")
        for key in "light or dark":
            chat.app.simulate_key("space" if key == " " else key)
        chat.app.simulate_key("enter")
        await chat.until(lambda: not chat.app.current_theme.dark)


@pytest.mark.parametrize("key", OVER_THE_CHAT)
async def test_no_palette_opens_where_it_could_do_nothing(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await opened(chat, key)
        screen = chat.app.screen
        await chat.pilot.press("ctrl+p")
        assert chat.app.screen is screen
        assert len([screen for screen in chat.app.screen_stack if isinstance(screen, CommandPalette)]) == (
            key == "ctrl+p"
        )


# ---------------------------------------------------------------------- the help


async def test_the_help_has_every_action_and_every_word(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(140, 200)) as chat:
        await opened(chat, "f1")
        await chat.until(lambda: "What the words mean" in chat.text)
        rows = [" ".join(row.split()) for row in chat.text.splitlines()]
        for begun in ("F2 ctrl+t Speculation on or off", "ctrl+p, by its name Light or dark", "F4 ctrl+^ Compare"):
            assert any(row.startswith(begun) for row in rows)
        for action in ACTIONS:
            assert action.title in chat.text
            assert action.help[:40] in chat.text
        for word, meaning in WORDS:
            assert all(line in chat.text for line in textwrap.wrap(word, NAME_WIDTH))
            assert meaning[:40] in chat.text


async def test_the_help_says_how_to_do_what_has_no_key(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(140, 200)) as chat:
        await opened(chat, "f1")
        await chat.until(lambda: "ctrl+p, by its name As many guesses as pay" in " ".join(chat.text.split()))


# ---------------------------------------------------------------------- ctrl+c


@pytest.mark.parametrize("key", OVER_THE_CHAT)
async def test_ctrl_c_says_how_to_quit_on_every_screen(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await opened(chat, key)
        screen = chat.app.screen
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: "ctrl+q quits" in chat.text)
        assert chat.app.screen is screen


@pytest.mark.parametrize("key", ["f1", "f5", "f8", "ctrl+p"])
async def test_ctrl_c_stops_a_reply_on_every_screen(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await chat.send("go on")
        await chat.until(lambda: chat.replies and chat.replies[-1].raw)
        await opened(chat, key)
        await chat.pilot.press("ctrl+c")
        await chat.until(lambda: chat.replies[0].message)
        assert "Stopped." in chat.text
        assert chat.app.screen is not chat.chat


async def test_ctrl_c_copies_what_is_selected_in_a_field(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await opened(chat, "f7")
        await chat.type("word")
        await chat.pilot.press("shift+home", "ctrl+c")
        assert chat.app.clipboard == "word"


async def test_ctrl_c_copies_what_the_mouse_selected_in_the_help(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await opened(chat, "f1")
        assert isinstance(chat.app.screen, HelpScreen)
        await chat.pilot.mouse_down(offset=(2, 1))
        await chat.pilot.hover(offset=(6, 1))
        await chat.pilot.mouse_up(offset=(6, 1))
        await chat.pilot.press("ctrl+c")
        assert chat.app.clipboard.startswith("Keys")


# ---------------------------------------------------------------------- the rest


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("f1", ["Esc close"]),
        ("f3", ["Esc close", "→ next round"]),
        ("f5", ["Esc close", "F5 target or draft", "F7 browse"]),
        ("f7", ["Esc close", "Enter open"]),
        ("f8", ["Esc close", "F8 next section"]),
    ],
)
async def test_keys_have_the_same_names_in_every_footer(tmp_path: Path, key: str, shown: list[str]) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await opened(chat, key)
        await chat.until(lambda: all(words in chat.text.splitlines()[-1] for words in shown))


@pytest.mark.parametrize("key", ["f5", "f7", "f8", "ctrl+p"])
@pytest.mark.parametrize("is_still", [True, False])
async def test_no_field_blinks_where_nothing_is_to_move(tmp_path: Path, key: str, is_still: bool) -> None:
    async with chatting(tmp_path, settings=Settings(look=Look("dark", is_still))) as chat:
        await opened(chat, key)
        fields = chat.app.screen.query(Input)
        assert {field.cursor_blink for field in fields} == {not is_still}


@pytest.mark.parametrize("key", ["tab", "shift+tab"])
async def test_tab_goes_to_the_messages_and_back(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await chat.pilot.press(key)
        assert chat.app.focused is chat.transcript
        await chat.pilot.press(key)
        assert chat.app.focused is chat.composer
        assert chat.conversation.speculation.rule == "block"


async def test_a_paste_among_the_messages_is_cleaned_like_any_other(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.pilot.press("tab")
        chat.app.post_message(Paste("one\r\ntwo\x1b[31m red"))
        await chat.until(lambda: chat.composer.text)
        assert chat.composer.text == "one\ntwo red"
        assert chat.app.focused is chat.composer


async def test_the_prompts_of_the_chat_before_can_be_fetched_in_a_new_one(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.views)
        await chat.pilot.press("up")
        assert chat.composer.text == "one"


async def test_in_an_earlier_chat_its_own_prompts_can_be_fetched(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.views)
        await chat.ask("two")
        await opened(chat, "f7")
        await chat.pilot.press("down", "enter")
        await chat.until(lambda: chat.views and chat.views[0].raw == "one")
        await chat.pilot.press("up", "up")
        assert chat.composer.text == "one"
