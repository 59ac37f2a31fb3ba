"""Hands on what the engine says while it answers, and keeps the reply."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeAlias

from specchat.app.chats.growing import GrowingReply
from specchat.app.chats.opened import OpenChat
from specchat.models.engine.errors import EngineFailure
from specchat.models.engine.messages import Done, Event, Notice

Events: TypeAlias = AsyncGenerator[Event, None]


async def keeping(here: OpenChat, reply: GrowingReply, events: Events) -> Events:
    """The `events` of the `reply` to the latest message of `here`; whatever happens, what there is of it joins them.

    `Done` comes when it is saved. A `Notice` tells, once, that it can't be saved. Raises `EngineFailure`: where there
    is nothing of the reply, the message is set aside.
    """
    done: Done | None = None
    try:
        async with aclosing(events):
            async for event in events:
                reply.take(event)
                if isinstance(event, Done):
                    done = event
                else:
                    yield event
                if problem := reply.take_problem():
                    yield Notice(problem.code, problem.params)
    except EngineFailure as failure:
        reply.fail(failure.code)
        if not reply.has_begun:
            await here.set_aside(failure.code)
        raise
    finally:
        if message := await reply.end():
            here.messages.append(message)
    if problem := reply.take_problem():
        yield Notice(problem.code, problem.params)
    if done:
        yield done
