"""The chat on a pseudo-terminal, over a scripted engine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from support.fake_engine import Scenario, fake_engine
from support.pseudo_terminal import Program
from support.specchat_with_engine import specchat_with

WORDS = ("--target", "target.gguf", "--draft", "draft.gguf")
ENDLESS = Scenario(endless=True, rate=200, real_time=True)

# What a terminal sends for keys.
ENTER, ESC, TAB, BACKSPACE = "\r", "\x1b", "\t", "\x7f"
UP, DOWN, LEFT, HOME = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[H"
F1, F2, F3, F4, F7, F8 = "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[18~", "\x1b[19~"
CTRL_A, CTRL_C, CTRL_L, CTRL_N, CTRL_P, CTRL_Q = "\x01", "\x03", "\x0c", "\x0e", "\x10", "\x11"
CTRL_R, CTRL_T, CTRL_W = "\x12", "\x14", "\x17"
PASTE, PASTED = "\x1b[200~", "\x1b[201~"
"""What it sends before and after a paste."""


@contextmanager
def chat(
    home: Path,
    scenario: Scenario | None = None,
    command: Sequence[str] | None = None,
    size: tuple[int, int] = (120, 40),
    environ: Mapping[str, str] | None = None,
) -> Iterator[Program]:
    """A chat whose models are loaded."""
    words = [*(command or specchat_with(fake_engine(scenario))), *WORDS]
    with Program(words, home, size=size, environ=environ) as program:
        program.shows("Ask something", "CPU")
        yield program


def replying(program: Program) -> None:
    """Have an endless reply written, the first one of the chat."""
    program.send("Hi" + ENTER)
    program.shows("A prime number")


def kept(home: Path) -> list[tuple[str, str, str]]:
    """Role, content and state of all that was kept."""
    [file] = home.rglob("chats.sqlite3")
    with closing(sqlite3.connect(file)) as store:
        return store.execute("SELECT role, content, state FROM messages ORDER BY id").fetchall()
