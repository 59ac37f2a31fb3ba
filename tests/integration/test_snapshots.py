"""What the screens look like. `pytest --snapshot-update` on this file takes the pictures anew; look at them then."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from pathlib import Path

import psutil
import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.widgets import Static

from specchat.app import chat as program
from specchat.app.chats.records import Chat
from specchat.app.screens.chats import ChatsScreen
from specchat.app.screens.dialogs import Start
from specchat.app.words import _
from specchat.models.engine.messages import Notice
from specchat.models.files import places
from specchat.settings.values import Look, ModelOptions, Reply, Settings, ThemeName
from support.chatting import Chatting, chatting, loaded
from support.fake_engine import Scenario
from support.tiny_gguf import write_tiny_llama
from support.tiny_vocabulary import byte_vocabulary

SMALL, LARGE = (80, 24), (140, 40)

PROMPT = "How do I check whether a number is prime?"
REPLY = """\
A **prime number** has exactly two divisors, so it is enough to try the numbers up to its *root*:

1. Anything below 2 is not prime.
2. No even number but 2 is.

```python
def is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, isqrt(n) + 1))
```

> Café, 漢字 and 🙂 take more than one token each.
"""
MODELS, HOME = Path("models"), Path("home")
"""Relative, so that no path of this machine gets into a picture."""

Open = Callable[..., AbstractAsyncContextManager[Chatting]]


@pytest.fixture
def open_chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a chat that looks alike on every machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    MODELS.mkdir()

    @asynccontextmanager
    async def opened(
        size: tuple[int, int], scenario: Scenario, *, theme: ThemeName = "dark", draft: bool = True, hint: str = ""
    ) -> AsyncIterator[Chatting]:
        settings = Settings(
            look=Look(theme, reduced_motion=True), reply=Reply(max_tokens=0), target=ModelOptions(ctx=400)
        )
        start = Start(Path("settings.toml"), Path("data"), hints={MODELS / "target.gguf": hint}, home=HOME)
        async with chatting(MODELS, scenario, size=size, settings=settings, draft=draft, start=start) as chat:
            await loaded(chat)
            await chat.until(lambda: "CPU" in chat.text or size[1] < 15)
            yield chat

    return opened


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """What a screen is compared with."""
    return snapshot.use_extension(SVGImageExtension)


def taken(chat: Chatting) -> str:
    """What is on the screen now. Its style sheet tells of fonts on a server, which no picture needs."""
    return re.sub(r"@font-face \{.*?\}\s*", "", chat.app.export_screenshot(title="specchat"), flags=re.DOTALL)


async def send(chat: Chatting, prompt: str) -> None:
    """Send a prompt, which is quicker pasted than typed."""
    chat.composer.put(prompt)
    await chat.pilot.press("enter")


async def ask(chat: Chatting) -> None:
    """Have the prompt answered, and its figures painted."""
    await send(chat, PROMPT)
    await chat.until(lambda: chat.replies and chat.replies[0].message and not chat.chat.has_class("-busy"))
    await chat.until(lambda: chat.text.count(accepted(chat)) == 2 and re.search(r"now +–", chat.text))


def accepted(chat: Chatting) -> str:
    """What the counter, and in the end the reply's own line, says of the guesses."""
    counters = chat.conversation.on.counters()
    return f"{counters.accepted} of {counters.drafted}"


