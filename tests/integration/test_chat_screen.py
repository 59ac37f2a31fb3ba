"""The chat screen, key by key, over a fake engine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.command import CommandPalette
from textual.events import Paste
from textual.widgets import Input

from specchat.app.screens.chats import ChatsScreen
from specchat.app.screens.dialogs import Start
from specchat.app.screens.help import HelpScreen
from specchat.app.screens.history import HistoryScreen
from specchat.app.screens.picker import PickerScreen
from specchat.app.screens.question import Question
from specchat.app.screens.settings import SettingsScreen
from specchat.app.screens.xray import XrayScreen
from specchat.app.widgets.counter import Counter
from specchat.app.widgets.foot import Foot
from specchat.app.widgets.line import Line
from specchat.app.widgets.prose import Prose
from specchat.app.widgets.reply import PromptView
from specchat.app.widgets.strip import Strip
from specchat.models.engine.messages import Notice
from specchat.settings.values import Look, ModelOptions, Reply, Settings
from support.chatting import Chatting, chatting, loaded
from support.fake_engine import TEXT, Fault, Scenario

ENDLESS = Scenario(endless=True, rate=200.0, real_time=True)
SLOW_LOAD = Scenario(load_seconds=60.0)


async def replying(chat: Chatting) -> None:
    """Begin a reply that doesn't end by itself."""
    await chat.send("go on")
    await chat.until(lambda: chat.replies and len(chat.replies[-1].raw) > 200)


# ---------------------------------------------------------------------- a reply


