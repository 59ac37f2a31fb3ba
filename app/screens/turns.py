"""Takes turns: what the engine is asked for, one thing after the other, and what is shown of its answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from typing import Literal, Protocol

from specchat.app.chats.records import Message, StoreError
from specchat.app.conversation import Conversation
from specchat.app.widgets.counting import Counting
from specchat.app.widgets.reply import MessageView, PromptView, ReplyView
from specchat.app.widgets.title import model_name
from specchat.app.words import _, sentence
from specchat.models.decoding.rounds import Round
from specchat.models.engine import messages
from specchat.models.engine.errors import EngineFailure

STAGES: dict[messages.Stage, Callable[[], str]] = {
    "target": lambda: _("loading the target {share:.0%}"),
    "draft": lambda: _("loading the draft {share:.0%}"),
    "prefill": lambda: _("reading the prompt {share:.0%}"),
}

Doing = Literal["nothing", "loading", "replying", "measuring"]

Work = Callable[[], Coroutine[None, None, None]]


class Surface(Protocol):
    """Where the turns are shown."""

    async def add_message(self, view: MessageView) -> None:
        """Show one more message."""

    async def remove_message(self, view: MessageView) -> None:
        """Take one back that came to nothing."""

    def give_back(self, prompt: str) -> None:
        """Put a prompt that wasn't sent back where it was typed."""

    def say(self, text: str) -> None:
        """Show a sentence that stays until it is taken away."""

    def mention(self, text: str) -> None:
        """Show a sentence for a moment."""

    def show_loaded(self, loaded: messages.Loaded) -> None:
        """The models are loaded."""

    def watch_draft(self, round: Round) -> None:
        """A reply has one round more."""

    def show_state(self) -> None:
        """What is being done, queued or counted has changed."""

    async def allows_another_try(self) -> bool:
        """Ask the person whether the engine may be started again, after it died twice over the same models."""