# ---------------------------------------------------------------------- the chat


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80", "140"])
async def test_first_start(open_chat: Open, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with open_chat(size, Scenario(), draft=False, hint=_(program._HINT)) as chat:
        assert taken(chat) == picture


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80", "140"])
async def test_a_reply_is_being_written(open_chat: Open, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with open_chat(size, Scenario(REPLY, pause_after=11)) as chat:
        await send(chat, PROMPT)
        await chat.until(lambda: chat.conversation.on.counters().target_passes == 11)
        await send(chat, "And how fast is that?")
        shown = ("waiting for its turn", accepted(chat), "but 2")  # the last of its words
        await chat.until(lambda: all(text in chat.text for text in shown))
        assert taken(chat) == picture


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80", "140"])
async def test_a_reply_has_ended(open_chat: Open, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with open_chat(size, Scenario(REPLY)) as chat:
        await ask(chat)
        assert taken(chat) == picture


async def test_light(open_chat: Open, picture: SnapshotAssertion) -> None:
    async with open_chat(LARGE, Scenario(REPLY), theme="light") as chat:
        await ask(chat)
        await chat.pilot.press("tab", "up")
        assert taken(chat) == picture


async def test_notices(open_chat: Open, picture: SnapshotAssertion) -> None:
    left_out = Notice("draft_left_out", {"path": "models/draft.gguf"})
    capped = Notice("ctx_capped", {"path": "models/target.gguf", "trained": 8192, "used": 8192, "asked": 32768})
    async with open_chat(SMALL, Scenario(REPLY, notices=(left_out, capped))) as chat:
        await ask(chat)
        assert taken(chat) == picture


async def test_too_small(open_chat: Open, picture: SnapshotAssertion) -> None:
    async with open_chat((48, 12), Scenario()) as chat:
        assert taken(chat) == picture


# ---------------------------------------------------------------------- what lies over it


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80", "140"])
async def test_x_ray(open_chat: Open, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with open_chat(size, Scenario(REPLY)) as chat:
        await ask(chat)
        await chat.pilot.press("f3", "right", "right")
        await chat.pilot.pause()
        assert taken(chat) == picture


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80", "140"])
async def test_compare(open_chat: Open, picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with open_chat(size, Scenario(REPLY, rate=30, plain_rate=20)) as chat:
        chat.composer.put(PROMPT)
        await chat.pilot.press("f4")
        await chat.until(lambda: "Enter or 3 compares it" in chat.text)
        await chat.pilot.press("enter")
        await chat.until(lambda: "Done." in chat.text and chat.chat._turns.doing == "nothing")
        assert taken(chat) == picture


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80", "140"])
async def test_picker(
    open_chat: Open, picture: SnapshotAssertion, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    models = HOME / ".lmstudio" / "models"
    for folder, name, options in (
        ("lmstudio-community/Llama-3-8B-GGUF", "Llama-3-8B-Q4_K_M.gguf", {"width": 128, "layers": 6}),
        ("lmstudio-community/Llama-3-1B-GGUF", "Llama-3-1B-Q8_0.gguf", {}),
        ("other/Gemma-3-1B", "Gemma-3-1B-Q8_0.gguf", {"vocabulary": byte_vocabulary(("other",))}),
    ):
        (models / folder).mkdir(parents=True)
        write_tiny_llama(models / folder / name, template="{{ messages }}", **options)
    (models / "other" / "notes.gguf").write_text("no model\n" * 100)
    (models / "other" / "Qwen3-32B.gguf.part").write_bytes(bytes(2_000_000))
    monkeypatch.setattr(places, "_ollama", lambda _here: iter(()))  # a service may run on this machine
    free = psutil.virtual_memory()._replace(available=16_000_000_000, total=32_000_000_000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    async with open_chat(size, Scenario()) as chat:
        await chat.pilot.press("f5")
        await chat.until(lambda: "Models · 5 found" in chat.text and "✓ " in chat.text)
        await chat.pilot.press("down", "down", "down")
        await chat.until(lambda: "✗ Gemma" in chat.text)
        assert taken(chat) == picture


async def test_settings(open_chat: Open, picture: SnapshotAssertion) -> None:
    async with open_chat(LARGE, Scenario()) as chat:
        await chat.pilot.press("f8")
        await chat.until(lambda: str(chat.app.screen.query_one("#said", Static).content))
        assert taken(chat) == picture


async def test_chats(open_chat: Open, picture: SnapshotAssertion) -> None:
    titles = ("Is 7 prime?", "A sailor and a gull", "漢字 und Umlaute: äöü")
    days = [datetime(2026, 11, day, 20, 15) for day in (28, 27, 3)]  # wherever this machine is
    chats = [Chat(number, title, day, day) for number, (title, day) in enumerate(zip(titles, days, strict=True))]
    async with open_chat(SMALL, Scenario()) as chat:
        await chat.app.push_screen(ChatsScreen(chats, current=1))
        await chat.pilot.pause()
        assert taken(chat) == picture


async def test_help(open_chat: Open, picture: SnapshotAssertion) -> None:
    async with open_chat(LARGE, Scenario()) as chat:
        await chat.pilot.press("f1")
        await chat.pilot.pause()
        assert taken(chat) == picture
