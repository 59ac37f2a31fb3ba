"""Shows specchat's texts in a made-up language: English in capitals. What isn't in capitals wasn't translated.

Run in an empty folder. A line `== NAME` begins each text on standard output.
"""

from __future__ import annotations

import asyncio
import gettext
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specchat.app import words

if TYPE_CHECKING:
    from support.chatting import Chatting

_PLACE = re.compile(r"(\{[^{}]*\})")


class Shouting(gettext.NullTranslations):
    """A catalogue that has everything."""

    def gettext(self, message: str) -> str:
        return "".join(part if _PLACE.fullmatch(part) else part.upper() for part in _PLACE.split(message))

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


def show(name: str, text: str) -> None:
    """Write a text."""
    print(f"== {name}\n{text}")


def show_command_line() -> None:
    """The help of the program and of its commands."""
    from specchat.app.command_line.options import COMMANDS, build_parser
    from specchat.app.command_line.parser import Parser

    parser = build_parser()
    show("specchat", parser.format_help())
    [commands] = [action for action in parser._actions if action.dest == "command"]
    assert isinstance(commands.choices, dict)
    for name in COMMANDS:
        command = commands.choices[name]
        assert isinstance(command, Parser)
        show(name, command.format_help())


def show_sentences() -> None:
    """What is said of every code, and of the values that are codes."""
    from specchat.app.sentences import PHRASES, SENTENCES
    from specchat.app.words import _, sentence

    for code, said in SENTENCES.items():
        names = set(re.findall(r"\{(\w+)", said))
        show(code, sentence(code, dict.fromkeys(names, 1)))
    for phrase in PHRASES.values():
        show("phrase", _(phrase))


async def show_lab(chat: Chatting) -> None:
    """The Lab's pages, with toys and with this machine's numbers."""
    await chat.pilot.press("f6")
    for page in "123456":
        await chat.pilot.press(page, "a")
        await chat.until(lambda: f"[{page}]" in chat.text)  # noqa: B023 - called at once
        show(f"lab {page}", chat.text)
    for page in "1234":
        await chat.pilot.press(page, "m")
        await chat.pilot.pause()
        show(f"lab {page} mine", chat.text)
        await chat.pilot.press("m")
    await chat.pilot.press("escape")


async def show_screens(size: tuple[int, int] = (140, 60)) -> None:
    """The screens in a window of so many columns and rows, each in a state with as much on it as there can be."""
    from textual.command import CommandList

    from specchat.app.screens.dialogs import Start
    from specchat.settings.values import SECTIONS
    from support.chatting import chatting
    from support.fake_engine import Scenario

    home = Path()
    start = Start(home / "SETTINGS.TOML", home, at_hand=[(home / "A.GGUF", "A")], home=home / "HOME")
    async with chatting(home, Scenario(text="SO IT IS."), start=start, size=size) as chat:
        await chat.conversation.choose(home / "BIG.GGUF", home / "SMALL.GGUF")
        await chat.ask("WHY?")
        show("chat screen", chat.text)
        await show_lab(chat)
        for key in ("f1", "f3", "f5", "f7", "f8", "ctrl+p"):
            await chat.pilot.press(key)
            await chat.until(lambda: len(chat.app.screen_stack) == 2)
            for part in SECTIONS if key == "f8" else ("",):
                show(f"{key} {part}".strip(), chat.text)
                await chat.pilot.press(key if key in ("f5", "f8") else "down")
                await chat.until(lambda: True)
            if key == "ctrl+p":
                await chat.type("QQQ")
                await chat.until(lambda: chat.app.screen.query_one(CommandList).option_count == 1)
                show("nothing found", chat.text)
            await chat.pilot.press("escape")
            await chat.until(lambda: len(chat.app.screen_stack) == 1)


if __name__ == "__main__":
    words._catalogue = Shouting()
    sys.path.insert(0, str(Path(__file__).parents[1]))
    show_command_line()
    show_sentences()
    asyncio.run(show_screens())
