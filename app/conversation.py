"""One chat with one engine, without a screen: every surface of specchat talks through this."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from specchat.app.chats.growing import GrowingReply
from specchat.app.chats.prompt import prompt_of, whole_characters
from specchat.app.chats.records import Chat, Message, StoreError
from specchat.app.chats.store import Store
from specchat.app.chats.titles import title_of
from specchat.models.decoding.counters import Tally
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineDied, EngineFailure
from specchat.models.engine.messages import (
    Change,
    Done,
    DrafterName,
    Event,
    Loaded,
    ModelFile,
    Notice,
    Written,
)
from specchat.settings.values import MAX_GAMMA, RuleName, Settings, Speculation

DEATHS = 2
"""So many deaths of the engine over the same models, loaded the same way, and a person is asked before the next try."""

_Pair = tuple[ModelFile, ModelFile | None]
"""The target and the draft that a load is to be about."""


@dataclass
class _Open:
    """A chat on screen. A reply goes to the one it was asked for in, even if another is opened meanwhile."""

    chat: Chat | None = None
    messages: list[Message] = field(default_factory=list)


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
        self.drafter: DrafterName = "lookup" if draft is None else "model"
        self.target = target
        self.draft = draft
        self.on = Tally()
        self.off = Tally()
        self._engine = engine
        self._store = store
        self._settings = settings
        self._open = _Open()
        self._asked_for: _Pair | None = None
        self._is_stopping = False
        self._deaths: Counter[_Pair | None] = Counter()

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

    # ------------------------------------------------------------------ models

    async def choose(self, target: Path, draft: Path | None) -> None:
        """Want another pair. `load` or the next `send` loads it, and keeps a target that is loaded already.

        A draft that was chosen is meant to guess; without one, prompt lookup takes its place.
        """
        self.target, self.draft = target, draft
        if draft is not None:
            self.change(drafter="model")
        elif self.drafter == "model":
            self.change(drafter="lookup")

    async def load(self) -> AsyncGenerator[Event, None]:
        """Load the wanted pair: gives `Progress` and `Notice`, in the end `Loaded`.

        Raises `EngineFailure`: `cancelled` after `stop`, `engine_died_twice` {path} while `must_ask_before_load`.
        Leaving the iteration early stops the load.
        """
        self._insist_on_leave()
        self._is_stopping = False
        async with aclosing(self._load()) as events:
            async for event in events:
                yield event

    @property
    def must_ask_before_load(self) -> bool:
        """Whether the engine died so often over the wanted pair that a person must allow another try."""
        return self._deaths[self._wanted] >= DEATHS

    def allow_load(self) -> None:
        """Allow one more try with the wanted pair; if the engine dies again, ask again."""
        self._deaths[self._wanted] = DEATHS - 1

    # ------------------------------------------------------------------ replies

    async def send(self, text: str) -> AsyncGenerator[Event, None]:
        """Say `text`, which isn't blank, and give the engine's events while it answers.

        The message is saved before the engine sees it. The wanted pair is loaded first where it isn't (`Progress`,
        `Notice`, `Loaded`); then come `Progress`, `Prefilled`, `Written` and in the end `Done`, when the reply is
        saved and the last of `messages`. A `Notice` tells, once a reply, that the reply can't be saved.

        Raises `StoreError` where the message can't be saved, and `EngineFailure` (`engine_died_twice`) where a load
        is needed and `must_ask_before_load`: then nothing was sent or kept. Raises `EngineFailure` where the load or
        the reply fails: the message stays, and what there is of the reply is the last of `messages`, as `cut`.
        Leaving the iteration early stops the reply and keeps it.
        """
        if not self._is_loaded:
            self._insist_on_leave()
        self._is_stopping = False
        here = self._open
        await self._say(here, whole_characters(text))
        if not self._is_loaded:
            async with aclosing(self._load()) as events:
                async for event in events:
                    yield event
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
        gamma: int | None = None,
        rule: RuleName | None = None,
        drafter: DrafterName | None = None,
    ) -> None:
        """Speculate differently from the next round on, also inside a reply. None leaves a thing as it is.

        `gamma` is brought into its range.
        """
        now = self.speculation
        self.speculation = Speculation(
            enabled=now.enabled if enabled is None else enabled,
            gamma=now.gamma if gamma is None else min(max(gamma, 0), MAX_GAMMA),
            rule=now.rule if rule is None else rule,
        )
        self.drafter = self.drafter if drafter is None else drafter
        now = self.speculation
        self._engine.change(Change(now.enabled, now.gamma, now.rule, self.drafter))

    # ------------------------------------------------------------------ chats

    async def new_chat(self) -> None:
        """Begin a new chat. It is kept, and listed, from its first message on."""
        self._open = _Open()

    async def open_chat(self, id: int) -> None:
        """Go on with a chat that was kept. Raises `StoreError` (`chat_missing` {} where it is gone)."""
        self._open = _Open(*await self._store.read_chat(id))

    async def list_chats(self) -> list[Chat]:
        """The chats that are kept, the latest changed first. Raises `StoreError`."""
        return await self._store.list_chats()

    # ------------------------------------------------------------------ inside

    @property
    def _wanted(self) -> _Pair:
        target = ModelFile(str(self.target.absolute()), self._settings.target)
        return target, ModelFile(str(self.draft.absolute()), self._settings.draft) if self.draft else None

    @property
    def _is_loaded(self) -> bool:
        """Whether the engine was asked for exactly the wanted pair and has it, perhaps without a draft that failed."""
        return self._engine.loaded is not None and self._asked_for == self._wanted

    def _insist_on_leave(self) -> None:
        if self.must_ask_before_load:
            raise EngineFailure("engine_died_twice", {"path": str(self.target)})

    async def _load(self) -> AsyncGenerator[Event, None]:
        self._asked_for = self._wanted
        async with aclosing(self._minding(self._engine.load(*self._asked_for))) as events:
            async for event in events:
                yield event

    async def _say(self, here: _Open, text: str) -> None:
        """Save what a person says, and add it to the messages."""
        if here.chat is None:
            here.chat, message = await self._store.start_chat(title_of(text), text)
        else:
            message = Message(0, here.chat.id, "user", text)
            message = replace(message, id=await self._store.save(message))
        here.messages.append(message)

    async def _answer(self, here: _Open) -> AsyncGenerator[Event, None]:
        """The reply to the latest message; whatever happens, what there is of it joins the messages."""
        reply = GrowingReply(self._store, here.messages[-1].chat_id)
        done: Done | None = None
        try:
            async with aclosing(self._minding(self._generate(here))) as events:
                async for event in events:
                    reply.take(event)
                    if isinstance(event, Written):
                        (self.on if event.round.speculating else self.off).add(event.round)
                    if isinstance(event, Done):
                        done = event
                    else:
                        yield event
                    if problem := reply.take_problem():
                        yield Notice(problem.code, problem.params)
        except EngineFailure as failure:
            reply.fail(failure.code)
            if self.loaded and not reply.has_begun:
                await self._set_aside(here, failure.code)
            raise
        finally:
            if message := await reply.end():
                here.messages.append(message)
        if problem := reply.take_problem():
            yield Notice(problem.code, problem.params)
        if done:
            yield done

    def _generate(self, here: _Open) -> AsyncGenerator[Event, None]:
        return self._engine.generate(
            prompt_of(here.messages, self._settings.reply.system),
            sampling=self._settings.sampling,
            speculation=self.speculation,
            drafter=self.drafter,
            max_tokens=self._settings.reply.max_tokens,
        )

    async def _set_aside(self, here: _Open, code: str) -> None:
        """Keep the latest message, which the engine refused, out of later prompts: it would refuse those too."""
        refused = replace(here.messages[-1], state="cut", stop_reason=code)
        here.messages[-1] = refused
        with suppress(StoreError):  # the engine's failure is what a person must hear of
            await self._store.save(refused)

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
