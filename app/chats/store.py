"""The chats on disk, in one SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args

import msgspec

from specchat.app.chats.records import Chat, Message, Setup, State, Step, StoreError
from specchat.app.chats.schema import SUMS, open_database, open_in_memory, store_error, transaction
from specchat.models.decoding.cost import CostTable
from specchat.models.decoding.counters import Counters

P = ParamSpec("P")
T = TypeVar("T")

_steps: msgspec.json.Decoder[tuple[Step, ...]] = msgspec.json.Decoder(tuple[Step, ...])
_costs: msgspec.json.Decoder[CostTable] = msgspec.json.Decoder(CostTable)
_setups: msgspec.json.Decoder[Setup] = msgspec.json.Decoder(Setup)


class Store:
    """Keeps chats, and what passes of models cost. `open` it before anything else, and `close` it in the end.

    SQLite works in a thread of its own, one piece of work after the other, so nothing here holds up the event loop.
    Work that was begun is finished even if who waits for it is cancelled. Every method may raise `StoreError`.
    Several processes may use one file.
    """

    def __init__(self, path: Path) -> None:
        """Keep the chats in the file `path`, whose folder need not exist."""
        self._path = path
        self._is_file = False
        self._has_lost = False
        """Whether what was to be saved last isn't."""
        self._thread = ThreadPoolExecutor(1, "chats")
        self._chats = _Chats()

    async def open(self) -> StoreError | None:
        """Open the file.

        If it can't be used, returns why and leaves it as it is: then chats are kept in memory, up to `close`.
        """
        problem = await self._do(self._chats.open, self._path)
        self._is_file = problem is None
        return problem

    @property
    def is_on_disk(self) -> bool:
        """Whether there is a file, and it took what was to be saved last."""
        return self._is_file and not self._has_lost

    async def close(self) -> None:
        """Let go of the file, when all that was begun is done."""
        await self._do(self._chats.close)
        self._thread.shutdown()

    async def list_chats(self) -> list[Chat]:
        """All chats, the one with the latest message first."""
        return await self._do(self._chats.list_chats)

    async def read_chat(self, id: int) -> tuple[Chat, list[Message]]:
        """A chat and its messages, the oldest first. Raises `chat_missing` where there is none of this `id`.

        What is odd in the file is replaced by something that can be shown. A reply whose rounds can't be read has
        the steps up to the first that can't.
        """
        return await self._do(self._chats.read_chat, id)

    async def start_chat(self, title: str, text: str) -> tuple[Chat, Message]:
        """Add a chat with its first message, a person's, both or none."""
        return await self._do(self._chats.start, title, text)

    async def save(self, message: Message, first: int = 0, sums: Counters | None = None) -> int:
        """Put `message` in the place of the one with its id, or add it if it has none (0). Returns its id.

        Of its steps only those from number `first` on are written, after the earlier ones that are kept already.
        `sums` are of all its rounds.
        """
        try:
            id = await self._do(self._chats.save, message, first, sums)
        except StoreError:
            self._has_lost = True
            raise
        self._has_lost = False
        return id

    async def forget(self, message: Message) -> None:
        """Delete `message`, and its chat if that holds no other."""
        await self._do(self._chats.forget, message)

    async def find_costs(self, source: str) -> CostTable | None:
        """What was kept last of the costs of `source`; None where that is nothing, or can't be read."""
        return await self._do(self._chats.find_costs, source)

    async def all_costs(self) -> list[tuple[str, CostTable]]:
        """All that is kept of costs, each with its source, the latest first; what can't be read is left out."""
        return await self._do(self._chats.all_costs)

    def keep_costs(self, costs: Mapping[str, CostTable]) -> None:
        """Keep costs, each under its source, in place of those that are there. Done in the background, by `close`.

        Where that fails nobody hears of it: they are measured again.
        """
        self._thread.submit(self._chats.keep_costs, costs)

    async def work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` makes of the database, in the store's thread; who writes begins a `transaction`."""
        return await self._do(self._chats.work, work)

    async def _do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        future = asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *args, **kwargs))
        try:
            return await asyncio.shield(future)
        except (sqlite3.Error, OSError) as error:
            raise store_error(self._path, error) from error


class _Chats:
    """What `Store` does, in its thread. Raises `StoreError`, `sqlite3.Error` and `OSError`."""

    def __init__(self) -> None:
        self._database: sqlite3.Connection

    def open(self, path: Path) -> StoreError | None:
        try:
            self._database = open_database(path)
        except (StoreError, sqlite3.Error, OSError) as error:
            self._database = open_in_memory()
            return error if isinstance(error, StoreError) else store_error(path, error)
        return None

    def close(self) -> None:
        self._database.close()

    def work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return work(self._database)

    def list_chats(self) -> list[Chat]:
        rows = self._rows("SELECT id, title, created, changed FROM chats ORDER BY changed DESC, id DESC")
        return [_chat(*row) for row in rows]

    def read_chat(self, id: int) -> tuple[Chat, list[Message]]:
        with transaction(self._database, "DEFERRED"):  # so that another specchat saves nothing between the questions
            chats = self._rows("SELECT id, title, created, changed FROM chats WHERE id = ?", id)
            messages = self._rows(
                "SELECT id, chat, role, content, state, stop_reason, model, setup FROM messages "
                "WHERE chat = ? ORDER BY id",
                id,
            )
            pieces = self._rows(
                "SELECT message, first, steps FROM rounds JOIN messages ON message = id WHERE chat = ? "
                "ORDER BY message, first",
                id,
            )
        if not chats:
            raise StoreError("chat_missing")
        steps = unpack(pieces)
        return _chat(*chats[0]), [_message(row, steps.get(row[0], [])) for row in messages]

    def start(self, title: str, text: str) -> tuple[Chat, Message]:
        now = time.time()
        with transaction(self._database):
            chat = self._run("INSERT INTO chats (title, created, changed) VALUES (?, ?, ?)", title, now, now)
            message = Message(0, chat, "user", text)
            id = self._put(message, 0, None, now)
        return _chat(chat, title, now, now), replace(message, id=id)

    def save(self, message: Message, first: int, sums: Counters | None) -> int:
        with transaction(self._database):
            return self._put(message, first, sums, time.time())

    def forget(self, message: Message) -> None:
        with transaction(self._database):
            self._run("DELETE FROM messages WHERE id = ?", message.id)
            self._run(
                "DELETE FROM chats WHERE id = ?1 AND NOT EXISTS (SELECT * FROM messages WHERE chat = ?1)",
                message.chat_id,
            )

    def find_costs(self, source: str) -> CostTable | None:
        for (kept,) in self._rows("SELECT costs FROM costs WHERE source = ?", source):
            with suppress(TypeError, msgspec.DecodeError):
                return _costs.decode(kept)
        return None

    def all_costs(self) -> list[tuple[str, CostTable]]:
        found: list[tuple[str, CostTable]] = []
        for source, kept in self._rows("SELECT source, costs FROM costs ORDER BY updated DESC"):
            with suppress(TypeError, msgspec.DecodeError):
                found.append((_text(source), _costs.decode(kept)))
        return found

    def keep_costs(self, costs: Mapping[str, CostTable]) -> None:
        now = time.time()
        with transaction(self._database):
            for source, table in costs.items():
                kept = msgspec.json.encode(table).decode()
                self._run("INSERT OR REPLACE INTO costs (source, costs, updated) VALUES (?, ?, ?)", source, kept, now)

    def _put(self, message: Message, first: int, sums: Counters | None, now: float) -> int:
        id = message.id or self._add(message, now)
        names = ("content", "state", "stop_reason", *SUMS)
        self._run(
            f"UPDATE messages SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?",
            message.content,
            message.state,
            message.stop_reason,
            *(getattr(sums, name, None) for name in SUMS),
            id,
        )
        self._run("DELETE FROM rounds WHERE message = ? AND first >= ?", id, first)
        if steps := message.steps[first:]:
            packed = zlib.compress(msgspec.json.encode(steps))
            self._run("INSERT INTO rounds (message, first, steps) VALUES (?, ?, ?)", id, first, packed)
        return id

    def _add(self, message: Message, now: float) -> int:
        """A new row, whose text is still to come."""
        self._run("UPDATE chats SET changed = ? WHERE id = ?", now, message.chat_id)
        setup = write_setup(message.setup) if message.setup else ""
        statement = (
            "INSERT INTO messages (chat, role, model, setup, created, content, state, stop_reason) "
            "VALUES (?, ?, ?, ?, ?, '', '', '')"
        )
        return self._run(statement, message.chat_id, message.role, message.model, setup, now)

    def _rows(self, question: str, *values: object) -> list[Any]:
        return self._database.execute(question, values).fetchall()

    def _run(self, statement: str, *values: object) -> int:
        """The id of the row that `statement` inserted, if it did insert one."""
        return self._database.execute(statement, values).lastrowid or 0


def _chat(id: int, title: object, created: object, changed: object) -> Chat:
    return Chat(id, _text(title), _moment(created), _moment(changed))


def _message(row: Sequence[Any], steps: Sequence[Step]) -> Message:
    id, chat, role, content, state, stop_reason, model, setup = row
    return Message(
        id=id,
        chat_id=chat,
        role="user" if role == "user" else "assistant",
        content=_text(content),
        state=next((known for known in get_args(State) if known == state), "whole"),
        steps=tuple(steps),
        stop_reason=_text(stop_reason),
        model=_text(model),
        setup=read_setup(setup),
    )


def write_setup(setup: Setup) -> str:
    """What wrote a reply, as it is kept: the same text for the same setup."""
    return msgspec.json.encode(setup).decode()


def read_setup(kept: object) -> Setup | None:
    """What wrote a reply, as it is kept; None where that isn't known."""
    with suppress(msgspec.DecodeError, TypeError):
        return _setups.decode(_text(kept))
    return None


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _moment(value: object) -> datetime:
    try:
        return datetime.fromtimestamp(value, UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def unpack(pieces: Sequence[tuple[int, object, Any]]) -> dict[int, list[Step]]:
    """The steps by message, up to the first that is missing or can't be read."""
    steps: dict[int, list[Step]] = {}
    for message, first, packed in pieces:
        known = steps.setdefault(message, [])
        if first == len(known):
            with suppress(TypeError, zlib.error, msgspec.DecodeError):
                known.extend(_steps.decode(zlib.decompress(packed)))
    return steps
