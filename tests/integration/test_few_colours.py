"""The chat where grounds mark nothing: without colours, with sixteen of them, with the terminal's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from specchat.app.screens.question import Question
from specchat.settings.values import Look, Reply, Settings
from support.chatting import Chatting, chatting

TERMINALS = [
    pytest.param({"NO_COLOR": "1"}, "dark", id="no colours"),
    pytest.param({"COLORTERM": "", "TERM": "xterm"}, "dark", id="16 colours"),
    pytest.param({"COLORTERM": "truecolor", "TERM": "xterm-256color"}, "terminal", id="the terminal's own"),
]


def few_colours(monkeypatch: pytest.MonkeyPatch, terminal: dict[str, str], theme: str) -> Settings:
    """Sets up a terminal; returns the settings for it."""
    for name, value in terminal.items():
        monkeypatch.setenv(name, value)
    return Settings(reply=Reply(max_tokens=8), look=Look(theme))  # type: ignore[arg-type]


async def fill(chat: Chatting) -> None:
    """Have one word in every row and column of the chat."""
    chat.composer.text = "quokka " * 1000
    await chat.pilot.press("enter")
    await chat.until(lambda: chat.replies and chat.replies[0].message)
    chat.transcript.scroll_home(animate=False)
    await chat.until(lambda: chat.text.count("quokka") > 100)


@pytest.mark.parametrize(("terminal", "theme"), TERMINALS)
@pytest.mark.parametrize("key", ["f1", "f3"])
async def test_a_screen_over_the_chat_hides_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: dict[str, str], theme: str, key: str
) -> None:
    async with chatting(tmp_path, size=(100, 30), settings=few_colours(monkeypatch, terminal, theme)) as chat:
        await fill(chat)
        await chat.pilot.press(key)
        await chat.until(lambda: chat.app.screen is not chat.chat and chat.app.screen.is_current)
        await chat.pilot.pause()
        assert "quokka" not in chat.text


@pytest.mark.parametrize(("terminal", "theme"), TERMINALS)
@pytest.mark.parametrize("key", ["f5", "f7", "f8", "a question"])
async def test_a_dialog_has_an_edge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: dict[str, str], theme: str, key: str
) -> None:
    async with chatting(tmp_path, size=(130, 40), settings=few_colours(monkeypatch, terminal, theme)) as chat:
        if key == "a question":
            chat.app.push_screen(Question("Sure?", "Yes", "No"))
        else:
            await chat.pilot.press(key)
        await chat.until(lambda: chat.app.screen is not chat.chat)
        await chat.until(lambda: "╭" in chat.text)
        rows = [line for line in chat.text.splitlines() if "│" in line]
        assert len(rows) >= 3
        assert {(row.index("│"), row.rindex("│")) for row in rows} == {(rows[0].index("│"), rows[0].rindex("│"))}