async def test_a_prompt_is_sent_and_its_reply_shown_with_its_figures(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        reply = await chat.ask("What is a prime?")
        assert isinstance(chat.views[0], PromptView)
        assert "What is a prime?" in chat.text
        assert reply.raw == TEXT
        assert "A prime number has exactly two divisors" in chat.text
        assert "accepted" in chat.text.split("A prime number")[1]
        assert [message.content for message in chat.conversation.messages] == ["What is a prime?", TEXT]
        assert chat.composer.text == ""


async def test_the_models_are_loaded_after_the_first_paint_with_their_progress_on_top(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(load_seconds=1.0)) as chat:
        assert "Ask something" in chat.text
        await chat.until(lambda: "loading the target" in chat.text)
        await loaded(chat)
        await chat.until(lambda: "CPU" in chat.text)
        assert "target ◂ lookup + draft" in chat.text.splitlines()[0]


async def test_enter_sends_only_what_was_typed_before_it(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.pilot.press(*"first", "enter", *"second")
        await chat.until(lambda: chat.replies)
        assert chat.views[0].raw == "first"
        assert chat.composer.text == "second"


async def test_nothing_but_space_is_not_sent(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.send("  ")
        assert chat.views == []
        assert chat.composer.text == "  "


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter"])
async def test_a_new_line_can_be_typed(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        await chat.pilot.press("a", key, "b", "enter")
        await chat.until(lambda: chat.views)
        assert chat.views[0].raw == "a\nb"


async def test_the_prompt_grows_with_what_is_typed_up_to_six_lines(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        heights = []
        for _line in range(9):
            await chat.pilot.press("x", "ctrl+j")
            await chat.pilot.pause()
            heights.append(chat.composer.size.height)
        assert heights == [2, 3, 4, 5, 6, 6, 6, 6, 6]


async def test_a_paste_is_cleaned_and_not_sent(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.app.post_message(Paste("one\r\ntwo\x1b[31m red\x1b]52;c;aGk=\x07\x00"))
        await chat.until(lambda: chat.composer.text)
        assert chat.composer.text == "one\ntwo red"
        assert chat.views == []


# ---------------------------------------------------------------------- stopping and waiting


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_reply_is_stopped_and_kept(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await replying(chat)
        await chat.type("typed meanwhile")
        await chat.pilot.press(key)
        await chat.until(lambda: chat.replies[0].message)
        [_said, kept] = chat.conversation.messages
        assert kept.state == "stopped"
        assert kept.content == chat.replies[0].raw
        assert "stopped by you" in chat.text
        assert chat.composer.text == "typed meanwhile"


async def test_ctrl_c_says_how_to_quit_where_nothing_runs(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await loaded(chat)
        await chat.until(lambda: "CPU" in chat.text)
        await chat.pilot.press("ctrl+c")
        assert "ctrl+q quits" in chat.text


async def test_ctrl_c_copies_what_is_selected(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.type("word")
        await chat.pilot.press("shift+home", "ctrl+c")
        assert chat.app.clipboard == "word"


async def test_ctrl_q_quits_also_during_a_reply_which_is_kept(tmp_path: Path) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await replying(chat)
        await chat.pilot.press("ctrl+q")
        await chat.pilot.pause()
        assert not chat.app.is_running or chat.app._exit
    async with chatting(tmp_path) as again:
        [kept] = await again.conversation.store.list_chats()
        await again.conversation.open_chat(kept.id)
        assert [message.role for message in again.conversation.messages] == ["user", "assistant"]
        assert len(again.conversation.messages[1].content) > 100


async def test_a_prompt_typed_during_a_reply_waits_for_its_end(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(text=10 * TEXT, rate=100.0, real_time=True)) as chat:
        await replying(chat)
        await chat.send("and then?")
        await chat.until(lambda: "waiting for its turn: and then?" in chat.text)
        await chat.until(lambda: len(chat.replies) == 2)
        assert [view.raw for view in chat.views if isinstance(view, PromptView)] == ["go on", "and then?"]
        assert chat.conversation.messages[1].state == "whole"
        await chat.until(lambda: "waiting" not in chat.text)


async def test_a_prompt_that_waits_can_be_taken_back(tmp_path: Path) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await replying(chat)
        await chat.send("and then?")
        await chat.pilot.press("up")
        await chat.until(lambda: chat.composer.text)
        assert chat.composer.text == "and then?"
        await chat.until(lambda: "waiting" not in chat.text)


async def test_a_load_can_be_stopped_and_the_next_message_starts_it_anew(tmp_path: Path) -> None:
    async with chatting(tmp_path, SLOW_LOAD) as chat:
        await chat.until(lambda: "loading the target" in chat.text)
        await chat.pilot.press("escape")
        await chat.until(lambda: "The loading was stopped" in chat.text)
        assert chat.conversation.loaded is None
        await chat.send("hello")
        await chat.until(lambda: "loading the target" in chat.text)


# ---------------------------------------------------------------------- earlier prompts


async def test_the_arrow_keys_go_through_earlier_prompts(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await chat.ask("two")
        shown = []
        for key in ("up", "up", "up", "down", "down"):
            await chat.pilot.press(key)
            shown.append(chat.composer.text)
        assert shown == ["two", "one", "one", "two", ""]


async def test_a_changed_prompt_is_left_alone_by_the_arrow_keys(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await chat.pilot.press("up", "x", "up", "down")
        assert chat.composer.text == "onex"


# ---------------------------------------------------------------------- speculation


@pytest.mark.parametrize("key", ["f2", "ctrl+t"])
async def test_speculation_is_turned_off_and_on(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path) as chat:
        await chat.until(lambda: "DRAFT on" in chat.text)
        await chat.pilot.press(key)
        await chat.until(lambda: "DRAFT off" in chat.text)
        assert not chat.conversation.speculation.enabled
        await chat.pilot.press(key)
        await chat.until(lambda: "DRAFT on" in chat.text)


async def test_speculation_is_turned_off_inside_a_reply(tmp_path: Path) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await replying(chat)
        await chat.pilot.press("f2")
        begun = len(chat.replies[0].raw)
        await chat.until(lambda: len(chat.replies[0].raw) > begun + 200)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.replies[0].message)
        rounds = [step.round.speculating for step in chat.conversation.messages[1].steps]
        assert rounds[0]
        assert not rounds[-1]


async def test_in_a_text_the_arrow_keys_move_the_cursor(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.pilot.press("a", "b", "left", "c")
        assert chat.composer.text == "acb"
        assert chat.conversation.speculation.gamma == "auto"


async def test_the_rules_take_turns(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.pilot.press("shift+f6")
        await chat.until(lambda: "token rule" in chat.text)
        await chat.pilot.press("shift+f6")
        await chat.until(lambda: "block rule" in chat.text)


# ---------------------------------------------------------------------- other screens


@pytest.mark.parametrize(
    ("key", "screen"),
    [
        ("f1", HelpScreen),
        ("ctrl+g", HelpScreen),
        ("f3", XrayScreen),
        ("ctrl+r", XrayScreen),
        ("ctrl+underscore", HistoryScreen),
        ("f5", PickerScreen),
        ("ctrl+o", PickerScreen),
        ("f7", ChatsScreen),
        ("ctrl+l", ChatsScreen),
        ("f8", SettingsScreen),
        ("ctrl+s", SettingsScreen),
        ("ctrl+p", CommandPalette),
    ],
)
async def test_a_key_opens_a_screen_and_esc_closes_it(tmp_path: Path, key: str, screen: type) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("hello")
        await chat.type("typed")
        await chat.pilot.press(key)
        await chat.until(lambda: isinstance(chat.app.screen, screen))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.chat)
        assert chat.composer.text == "typed"


async def test_an_earlier_chat_is_opened_and_a_new_one_begun(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("the first chat")
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.views)
        await chat.ask("the second chat")
        await chat.pilot.press("f7")
        await chat.until(lambda: isinstance(chat.app.screen, ChatsScreen))
        await chat.type("first")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.views and chat.views[0].raw == "the first chat")
        assert "accepted" in chat.text
        await chat.ask("and on")
        assert [m.content for m in chat.conversation.messages if m.role == "user"] == ["the first chat", "and on"]


@pytest.mark.parametrize("key", ["ctrl+n", "f7"])
async def test_no_other_chat_is_opened_during_a_reply(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await replying(chat)
        await chat.pilot.press(key)
        await chat.until(lambda: "A reply is being written" in chat.text)
        assert chat.app.screen is chat.chat
        assert len(chat.views) == 2


async def test_changed_settings_hold_at_once(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[look]\ntheme = "light"\nreduced_motion = true\n')
    async with chatting(tmp_path) as chat:
        assert chat.app.current_theme.dark
        await chat.pilot.press("f8")
        await chat.until(lambda: isinstance(chat.app.focused, Input))  # the first field: the temperature
        await chat.pilot.press("1", "escape")
        await chat.until(lambda: not chat.app.current_theme.dark)
        assert chat.conversation.settings.sampling.temperature == 1
        assert not chat.composer.cursor_blink
        assert chat.app.animation_level == "none"


async def test_the_look_can_be_set_beforehand(tmp_path: Path) -> None:
    async with chatting(tmp_path, settings=Settings(look=Look("light", True))) as chat:
        assert not chat.app.current_theme.dark
        assert not chat.composer.cursor_blink
        await chat.pilot.press("f7")
        await chat.until(lambda: isinstance(chat.app.screen, ChatsScreen))
        assert not chat.app.screen.query_one(Line).cursor_blink


# ---------------------------------------------------------------------- among the messages


async def test_messages_are_selected_and_looked_into(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await chat.ask("two")
        await chat.pilot.press("tab", "up", "up")
        assert [view for view in chat.views if view.has_class("-selected")] == [chat.views[1]]
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, XrayScreen))
        await chat.pilot.press("escape")
        await chat.pilot.press("down", "ctrl+y")
        assert chat.app.clipboard == "two"
        await chat.pilot.press("tab")
        assert chat.composer.has_focus


async def test_a_click_selects_a_message_and_moves_nothing(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        for prompt in ("one", "two", "three", "four"):
            await chat.ask(prompt)
        second = chat.replies[1]
        chat.transcript.scroll_to_widget(second, animate=False, top=True)
        await chat.until(lambda: not chat.transcript.is_vertical_scroll_end)
        place = chat.transcript.scroll_y
        await chat.pilot.click(second.query_one(Prose), offset=(5, 1))
        assert [view for view in chat.views if view.has_class("-selected")] == [second]
        assert chat.transcript.scroll_y == place
        assert chat.transcript.chosen is second
        await chat.pilot.press("f3")
        await chat.until(lambda: isinstance(chat.app.screen, XrayScreen))
        await chat.pilot.press("escape", "h", "i")
        await chat.until(lambda: chat.composer.text == "hi")


async def test_the_mouse_selects_text_and_leaves_the_prompt_where_it_is(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        reply = await chat.ask("one")
        await drag(chat, reply.query_one(Prose))
        assert chat.composer.has_focus
        assert not reply.has_class("-selected")
        await chat.pilot.press("ctrl+c")
        assert chat.app.clipboard == "prime"


@pytest.mark.parametrize("look", ["dark", "light"])
@pytest.mark.parametrize(
    "terminal",
    [
        {"COLORTERM": "truecolor", "TERM": "xterm-256color"},
        {"COLORTERM": "", "TERM": "xterm"},
        {"NO_COLOR": "1"},
    ],
    ids=["truecolor", "16", "none"],
)
async def test_selected_text_can_be_seen_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: dict[str, str], look: Literal["dark", "light"]
) -> None:
    for name, value in terminal.items():
        monkeypatch.setenv(name, value)
    async with chatting(tmp_path, settings=Settings(look=Look(look))) as chat:
        reply = await chat.ask("one")
        await chat.type("typed")
        before = [style_of(chat, text) for text in ("A prime number", "typed")]
        await drag(chat, reply.query_one(Prose))
        selected = [style_of(chat, "prime")]
        await chat.pilot.press("shift+home")
        selected.append(style_of(chat, "yped"))  # the cursor is on the first letter
        for style, plain in zip(selected, before, strict=True):
            assert (style.reverse, style.bgcolor) != (plain.reverse, plain.bgcolor)
            if style.reverse:  # of the terminal's own two colours, which can be told apart
                assert style.color and style.color.is_default and style.bgcolor and style.bgcolor.is_default
            else:
                assert style.color != style.bgcolor


def style_of(chat: Chatting, text: str) -> Style:
    """How the text is painted that begins with `text`."""
    [style] = [segment.style for segment in painted(chat) if segment.text.startswith(text)]
    assert style
    return style


def painted(chat: Chatting) -> list[Segment]:
    """All that is on the screen, in the colours that the terminal gets."""
    strips = chat.app.screen._compositor.render_strips()
    for line_filter in chat.app.get_line_filters():
        strips = [strip.apply_filter(line_filter, Color(0, 0, 0)) for strip in strips]
    return [segment for strip in strips for segment in strip]


async def drag(chat: Chatting, prose: Prose) -> None:
    """Select the second word of the fake engine's reply with the mouse."""
    await chat.pilot.mouse_down(prose, offset=(2, 0))
    await chat.pilot.hover(prose, offset=(6, 0))
    await chat.pilot.mouse_up(prose, offset=(6, 0))
    await chat.pilot.pause()


async def test_typing_goes_back_to_the_prompt(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("one")
        await chat.pilot.press("tab", "h", "i")
        await chat.until(lambda: chat.composer.text == "hi")


async def test_the_x_ray_needs_a_reply_that_has_ended(tmp_path: Path) -> None:
    async with chatting(tmp_path, ENDLESS) as chat:
        await chat.pilot.press("f3")
        assert "There is no reply yet" in chat.text
        await replying(chat)
        await chat.pilot.press("f3")
        assert "when the reply has ended" in chat.text


async def test_nothing_moves_while_the_reader_is_further_up(tmp_path: Path) -> None:
    scenario = Scenario(text="line\n\n", endless=True, rate=100.0, real_time=True)
    async with chatting(tmp_path, scenario) as chat:
        await chat.send("go")
        await chat.until(lambda: chat.transcript.virtual_size.height > 100)
        assert chat.transcript.is_vertical_scroll_end
        await chat.pilot.press("pageup")
        place, height = chat.transcript.scroll_y, chat.transcript.virtual_size.height
        await chat.until(lambda: chat.transcript.virtual_size.height > height + 20)
        assert chat.transcript.scroll_y == place
        while not chat.transcript.is_vertical_scroll_end:
            await chat.pilot.press("pagedown")
        height = chat.transcript.virtual_size.height
        await chat.until(lambda: chat.transcript.virtual_size.height > height + 20)
        assert chat.transcript.is_vertical_scroll_end


async def test_a_long_chat_comes_in_parts(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        for _turn in range(40):
            async for _event in chat.conversation.send("again"):
                pass
        chat.conversation.new_chat()
        await chat.pilot.press("f7", "enter")
        await chat.until(lambda: len(chat.views) == 30)
        chat.transcript.scroll_home(animate=False)
        await chat.until(lambda: len(chat.views) == 60)
        assert chat.transcript.scroll_y > 0
        assert "20 earlier messages" in str(chat.transcript.children[0].render())


# ---------------------------------------------------------------------- what goes wrong


async def test_a_notice_stays_until_it_is_taken_away(tmp_path: Path) -> None:
    notice = Notice("draft_left_out", {"path": "draft.gguf"})
    async with chatting(tmp_path, Scenario(notices=(notice,))) as chat:
        await chat.ask("hello")
        assert "without the draft draft.gguf" in chat.text
        await chat.pilot.press("escape")
        assert "without the draft" not in chat.text


async def test_the_notices_of_the_start_are_shown(tmp_path: Path) -> None:
    hints = {tmp_path / "target.gguf": "Try this."}
    start = Start(tmp_path / "settings.toml", tmp_path, notices=("Something was left out.",), hints=hints)
    async with chatting(tmp_path, start=start) as chat:
        assert "Something was left out." in chat.text
        assert "Try this." in chat.text


async def test_the_engine_dies_in_a_reply_and_the_next_message_starts_another(tmp_path: Path) -> None:
    fault = Fault("reply", "exit", 3, log="GGML_ASSERT(x) failed", once=str(tmp_path / "once"))
    async with chatting(tmp_path, Scenario(faults=(fault,))) as chat:
        await chat.send("hello")
        await chat.until(lambda: "GGML_ASSERT(x) failed" in chat.text)
        [_said, kept] = chat.conversation.messages
        assert (kept.state, kept.content) == ("cut", chat.replies[0].raw)
        assert kept.content
        assert "cut off: the engine failed" in chat.text
        reply = await chat.ask("again")
        assert reply.raw == TEXT


async def test_after_two_deaths_a_person_is_asked(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(faults=(Fault("reply", "exit", 3),))) as chat:
        for turn in (1, 2):
            await chat.send("hello")
            await chat.until(lambda turn=turn: len(chat.conversation.messages) == 2 * turn)  # type: ignore[misc]
        await chat.send("once more")
        await chat.until(lambda: isinstance(chat.app.screen, Question))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.composer.text == "once more")
        await chat.pilot.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, Question))
        await chat.pilot.press("tab", "enter")
        await chat.until(lambda: len(chat.conversation.messages) == 6)


async def test_what_waits_comes_back_where_the_engine_fails(tmp_path: Path) -> None:
    fault = Fault("load", "failure", "no_vocabulary")
    async with chatting(tmp_path, Scenario(load_seconds=0.5, faults=(fault,))) as chat:
        await chat.send("hello")
        await chat.until(lambda: "has no vocabulary" in chat.text)
        await chat.until(lambda: chat.composer.text == "hello")
        assert chat.views == []


# ---------------------------------------------------------------------- sizes and looks


async def test_the_counter_is_beside_the_chat_or_below_it(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(100, 30)) as chat:
        assert (chat.chat.query_one(Counter).display, chat.chat.query_one(Strip).display) == (True, False)
        await chat.pilot.resize_terminal(99, 30)
        await chat.until(lambda: not chat.chat.query_one(Counter).display)
        assert chat.chat.query_one(Strip).display


async def test_at_80_by_24_everything_is_in_sight(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await chat.ask("hello")
        for shown in ("target ◂ lookup + draft", "CPU", "DRAFT on · auto · block", "tok/s", "Ask something", "^q quit"):
            assert shown in chat.text, shown


@pytest.mark.parametrize(("columns", "has_hint"), [(50, False), (80, True), (100, False), (120, True)])
async def test_a_replys_figures_are_whole_at_any_width(tmp_path: Path, columns: int, has_hint: bool) -> None:
    async with chatting(tmp_path, size=(140, 24)) as chat:
        reply = await chat.ask("hello")
        foot = reply.query_one(Foot)
        assert foot.render().plain.endswith("2.5 each · 30.0 tok/s · 1.50× est. · F3 X-ray")
        await chat.pilot.resize_terminal(columns, 24)
        await chat.until(lambda: foot.size.width < columns)
        line = foot.render().plain
        assert line in chat.text
        assert "30.0 tok/s · 1.50× est." in line
        assert ("F3 X-ray" in line) == has_hint
        assert foot.size.height == 1


async def test_the_title_shows_how_full_the_context_is(tmp_path: Path) -> None:
    settings = Settings(target=ModelOptions(ctx=100), reply=Reply(system="", max_tokens=0))
    async with chatting(tmp_path, settings=settings) as chat:
        assert "ctx ░░░░░   – %" in chat.text.splitlines()[0]
        await chat.ask("one two three")
        reply = chat.conversation.on.counters().tokens
        await chat.until(lambda: f"ctx ▓░░░░  {3 + reply} %" in chat.text.splitlines()[0])
        await chat.ask("four")
        prompt = 3 + len(TEXT.split()) + 1  # the fake engine counts words
        await chat.until(lambda: f"ctx ▓▓▓░░  {prompt + reply} %" in chat.text.splitlines()[0])
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: "ctx ░░░░░   – %" in chat.text.splitlines()[0])


async def test_another_targets_context_is_not_known_yet(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(80, 24)) as chat:
        await chat.ask("one two three")
        await chat.until(lambda: "ctx ░░░░░   0 %" in chat.text.splitlines()[0])
        await chat.conversation.choose(tmp_path / "other.gguf", None)
        async for _event in chat.conversation.load():
            pass
        chat.chat.show_state()
        await chat.until(lambda: "ctx ░░░░░   – %" in chat.text.splitlines()[0])


@pytest.mark.parametrize("size", [(49, 20), (60, 14), (48, 12), (44, 20), (5, 3), (1, 1)])
async def test_a_window_too_small_asks_for_room_and_keeps_what_is_typed(tmp_path: Path, size: tuple[int, int]) -> None:
    async with chatting(tmp_path) as chat:
        await chat.type("typed before, ")
        await chat.pilot.resize_terminal(*size)
        await chat.until(lambda: "typed before" not in chat.text)
        assert size < (10, 10) or "needs a window of at least 50" in " ".join(chat.text.split())
        await chat.type("meanwhile, ")
        await chat.pilot.resize_terminal(50, 15)
        await chat.until(lambda: "typed before, meanwhile" in chat.text)
        await chat.type("after")
        assert chat.composer.text == "typed before, meanwhile, after"


async def test_without_colours_what_is_on_is_still_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with chatting(tmp_path) as chat:
        await chat.ask("hello")
        assert "DRAFT on" in chat.text
        chat.chat.post_message(chat.chat.LookChanged(chat.chat, Look(theme="light")))
        await chat.pilot.pause()
        styles = [segment.style for segment in painted(chat) if segment.style]
        assert {colour.name for style in styles for colour in (style.color, style.bgcolor) if colour} == {"default"}


async def test_the_title_gives_way_to_long_names(tmp_path: Path) -> None:
    async with chatting(tmp_path, size=(60, 24)) as chat:
        await loaded(chat)
        await chat.conversation.choose(tmp_path / ("a" * 80 + ".gguf"), None)
        chat.chat._turns.load()
        await chat.until(lambda: "aaa" in chat.text)
        title, *rest = chat.text.splitlines()
        assert re.fullmatch(r"  a+…  ctx   – %", title)
        assert len(title) <= 58
        assert "aaa" not in "".join(rest)


def test_nothing_heavy_is_imported_before_the_first_paint() -> None:
    code = """
import asyncio, sys
from pathlib import Path
from specchat.app.chats.store import Store
from specchat.app.conversation import Conversation
from specchat.app.screens.dialogs import Start
from specchat.app.tui import SpecchatApp
from specchat.models.engine.client import EngineClient
from specchat.settings.values import Settings

async def main():
    home = Path(sys.argv[1])
    conversation = Conversation(EngineClient(home / "log", ["nothing"]), Store(home / "x"), Settings(), home / "t.gguf")
    app = SpecchatApp(conversation, Start(home / "s", home))
    async with app.run_test():
        heavy = {"numpy", "llama_cpp", "huggingface_hub", "gguf", "jinja2", "rich.markdown", "pygments.lexers.python"}
        print(sorted(heavy & set(sys.modules)))
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "."], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


async def test_the_screen_answers_while_a_long_reply_comes(tmp_path: Path) -> None:
    items = "".join(f"- item {number} with **bold** and `code`\n" for number in range(300))
    code = "\n```python\n" + "x = 1\n" * 300 + "```\n\nThe end."
    async with chatting(tmp_path, Scenario(text=items + code)) as chat:
        await chat.send("go")
        await chat.type("typed")
        await chat.until(lambda: chat.replies and chat.replies[0].message)
        assert chat.composer.text == "typed"
        assert chat.replies[0].raw == items + code
        await chat.until(lambda: "The end." in chat.text)


async def test_a_prompt_sent_right_after_a_new_chat_was_begun_goes_there(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await chat.ask("the first chat")
        await chat.pilot.press("ctrl+n", *"new", "enter")
        await chat.until(lambda: chat.replies and chat.replies[-1].message is not None and len(chat.views) == 2)
        assert [view.raw for view in chat.views][:1] == ["new"]
        assert [m.content for m in chat.conversation.messages if m.role == "user"] == ["new"]
        assert len(await chat.conversation.store.list_chats()) == 2
