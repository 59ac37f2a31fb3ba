"""One chat with one engine, without a screen: every surface of specchat talks through this."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from specchat.app.chats.growing import GrowingReply
from specchat.app.chats.keeping import keeping
from specchat.app.chats.opened import LastReply, OpenChat
from specchat.app.chats.prompt import prompt_of, whole_characters
from specchat.app.chats.records import Chat, Message, Setup
from specchat.app.chats.store import Store
from specchat.app.costs import Costs
from specchat.app.drafters import able_drafter, usual_drafter
from specchat.app.history.setups import setup_of
from specchat.models.decoding.counters import Tally
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineDied, EngineFailure
from specchat.models.engine.messages import (
    Change,
    Device,
    Done,
    DrafterName,
    Event,
    Loaded,
    ModelFile,
    Prefilled,
    Written,
)
from specchat.settings.values import MAX_GAMMA, Gamma, RuleName, Settings, Speculation

DEATHS = 2
"""So many deaths of the engine over the same models, loaded the same way, and a person is asked before the next try."""

_Pair = tuple[ModelFile, ModelFile | None]
"""The target and the draft that a load is to be about."""


class Conversation:
    """The chat that is open, the pair that writes in it, and how.

    For use from one event loop, one reply at a time. `target` and `draft` are the pair that is wanted; `loaded` says
    what the engine has. `on` and `off` are the sums of this session's rounds with and without speculation.
    """

    def __init__(
        self, engine: EngineClient, store: Store, settings: Settings, target: Path, draft: Path | None = None
    ) -> None:
        self.speculation: Speculation = settings.speculation
        """What holds now; `change` changes it."""
        self.drafter: DrafterName = usual_drafter(has_draft=draft is not None, gamma=self.speculation.gamma)
        """Who is to guess."""
        self.target = target
        self.draft = draft
        self.on = Tally()
        self.off = Tally()
        self.setup: Setup | None = None
        """What was loaded last, and where."""
        self._engine = engine
        self.store = store
        """Where the chats are kept."""
        self.costs = Costs(engine, store)
        self.look = engine.look
        """See `EngineClient`; it is about the last reply, which has `last_tokens`."""
        self._settings = settings
        self._open = OpenChat(store)
        self._asked_for: _Pair | None = None
        self._is_stopping = False
        self._deaths: Counter[_Pair | None] = Counter()
        self._last = LastReply()

    @property
    def chat(self) -> Chat | None:
        """The open chat; None until the first message of a new one is sent."""
        return self._open.chat

    @property
    def messages(self) -> list[Message]:
        """The open chat's messages. A reply is among them when it has ended."""
        return self._open.messages

    @property
    def settings(self) -> Settings:
        """What holds from the next reply on; models are loaded anew before it where they are to be loaded otherwise.

        Where another speculation is put in place, what is new in it holds at once, as if `change` were told of it.
        """
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        old, self._settings = asdict(self._settings.speculation), settings
        if new := {name: value for name, value in asdict(settings.speculation).items() if value != old[name]}:
            self.change(**new)

    @property
    def loaded(self) -> Loaded | None:
        """What is certainly loaded; None also after the engine died."""
        return self._engine.loaded

    @property
    def has_engine(self) -> bool:
        """Whether a process for the models runs and is ready."""
        return self._engine.ready is not None

    @property
    def devices(self) -> tuple[Device, ...]:
        """What the engine can compute on, with the memory that was free before any model was loaded."""
        return self._engine.ready.devices if self._engine.ready else ()

    @property
    def guessing(self) -> DrafterName:
        """Who does guess: `drafter`, as far as what is loaded can."""
        return able_drafter(self.drafter, self.loaded)

    @property
    def last_tokens(self) -> int:
        """Tokens of the last reply, if the engine still knows what led to them and the open chat has it; else 0."""
        return self._last.tokens if self._last.chat is self._open else 0

    # ------------------------------------------------------------------ models

    async def choose(self, target: Path, draft: Path | None) -> None:
        """Want another pair, which `load` or the next `send` loads. A draft that was chosen is meant to guess."""
        self.target, self.draft = target, draft
        if draft is not None or self.drafter in ("both", "model"):
            self.change(drafter=usual_drafter(has_draft=draft is not None, gamma=self.speculation.gamma))

    async def load(self) -> AsyncGenerator[Event, None]:
        """Load the wanted pair: gives `Progress` and `Notice`, in the end `Loaded`.

        Raises `EngineFailure`: `cancelled` after `stop`, `engine_died_twice` {path} while `must_ask_before_load`.
        Leaving the iteration early stops the load.
        """
        self._begin()
        async with aclosing(self._load()) as events:
            async for event in events:
                yield event

    @property
    def must_ask_before_load(self) -> bool:
        """Whether the wanted pair isn't loaded, and the engine died over it so often that a person must allow a try."""
        return not self._is_loaded and self._deaths[self._wanted] >= DEATHS

    def allow_load(self) -> None:
        """Allow one more try with the wanted pair; if the engine dies again, ask again."""
        self._deaths[self._wanted] = DEATHS - 1

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[EngineClient]:
        """The engine, for replies that belong to no chat. Afterwards `load` brings the pair back."""
        heard = self._engine.on_measured
        try:
            yield self._engine
        finally:
            self._engine.on_measured = heard
            self._asked_for = None

    async def read_again(self) -> AsyncGenerator[Event, None]:
        """Have the models read the open chat, as they had before the engine was lent: the next message needn't wait.

        Gives `Progress`. Raises `EngineFailure`. `stop` ends it.
        """
        self._is_stopping = False
        if self.messages and self._is_loaded:
            async with aclosing(self._minding(self._generate(self._open))) as events:
                async for event in events:
                    if isinstance(event, Prefilled | Done):
                        return
                    yield event

    # ------------------------------------------------------------------ replies

    async def send(self, text: str) -> AsyncGenerator[Event, None]:
        """Say `text`, which isn't blank, and give the engine's events while it answers.

        The message is saved before the engine sees it. The wanted pair is loaded first where it isn't (`Progress`,
        `Notice`, `Loaded`); then come `Progress`, `Prefilled`, `Written` and in the end `Done`, when the reply is
        saved and the last of `messages`. A `Notice` tells, once a reply, that the reply can't be saved.

        Raises `StoreError` where the message can't be saved, and `EngineFailure` where the models can't be loaded
        (`engine_died_twice` while `must_ask_before_load`): then nothing was sent or is kept. Raises `EngineFailure`
        where the reply fails: the message stays, and what there is of the reply is the last of `messages`, as `cut`;
        where there is nothing of it, the message itself is. Leaving the iteration early stops the reply and keeps it.
        """
        self._begin()
        here = self._open
        await here.say(whole_characters(text))
        if not self._is_loaded:
            try:
                async with aclosing(self._load()) as events:
                    async for event in events:
                        yield event
            except EngineFailure:
                await here.unsay()
                raise
        async with aclosing(self._answer(here)) as events:
            async for event in events:
                yield event

    def stop(self) -> None:
        """End the load or the reply early; a reply is kept, and its `Done` still comes."""
        self._is_stopping = True
        self._engine.stop()

    def change(
        self,
        *,
        enabled: bool | None = None,
        gamma: Gamma | None = None,
        rule: RuleName | None = None,
        drafter: DrafterName | None = None,
    ) -> None:
        """Speculate differently from the next round on, also inside a reply. None leaves a thing as it is.

        A `gamma` that is a number is brought into its range.
        """
        now = self.speculation
        if isinstance(gamma, int):
            gamma = min(max(gamma, 0), MAX_GAMMA)
        new: dict[str, Any] = {"enabled": enabled, "gamma": gamma, "rule": rule}
        now = self.speculation = replace(now, **{name: value for name, value in new.items() if value is not None})
        self.drafter = self.drafter if drafter is None else drafter
        self._engine.change(Change(now.enabled, now.gamma, now.rule, self.drafter))

    # ------------------------------------------------------------------ chats

    def new_chat(self) -> None:
        """Begin a new chat. It is kept, and listed, from its first message on."""
        self._open = OpenChat(self.store)

    async def open_chat(self, id: int) -> None:
        """Go on with a chat that was kept. Raises `StoreError` (`chat_missing` {} where it is gone)."""
        self._open = OpenChat(self.store, *await self.store.read_chat(id))

    # ------------------------------------------------------------------ inside

    @property
    def _wanted(self) -> _Pair:
        target = ModelFile(str(self.target.absolute()), self._settings.target)
        return target, ModelFile(str(self.draft.absolute()), self._settings.draft) if self.draft else None

    @property
    def _is_loaded(self) -> bool:
        """Whether the engine was asked for exactly the wanted pair and has it, perhaps without a draft that failed."""
        return self._engine.loaded is not None and self._asked_for == self._wanted

    def _begin(self) -> None:
        self._is_stopping = False
        if self.must_ask_before_load:
            raise EngineFailure("engine_died_twice", {"path": str(self.target)})

    async def _load(self) -> AsyncGenerator[Event, None]:
        self._asked_for, self._last = self._wanted, LastReply()
        async with aclosing(self._minding(self.costs.load(*self._asked_for))) as events:
            async for event in events:
                if isinstance(event, Loaded) and self._engine.ready:
                    self.setup = await asyncio.to_thread(setup_of, event, self._engine.ready)
                yield event

    async def _answer(self, here: OpenChat) -> AsyncGenerator[Event, None]:
        """The reply to the latest message; whatever happens, what there is of it joins the messages."""
        model = Path(self.loaded.target.path).name if self.loaded else ""
        reply = GrowingReply(self.store, here.messages[-1].chat_id, model, self.setup)
        self._last = LastReply(here)
        async with aclosing(keeping(here, reply, self._minding(self._generate(here)))) as events:
            async for event in events:
                if isinstance(event, Written):
                    self._last.tokens += event.round.tokens
                    (self.on if event.round.speculating else self.off).add(event.round)
                yield event

    def _generate(self, here: OpenChat) -> AsyncGenerator[Event, None]:
        return self._engine.generate(
            prompt_of(here.messages, self._settings.reply.system),
            sampling=self._settings.sampling,
            speculation=self.speculation,
            drafter=self.drafter,
            max_tokens=self._settings.reply.max_tokens,
        )

    async def _minding(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """The engine's `events`, while it minds `stop` and deaths."""
        has_stopped = False
        try:
            async with aclosing(events):
                async for event in events:
                    if self._is_stopping and not has_stopped:  # it may have had nothing to stop when it was told to
                        has_stopped = True
                        self._engine.stop()
                    yield event
        except EngineDied:
            self._deaths[self._asked_for] += 1
            raise
