"""Sums of ordinary chats, computed from the rounds that are kept of every reply. Nothing is counted twice."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from specchat.app.chats.records import Setup
from specchat.app.chats.store import Store, read_setup, unpack, write_setup
from specchat.app.history.kinds import kind_of
from specchat.app.history.records import ChatSums, Guesser
from specchat.models.decoding.counters import Tally
from specchat.models.decoding.rounds import Round

PIECE = 100
"""Replies that are read at a time, so that a reply which is being saved needn't wait long."""

_REPLIES = """SELECT id, setup, model, content, created,
    (SELECT content FROM messages AS said WHERE said.chat = messages.chat AND said.id < messages.id
        AND said.role = 'user' ORDER BY said.id DESC LIMIT 1)
    FROM messages WHERE role = 'assistant' AND id > :after AND (:setup IS NULL OR setup = :setup)
    ORDER BY id LIMIT :most"""
_ROUNDS = "SELECT message, first, steps FROM rounds WHERE message IN ({marks}) ORDER BY message, first"

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class KeptReply:
    """A reply as it is kept: all its rounds, and what they can be told apart by."""

    id: int
    setup: Setup
    kind: str
    when: datetime
    rounds: tuple[Round, ...]

    @property
    def guesser(self) -> Guesser:
        """Who guessed in it; where nobody did, who could have."""
        names = {round.drafter for round in self.rounds} - {""}
        if len(names) > 1:
            return "both"
        if names:
            return "model" if "model" in names else "lookup"
        if not any(round.speculating for round in self.rounds):
            return "none"
        return "model" if self.setup.draft else "lookup"


async def kept_replies(store: Store, setup: Setup | None = None) -> AsyncIterator[KeptReply]:
    """Every reply in the store, or those of one setup, the oldest first. Raises `StoreError`."""
    last, wanted = 0, None if setup is None else write_setup(setup)
    while piece := await store.work(partial(_read, after=last, setup=wanted)):
        for reply in piece:
            yield reply
        last = piece[-1].id


async def chat_sums(store: Store) -> tuple[ChatSums, ...]:
    """The sums of all chats by setup, drafter and kind of prompt, the most tokens first. Raises `StoreError`."""
    sums: dict[tuple[Setup, Guesser, str], _Sum] = {}
    async for reply in kept_replies(store):
        if reply.rounds:
            sums.setdefault((reply.setup, reply.guesser, reply.kind), _Sum()).add(reply)
    rows = [
        ChatSums(setup, guesser, kind, found.replies, found.when, found.on.counters(), found.off.counters())
        for (setup, guesser, kind), found in sums.items()
    ]
    return tuple(sorted(rows, key=lambda row: -(row.on.tokens + row.off.tokens)))


@dataclass
class _Sum:
    replies: int = 0
    when: datetime = _LONG_AGO
    on: Tally = field(default_factory=Tally)
    off: Tally = field(default_factory=Tally)

    def add(self, reply: KeptReply) -> None:
        self.replies += 1
        self.when = max(self.when, reply.when)
        for round in reply.rounds:
            (self.on if round.speculating else self.off).add(round)


def _read(database: sqlite3.Connection, after: int, setup: str | None) -> list[KeptReply]:
    wanted = {"after": after, "setup": setup, "most": PIECE}
    rows: Sequence[Any] = database.execute(_REPLIES, wanted).fetchall()
    ids = [row[0] for row in rows]
    steps = unpack(database.execute(_ROUNDS.format(marks=", ".join("?" * len(ids))), ids).fetchall())
    return [_reply(row, (step.round for step in steps.get(row[0], ()))) for row in rows]


def _reply(row: Sequence[Any], rounds: Iterable[Round]) -> KeptReply:
    id, setup, model, content, created, prompt = row
    return KeptReply(
        id=id,
        setup=read_setup(setup) or Setup(str(model or "")),
        kind=kind_of(str(prompt or ""), str(content or "")),
        when=datetime.fromtimestamp(created if isinstance(created, int | float) else 0, UTC),
        rounds=tuple(rounds),
    )
