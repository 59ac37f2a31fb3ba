"""The dialogs over the chat: each opens, and carries out what was chosen. Their modules are loaded when needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App

from specchat.app.chats.records import StoreError
from specchat.app.conversation import Conversation
from specchat.app.drafters import usual_drafter
from specchat.app.last_pair import PairChoice, remember
from specchat.app.words import _
from specchat.models.engine.messages import Loaded
from specchat.settings.schema import Value
from specchat.settings.values import Settings

if TYPE_CHECKING:
    from specchat.app.history.known import Known


@dataclass(frozen=True, slots=True)
class Start:
    """What the chat begins with, and where it keeps things."""

    settings_file: Path
    data: Path
    typed: Mapping[str, Value] = field(default_factory=dict)
    """Settings of the command line, by key."""
    environ: Mapping[str, str] = field(default_factory=dict)
    at_hand: Sequence[tuple[Path, str]] = ()
    """Models that come with specchat, each with what it is called."""
    home: Path | None = None
    """Below it, other programs keep their models. None: the person's own home folder."""
    cache: Path | None = None
    """The folder in which facts of model files are kept; beside the data where none is named."""
    notices: Sequence[str] = ()
    """Sentences to be shown at once."""
    hints: Mapping[Path, str] = field(default_factory=dict)
    """What an empty chat says of a target to those who may not know it."""
    is_lasting: bool = True
    """Whether the pair it begins with is to be the next start's, too."""


async def choose_chat(app: App[object], conversation: Conversation) -> int | None:
    """Let a person choose an earlier chat; its id, or None to stay in this one. Raises `StoreError`."""
    from specchat.app.screens.chats import ChatsScreen

    chats = await conversation.store.list_chats()
    current = conversation.chat.id if conversation.chat else None
    chosen = await app.push_screen_wait(ChatsScreen(chats, current))
    return None if chosen == current else chosen


def open_lab(app: App[object], conversation: Conversation) -> None:
    """Open the Lab, with what has been measured so far."""
    from specchat.app.lab.mine import MeasuredPoint, measurements
    from specchat.app.screens.lab import LabScreen

    async def points() -> list[MeasuredPoint]:
        found = (await _known(conversation)).points
        pairs = await asyncio.to_thread(found, conversation.target, conversation.draft)
        return [MeasuredPoint(gamma, speed_up) for gamma, speed_up in pairs]

    app.push_screen(LabScreen(measurements(conversation), points))


async def choose_pair(app: App[object], conversation: Conversation, start: Start) -> bool:
    """Let a person choose another pair; whether one is wanted now."""
    from specchat.app.library.library import Library, cache_file, home_folder
    from specchat.app.screens.picker import PickerScreen
    from specchat.models.files.facts_cache import FactsCache

    known = await _known(conversation)
    library = Library(
        start.settings_file,
        FactsCache(cache_file(start.cache or start.data)),
        start.environ,
        start.typed,
        start.at_hand,
        measured=known.speed_up,
        devices=lambda: conversation.devices,
        taken=lambda: _memory(conversation.loaded),
        home=start.home or home_folder(),
    )
    with_draft = usual_drafter(has_draft=True, gamma=conversation.speculation.gamma)
    chosen = await app.push_screen_wait(PickerScreen(pair(conversation), library, start.data, with_draft))
    if chosen is None:
        return False
    await asyncio.to_thread(know_names, chosen.target, chosen.draft)
    await conversation.choose(chosen.target, chosen.draft)
    conversation.change(drafter=chosen.drafter)
    return True


def _memory(loaded: Loaded | None) -> int:
    """Bytes that the loaded models take, as far as is known."""
    return sum(model.memory for model in (loaded.target, loaded.draft) if model) if loaded else 0


def know_names(*files: Path | None) -> None:
    """Find out what models are called, so that the screen needn't wait for it."""
    from specchat.app.widgets.title import model_name

    for file in files:
        if file is not None:
            model_name(file)


async def change_settings(app: App[object], conversation: Conversation, start: Start) -> Settings | None:
    """Let a person change the settings; those in force from now on, or None if none was changed."""
    from specchat.app.screens.settings import SettingsScreen, Sources

    changed = await app.push_screen_wait(SettingsScreen(Sources(start.settings_file, start.environ, start.typed)))
    if changed is not None:
        conversation.settings = changed
    return changed


async def ask_for_another_try(app: App[object]) -> bool:
    """Ask whether the engine may be started again, after it died twice over the same models."""
    from specchat.app.screens.question import Question

    question = _("The engine has died twice over these models, loaded this way. Start it with them once more?")
    return await app.push_screen_wait(Question(question, _("Try again"), _("Leave it")))


async def remember_pair(conversation: Conversation, start: Start) -> OSError | None:
    """Keep the pair for the next start. Returns why that can't be done."""
    try:
        await asyncio.to_thread(remember, start.data, pair(conversation))
    except OSError as error:
        return error
    return None


def pair(conversation: Conversation) -> PairChoice:
    """The pair that is wanted now."""
    return PairChoice(conversation.target, conversation.draft, conversation.drafter)


async def _known(conversation: Conversation) -> Known:
    """What was measured before; nothing where that can't be read, which no choice must fail for."""
    from specchat.app.history.known import Known, read_known

    try:
        return await read_known(conversation.store)
    except StoreError:
        return Known(())
