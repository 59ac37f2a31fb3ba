"""A reply while it is written: what there is of it, and the task that keeps it in the store as it grows."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from specchat.app.chats.records import Message, Setup, State, Step, StoreError
from specchat.app.chats.store import Store
from specchat.models.decoding.counters import Tally
from specchat.models.engine.messages import Done, Event, Prefilled, Written

SAVE_SECONDS = 0.5
"""Between two saves, so that a crash costs less than a second of the reply."""


class GrowingReply:
    """The reply to the latest message of a chat, made of the engine's events. It must be ended, whatever happens.

    It is saved beside the writing, which never waits for that. A save that fails is tried again with the next one.
    """

    def __init__(self, store: Store, chat_id: int, model: str, setup: Setup | None = None) -> None:
        """`model` is the name of the target's file, `setup` all that writes."""
        self._store = store
        self._chat_id = chat_id
        self._model = model
        self._setup = setup
        self._id = 0
        self._text: list[str] = []
        self._steps: list[Step] = []
        self._saved_steps = 0
        self._tally = Tally()
        self._ending: tuple[State, str] = ("stopped", "cancelled")
        self._over = asyncio.Event()
        self._saving: asyncio.Task[None] | None = None
        self._problem: StoreError | None = None
        self._has_told = False

    @property
    def has_begun(self) -> bool:
        """Whether there is a reply, even if it has no text yet."""
        return self._saving is not None

    def take(self, event: Event) -> None:
        """Take in what the engine said. From `Prefilled` or `Done` on there is a reply, also in the store."""
        match event:
            case Prefilled():
                self._begin()
            case Written():
                self._text.append(event.text)
                self._steps.append(Step(event.round, event.pieces))
                self._tally.add(event.round)
            case Done():
                self._text.append(event.text)
                self._ending = ("stopped" if event.stop_reason == "cancelled" else "whole", event.stop_reason)
                self._begin()

    def fail(self, code: str) -> None:
        """The engine failed in it."""
        self._ending = ("cut", code)

    async def end(self) -> Message | None:
        """Save it as it ended, and return it if it had begun. Without `Done` or a failure, the person stopped it.

        If this is cancelled, it is saved all the same before this ends: who comes after may close the store.
        """
        if self._saving is None:
            return None
        self._over.set()
        cancelled: asyncio.CancelledError | None = None
        while not self._saving.done():
            try:
                await asyncio.shield(self._saving)
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled:
            raise cancelled
        return self._message()

    def take_problem(self) -> StoreError | None:
        """Why the reply can't be saved, once."""
        if self._has_told or self._problem is None:
            return None
        self._has_told = True
        return self._problem

    def _begin(self) -> None:
        if self._saving is None:
            self._saving = asyncio.create_task(self._keep())

    def _message(self) -> Message:
        state, stop_reason = self._ending if self._over.is_set() else ("writing", "")
        text = "".join(self._text)
        steps = tuple(self._steps)
        return Message(self._id, self._chat_id, "assistant", text, state, steps, stop_reason, self._model, self._setup)

    async def _keep(self) -> None:
        while not self._over.is_set():
            if not self._id or len(self._steps) > self._saved_steps:
                await self._save(self._saved_steps)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), SAVE_SECONDS)
        await self._save(0)  # all rounds once more, in one piece, which is far smaller than many

    async def _save(self, first: int) -> None:
        message = self._message()
        try:
            self._id = await self._store.save(message, first, self._tally.counters())
        except StoreError as problem:
            self._problem = problem
        else:
            self._saved_steps = len(message.steps)
