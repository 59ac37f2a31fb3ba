"""The store's file: how it is opened, what is in it, and how an older one is brought up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from specchat.app.chats.records import StoreError

LOCK_SECONDS = 5.0
"""How long one specchat waits for another's transaction, which takes milliseconds."""

SUMS = (
    "tokens",
    "target_passes",
    "draft_runs",
    "drafted",
    "accepted",
    "rejected",
    "seconds",
    "seconds_draft",
    "seconds_verify",
    "seconds_sampling",
)
"""Columns of `messages`: the sums of a reply's rounds, under the counters' names. Null in a person's messages."""

Migration = Sequence[str]
"""Statements that bring a file from one version to the next, in one transaction."""

# Ids are never used twice: another specchat may still have the chat open that had one.
# Times are seconds since 1970. A reply's rounds are in pieces: `steps` holds those from number `first` on.
# `setup` is what wrote a reply, as JSON (see `Setup`). `benches` holds whole measurements (JSON, packed), `comparisons`
# what came of each side of them, `runs` every reply of them; counters are JSON under their names.
# `costs` holds what passes of a model cost, by what that depends on (see `specchat.app.costs`).
MIGRATIONS: Sequence[Migration] = (
    (
        """CREATE TABLE chats (
            id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, created REAL NOT NULL, changed REAL NOT NULL
        )""",
        f"""CREATE TABLE messages (
            id INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            role TEXT NOT NULL, content TEXT NOT NULL, state TEXT NOT NULL, stop_reason TEXT NOT NULL,
            created REAL NOT NULL, {", ".join(SUMS)}
        )""",
        "CREATE INDEX messages_of_chat ON messages (chat)",
        """CREATE TABLE rounds (
            message INTEGER NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
            first INTEGER NOT NULL, steps BLOB NOT NULL, PRIMARY KEY (message, first)
        )""",
    ),
    ("CREATE TABLE costs (source TEXT PRIMARY KEY, costs TEXT NOT NULL, updated REAL NOT NULL)",),
    ("ALTER TABLE messages ADD COLUMN model TEXT NOT NULL DEFAULT ''",),
    (
        "ALTER TABLE messages ADD COLUMN setup TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE benches (
            id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, created REAL NOT NULL, partial INTEGER NOT NULL,
            document BLOB NOT NULL
        )""",
        """CREATE TABLE comparisons (
            bench INTEGER NOT NULL REFERENCES benches (id) ON DELETE CASCADE, setup TEXT NOT NULL,
            drafter TEXT NOT NULL, gamma TEXT NOT NULL, kind TEXT NOT NULL, temperature REAL NOT NULL,
            speed_up REAL, low REAL, high REAL, pairs INTEGER NOT NULL, verdict TEXT NOT NULL,
            counters_on TEXT NOT NULL, counters_off TEXT NOT NULL
        )""",
        """CREATE TABLE runs (
            bench INTEGER NOT NULL REFERENCES benches (id) ON DELETE CASCADE, number INTEGER NOT NULL,
            draft TEXT NOT NULL, gamma TEXT NOT NULL, kind TEXT NOT NULL, repeat INTEGER NOT NULL,
            seed INTEGER NOT NULL, stop_reason TEXT NOT NULL, counters TEXT NOT NULL, PRIMARY KEY (bench, number)
        )""",
        "CREATE INDEX comparisons_of_bench ON comparisons (bench)",
    ),
)

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def open_database(path: Path, migrations: Sequence[Migration] = MIGRATIONS) -> sqlite3.Connection:
    """Open the file at `path`, or make it, for use by this thread; bring it up to date and see that it takes writes.

    An older file is copied to `<name>-v<version><suffix>` beside it before it is changed. A file that can't be used
    is left as it is. Raises `StoreError`, `sqlite3.Error` and `OSError`; `store_error` turns these into the first.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = _connect(str(path))
    try:
        _check(connection, path, len(migrations))
        # Not WAL: SQLite before 3.51.3 can damage a WAL file that two processes use.
        connection.execute("PRAGMA journal_mode = DELETE")
        _migrate(connection, path, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def open_in_memory() -> sqlite3.Connection:
    """A store that is gone with its connection."""
    connection = _connect(":memory:")
    _migrate(connection, Path(), MIGRATIONS)
    return connection


def store_error(path: Path, error: sqlite3.Error | OSError) -> StoreError:
    """What went wrong with the file at `path`."""
    # The lowest byte of an SQLite code is its kind.
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
        return StoreError("store_damaged", {"path": str(path)})
    reason = error.strerror if isinstance(error, OSError) else None
    return StoreError("store_unwritable", {"path": str(path), "reason": reason or str(error)})


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE") -> Iterator[None]:
    """All or nothing; `DEFERRED` for reading alone.

    What writes takes the lock at once: two specchats that had both begun to read would block each other for good.
    """
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # after some failures, such as a full disk, SQLite has done so already
            connection.execute("ROLLBACK")
        raise


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=LOCK_SECONDS, isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA synchronous = EXTRA")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _check(connection: sqlite3.Connection, path: Path, newest: int) -> None:
    """Raise `StoreError` if the file is a newer specchat's, damaged or another program's."""
    with transaction(connection, "DEFERRED"):  # or another specchat could make the tables between the questions
        version = _version(connection)
        if version > newest:
            raise StoreError("store_newer", {"path": str(path)})
        [tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        [verdict] = connection.execute("PRAGMA quick_check (1)").fetchone()
    if verdict != "ok" or (tables and not version):
        raise StoreError("store_damaged", {"path": str(path)})


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    newest = len(migrations)
    with transaction(connection):
        version = _version(connection)  # once more: another specchat may have migrated the file since it was checked
        if 0 < version < newest:
            _copy(path, path.with_name(f"{path.stem}-v{version}{path.suffix}"))
        for migration in migrations[version:]:
            for statement in migration:
                connection.execute(statement)
        # Written even where it is the same, so that a file which takes no writes is noticed now.
        connection.execute(f"PRAGMA user_version = {max(version, newest)}")


def _copy(source: Path, path: Path) -> None:
    """Copy a file that this thread has locked for writing, so that nobody changes it, as a whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    try:
        with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(part)) as copy:
            original.backup(copy)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _version(connection: sqlite3.Connection) -> int:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