class Turns:
    """Loads and replies, never two at a time. `run` does what is asked for, until it is cancelled."""

    def __init__(self, conversation: Conversation, surface: Surface, counting: Counting) -> None:
        self.doing: Doing = "nothing"
        self.queue: list[str] = []
        """Prompts that wait for their turn."""
        self.reply: ReplyView | None = None
        """The reply that is being written."""
        self._conversation = conversation
        self._surface = surface
        self._counting = counting
        self._must_load = False
        self._work: tuple[Work, Callable[[], None]] | None = None
        """What wants the engine for itself, and what is called where it can't have it."""
        self._working: asyncio.Task[None] | None = None
        self._must_read = False
        """Whether the models have forgotten the chat."""
        self._is_reading = False
        self._wake = asyncio.Event()

    def load(self) -> None:
        """Load the wanted pair, after what is being done."""
        if self.doing == "replying":
            self._surface.mention(_("The models are loaded when the reply has ended."))
        self._must_load = True
        self._wake.set()

    def lend(self, work: Work, refused: Callable[[], None]) -> None:
        """Let `work` have the engine for itself when its turn comes; call `refused` where the engine mayn't be started.

        The chat's pair is loaded again afterwards and reads the chat, so that the next message goes on as if nothing
        had been.
        """
        if self._is_reading:  # it would be forgotten at once
            self._conversation.stop()
        self._work = work, refused
        self._wake.set()

    def withdraw(self) -> bool:
        """Take back what waits for the engine; whether there was something."""
        work, self._work = self._work, None
        return work is not None

    def send(self, prompt: str) -> None:
        """Send `prompt` when its turn comes."""
        if self._is_reading:  # the reply reads all the same
            self._conversation.stop()
        self.queue.append(prompt)
        self._surface.show_state()
        self._wake.set()

    def take_back(self) -> str:
        """The prompt that was queued last, which is queued no more; empty without one."""
        prompt = self.queue.pop() if self.queue else ""
        self._surface.show_state()
        return prompt

    def stop(self) -> bool:
        """Stop the load, the reply or what the engine is lent to, and give back what waits; whether there was one."""
        if self.doing == "nothing":
            return False
        if self._working:
            self._working.cancel()
        else:
            self._conversation.stop()
        self._return_queue()
        self._surface.show_state()
        return True

    async def run(self) -> None:
        """Do what is asked for, one thing after the other."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._must_load or self._work or self.queue:
                if self._must_load:
                    self._must_load = False
                    await self._do("loading", self._load())
                elif self._work:
                    work, self._work = self._work, None
                    await self._do("measuring", self._measure(*work))
                else:
                    await self._do("replying", self._reply(self.queue.pop(0)))

    async def _do(self, what: Doing, work: AsyncGenerator[None, None]) -> None:
        self.doing = what
        self._surface.show_state()
        try:
            async with aclosing(work) as steps:
                async for _step in steps:
                    self._surface.show_state()
        finally:
            self.doing = "nothing"
            self._counting.stage = ""
            self._surface.show_state()

    async def _load(self) -> AsyncGenerator[None, None]:
        if not await self._may_start():
            return
        self._begin_load()
        yield
        try:
            async with aclosing(self._conversation.load()) as events:
                async for event in events:
                    self._show(event)
                    yield
            async with aclosing(self._read_again()) as steps:
                async for _step in steps:
                    yield
        except EngineFailure as failure:
            self._tell(failure, of_load=True)
            self._return_queue()

    async def _read_again(self) -> AsyncGenerator[None, None]:
        """Have the models read the chat, if they have forgotten it. What fails in that, the next reply tells of."""
        must_read, self._must_read = self._must_read, False
        if not must_read or self.queue or self._work:
            return
        self._is_reading = True
        try:
            with suppress(EngineFailure):
                async with aclosing(self._conversation.read_again()) as events:
                    async for event in events:
                        self._show(event)
                        yield
        finally:
            self._is_reading = False

    async def _measure(self, work: Work, refused: Callable[[], None]) -> AsyncGenerator[None, None]:
        if not await self._may_start():
            refused()
            return
        self._counting.stage = _("comparing")
        self._working = asyncio.create_task(work())
        yield
        try:
            await asyncio.wait({self._working})
        finally:
            self._working.cancel()
            await asyncio.wait({self._working})  # it keeps what was measured
            done, self._working = self._working, None
            self._must_load = self._must_read = True
        if not done.cancelled():
            done.result()

    async def _reply(self, prompt: str) -> AsyncGenerator[None, None]:
        if not await self._may_start():
            self._surface.give_back(prompt)
            return
        said = PromptView(prompt)
        await self._surface.add_message(said)
        self._begin_load()
        yield
        chat = self._conversation.messages  # another chat may be open in the end
        known = len(chat)
        try:
            async with aclosing(self._conversation.send(prompt)) as events:
                async for event in events:
                    if self.reply is None and isinstance(event, messages.Prefilled):
                        self.reply = await self._begin(event.tokens)
                    if self.reply is not None and isinstance(event, messages.Written | messages.Done):
                        self._grow(self.reply, event)
                    else:
                        self._show(event)
                    yield
        except StoreError as error:
            self._surface.say(sentence(error.code, error.params))
        except EngineFailure as failure:
            self._tell(failure, of_load=len(chat) == known)
            self._return_queue()
        await self._settle(prompt, said, chat[known:])

    def _begin_load(self) -> None:
        """Say what comes before anything is heard of a load."""
        self._counting.stage = "" if self._conversation.has_engine else _("starting the engine")

    async def _begin(self, prompt: int) -> ReplyView:
        loaded = self._conversation.loaded
        reply = ReplyView(model_name(loaded.target.path) if loaded else _("Reply"))
        self._counting.begin(prompt)
        self._counting.stage = ""
        await self._surface.add_message(reply)
        return reply

    def _grow(self, reply: ReplyView, event: messages.Written | messages.Done) -> None:
        reply.add(event.text)
        if isinstance(event, messages.Written):
            self._counting.add(event.round)
            self._surface.watch_draft(event.round)

    async def _settle(self, prompt: str, said: PromptView, kept: Sequence[Message]) -> None:
        """Give the views the messages that were kept, and the prompt back if it wasn't."""
        self._counting.end()
        reply, self.reply = self.reply, None
        if not kept:
            await self._surface.remove_message(said)
            self._surface.give_back(prompt)
            return
        said.end(kept[0])
        if reply is not None:
            reply.end(next((message for message in kept if message.role == "assistant"), None))

    def _show(self, event: messages.Event) -> None:
        match event:
            case messages.Progress():
                share = event.done / max(event.total, 1)
                self._counting.stage = STAGES[event.stage]().format(share=share)
            case messages.Notice():
                self._surface.say(sentence(event.code, event.params))
            case messages.Loaded():
                self._counting.stage = ""
                self._surface.show_loaded(event)

    def _tell(self, failure: EngineFailure, *, of_load: bool) -> None:
        if failure.code == "cancelled":
            self._surface.mention(_("The loading was stopped. The next message starts it anew."))
            return
        said = sentence(failure.code, failure.params)
        self._surface.say("\n".join([said, _("F5 or ctrl+o chooses another model.")]) if of_load else said)

    def _return_queue(self) -> None:
        """Let nothing that waits go to an engine that has just failed."""
        while self.queue:
            self._surface.give_back(self.queue.pop())

    async def _may_start(self) -> bool:
        """Whether the engine may be started, or need not be."""
        conversation = self._conversation
        if not conversation.must_ask_before_load:
            return True
        if not await self._surface.allows_another_try():
            return False
        conversation.allow_load()
        return True
