"""What models, people and files may put on the screen: it survives, shows the text, and obeys none of it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from specchat.app.screens.dialogs import Start
from specchat.app.screens.xray import XrayScreen
from specchat.models.engine.messages import Notice
from support.chatting import Chatting, chatting, loaded
from support.fake_engine import Scenario

CLIPBOARD = "\x1b]52;c;aGlqYWNr\x07"
TITLE = "\x1b]0;owned\x1b\\"
COLOUR = "\x1b[31;1m"
C1 = "\x9b31m\x9d0;owned\x9c"
BIDI = "\u202eevil\u2066"
MARKUP = (
    "[/INST]",
    "[/]",
    "[@click=app.quit]x[/]",
    "[red]r[/red]",
    "[link=https://example.org]l[/link]",
    "$[",
    ":smile:",
)


def strange(text: str) -> list[str]:
    """The characters that no text may bring to a terminal."""
    return [char for char in text if (unicodedata.category(char) in ("Cc", "Cs") and char != "\n") or char in BIDI[::5]]


def meta_of(chat: Chatting) -> list[dict[str, object]]:
    """What a click anywhere on the screen would do."""
    segments = (segment for strip in chat.app.screen._compositor.render_strips() for segment in strip)
    return [segment.style.meta for segment in segments if segment.style and "@click" in segment.style.meta]


async def test_escape_sequences_split_at_every_point_show_nothing_of_themselves(tmp_path: Path) -> None:
    sequences = CLIPBOARD + TITLE + COLOUR + C1 + "\x00\x08\x7f" + BIDI
    split = "".join(f"a{sequences[:place]}b{sequences[place:]}c\n\n" for place in range(len(sequences) + 1))
    async with chatting(tmp_path, Scenario(text=f"begin {split} end")) as chat:
        reply = await chat.ask("go")
        assert reply.raw == f"begin {split} end"
        assert strange(chat.text) == []
        assert "owned" not in chat.text
        assert "aGlqYWNr" not in chat.text
        chat.transcript.scroll_home(animate=False)
        await chat.until(lambda: "begin a" in chat.text)
        assert strange(chat.text) == []


@pytest.mark.parametrize("cut", range(1, 24))
async def test_a_sequence_that_comes_in_two_rounds_is_taken_out(tmp_path: Path, cut: int) -> None:
    async with chatting(tmp_path, Scenario(text="x")) as chat:
        reply = await chat.ask("go")
        whole = f"one{COLOUR}two{CLIPBOARD}three"
        view = type(reply)("model")
        await chat.transcript.add(view)
        view.add(whole[:cut])
        await chat.pilot.pause(0.15)
        view.add(whole[cut:])
        view.end(None)
        await chat.until(lambda: "onetwothree" in chat.text)


async def test_markup_is_shown_and_nothing_of_it_is_live(tmp_path: Path) -> None:
    text = "\n\n".join(MARKUP) + "\n\n[docs](https://example.org) <https://example.org/y> [bad](javascript:x)"
    notice = Notice("draft_left_out", {"path": " ".join(MARKUP)})
    start = Start(
        tmp_path / "settings.toml",
        tmp_path,
        notices=[" ".join(MARKUP)],
        hints={tmp_path / "target.gguf": " ".join(MARKUP)},
    )
    async with chatting(tmp_path, Scenario(text=text, notices=(notice,)), start=start, size=(120, 60)) as chat:
        await chat.until(lambda: MARKUP[2] in chat.text)
        await chat.ask(" ".join(MARKUP))
        for said in MARKUP:
            assert chat.text.count(said) >= 3, said  # prompt, reply, notices
        assert "docs (https://example.org)" in chat.text
        assert meta_of(chat) == []


async def test_markup_in_what_waits_and_in_the_history_is_only_text(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(endless=True, rate=50.0, real_time=True)) as chat:
        await chat.send("go")
        await chat.until(lambda: chat.replies)
        chat.composer.text = "[/INST][@click=app.quit]x[/]" + COLOUR
        await chat.pilot.press("enter")
        await chat.until(lambda: "[/INST][@click=app.quit]x[/]" in chat.text)
        assert meta_of(chat) == []
        assert strange(chat.text) == []


@pytest.mark.parametrize("word", ["lorem ipsum ", "x", "漢字", "- ", "> ", "`", "*_"])
async def test_a_line_of_100_kb_is_shown(tmp_path: Path, word: str) -> None:
    text = word * (100_000 // len(word.encode())) + "end"
    async with chatting(tmp_path, Scenario(text=text)) as chat:
        reply = await chat.ask("go")
        assert reply.raw == text
        await chat.until(lambda: "end" in chat.text)
        await chat.pilot.press("f1")
        await chat.until(lambda: "All keys" in chat.text)


async def test_bytes_that_are_no_text_become_replacement_characters(tmp_path: Path) -> None:
    raw = b"a\xffb\n\xe6\xbc\n\xa2 whole\n\xed\xa0\x80 \xf8 end\xc3"
    async with chatting(tmp_path, Scenario(raw=raw)) as chat:
        reply = await chat.ask("go")
        assert reply.raw == "a\ufffdb\n\ufffd\n\ufffd whole\n\ufffd\ufffd\ufffd \ufffd end\ufffd"
        for shown in ("a\ufffdb", "\ufffd whole", "\ufffd end\ufffd"):
            assert shown in chat.text
        await chat.pilot.press("f3")
        await chat.until(lambda: "⟨FF⟩" in chat.text)
        for shown in ("⟨E6 BC⟩", "⟨A2⟩ whole", "⟨ED A0 80⟩ ⟨F8⟩ end⟨C3⟩"):
            assert shown in chat.text
        assert strange(chat.text) == []


async def test_half_a_character_in_a_prompt_is_replaced(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await loaded(chat)
        chat.composer.text = "half \ud83d"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.replies and chat.replies[0].message)
        assert strange(chat.text) == []


@pytest.mark.parametrize("mark", ["\u0301", "\u200d", "\ufe0f", "\u0e47"])
async def test_a_flood_of_marks_on_one_character_stays_in_its_place(tmp_path: Path, mark: str) -> None:
    async with chatting(tmp_path, Scenario(text=f"a{mark * 20_000} end\n\nafter")) as chat:
        await chat.ask("go")
        assert "after" in chat.text
        assert "DRAFT on" in chat.text


async def test_the_x_ray_of_hostile_text_opens(tmp_path: Path) -> None:
    text = f"{COLOUR}red {CLIPBOARD} [/INST] [@click=app.quit]x[/] {C1}\u202e end"
    async with chatting(tmp_path, Scenario(text=text)) as chat:
        await chat.ask("[/INST]")
        await chat.pilot.press("f3")
        await chat.until(lambda: isinstance(chat.app.screen, XrayScreen))
        assert "[@click=app.quit]x[/]" in chat.text.replace("│", "").replace("\n", "")
        assert strange(chat.text) == []
        assert meta_of(chat) == []


async def test_hostile_titles_and_messages_of_earlier_chats_are_only_text(tmp_path: Path) -> None:
    async with chatting(tmp_path, Scenario(text=f"{COLOUR}[/INST] reply")) as chat:
        await chat.ask("[@click=app.quit]x[/] prompt")
        await chat.pilot.press("ctrl+n", "f7")
        await chat.until(lambda: "[@click=app.quit]x[/] prompt" in chat.text)
        await chat.pilot.press("enter")
        await chat.until(lambda: "[/INST] reply" in chat.text)
        assert strange(chat.text) == []
        assert meta_of(chat) == []


async def test_hostile_names_of_files_are_only_text(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        await loaded(chat)
        await chat.conversation.choose(tmp_path / f"{COLOUR}[INST]{BIDI}.gguf", None)
        await chat.ask("go")
        assert "[INST]" in chat.text.splitlines()[0]
        assert strange(chat.text) == []
