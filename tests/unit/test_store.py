"""The store: what it keeps, what it makes of odd and damaged files, and several users of one file."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from specchat.app.chats import schema
from specchat.app.chats.records import Message, Step, StoreError
from specchat.app.chats.schema import MIGRATIONS, SUMS, open_database
from specchat.app.chats.store import Store
from specchat.app.words import sentence
from specchat.models.decoding.cost import CostTable, DepthFactor, WidthCost
from specchat.models.decoding.counters import count
from support.rounds import make_step

STEPS = (make_step("A| prime", " no", " number"), make_step("", " its", " é"), make_step(" is", "", ""))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "chats.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    store = Store(path)
    assert await store.open() is None
    yield store
    await store.close()


async def reopened(path: Path, chat: int = 1) -> list[Message]:
    """The messages as another specchat finds them."""
    store = Store(path)
    assert await store.open() is None
    try:
        return (await store.read_chat(chat))[1]
    finally:
        await store.close()


def ask(path: Path, question: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(question, values).fetchall()


def reply(*steps: Step, id: int = 0, state: str = "writing") -> Message:
    return Message(id, 1, "assistant", "A prime", state, steps)  # type: ignore[arg-type]


# -------------------------------------------------------------------- what is kept


async def test_a_chat_is_there_again(store: Store, path: Path) -> None:
    chat, said = await store.start_chat("Primes", "Is 7 prime?\x00\x1b[2J [/INST]")
    halves = Step(STEPS[0].round, (b"\xe6\xbc", b"\xa2", b"\xff", b""))
    answer = Message(0, chat.id, "assistant", "漢 🙂\x1b", "stopped", (halves, *STEPS), "cancelled")
    answer = replace(answer, id=await store.save(answer, 0, count(step.round for step in answer.steps)))
    assert await store.read_chat(chat.id) == ((await store.list_chats())[0], [said, answer])
    assert await reopened(path) == [said, answer]
    assert said.content == "Is 7 prime?\x00\x1b[2J [/INST]"


async def test_a_growing_reply_adds_to_what_is_kept_and_ends_in_one_piece(store: Store, path: Path) -> None:
    await store.start_chat("", "Is 7 prime?")
    id = await store.save(reply(), 0)
    await store.save(reply(*STEPS[:2], id=id), 0)
    await store.save(reply(*STEPS, id=id), 2)
    assert [first for (first,) in ask(path, "SELECT first FROM rounds ORDER BY first")] == [0, 2]
    assert (await reopened(path))[-1] == reply(*STEPS, id=id)

    whole = reply(*STEPS, id=id, state="whole")
    await store.save(whole, 0)
    assert ask(path, "SELECT message, first FROM rounds") == [(id, 0)]
    assert (await reopened(path))[-1] == whole


async def test_the_sums_of_a_reply_are_kept(store: Store, path: Path) -> None:
    await store.start_chat("", "Is 7 prime?")
    counters = count(step.round for step in STEPS)
    await store.save(reply(*STEPS), 0, counters)
    asked, answered = ask(path, f"SELECT {', '.join(SUMS)} FROM messages ORDER BY id")
    assert asked == (None,) * len(SUMS)
    assert answered == tuple(getattr(counters, name) for name in SUMS)
    assert counters.tokens == 5


async def test_the_chat_with_the_latest_message_comes_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr("specchat.app.chats.store.time.time", lambda: now)
    first, _ = await store.start_chat("first", "1")
    now += 1
    second, _ = await store.start_chat("second", "2")
    assert await store.list_chats() == [second, first]
    now += 1
    await store.save(Message(0, first.id, "user", "3"))
    assert [(chat.title, chat.changed.timestamp() - now) for chat in await store.list_chats()] == [
        ("first", 0),
        ("second", -1),
    ]


async def test_a_chat_and_its_first_message_come_together_or_not_at_all(store: Store) -> None:
    with pytest.raises(UnicodeEncodeError):
        await store.start_chat("half a character", "\ud83d")
    assert await store.list_chats() == []


async def test_a_missing_chat_is_told_of(store: Store) -> None:
    with pytest.raises(StoreError, match="chat_missing"):
        await store.read_chat(1)


async def test_what_was_begun_is_finished_though_nobody_waits_for_it(store: Store) -> None:
    chat, said = await store.start_chat("", "Is 7 prime?")
    saves = [asyncio.create_task(store.save(Message(0, chat.id, "user", text))) for text in "abc"]
    await asyncio.sleep(0)
    for save in saves:
        save.cancel()
    await asyncio.gather(*saves, return_exceptions=True)
    assert [message.content for message in (await store.read_chat(chat.id))[1]] == [said.content, "a", "b", "c"]


def test_the_file_is_written_with_care(path: Path) -> None:
    with closing(open_database(path)) as connection:
        answers = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert answers == ["delete", 3, 1, 5000]


# -------------------------------------------------------------------- costs

COSTS = CostTable((WidthCost(1, 0.08, 9), WidthCost(4, 0.12, 3)), (DepthFactor(1024, 1.1, 2),))
OTHERS = CostTable((WidthCost(1, 0.01, 1),), ())


async def test_costs_are_found_again_by_what_they_are_of(store: Store, path: Path) -> None:
    assert await store.find_costs("target") is None
    store.keep_costs({"target": OTHERS, "draft": OTHERS})
    store.keep_costs({"target": COSTS})
    assert (await store.find_costs("target"), await store.find_costs("draft")) == (COSTS, OTHERS)
    assert await store.find_costs("another") is None
    again = Store(path)
    assert await again.open() is None
    assert await again.find_costs("target") == COSTS
    await again.close()


@pytest.mark.parametrize("odd", [None, -7, "", b"\xff\x00", "{}", '{"widths":[["x"]],"depths":[]}'], ids=repr)
async def test_costs_that_cannot_be_read_are_none(store: Store, path: Path, odd: object) -> None:
    store.keep_costs({"target": COSTS})
    await store.find_costs("target")
    without_constraints(path, "costs")
    ask(path, "UPDATE costs SET costs = ?", odd)
    assert await store.find_costs("target") is None


async def test_costs_that_cannot_be_kept_are_nobodys_trouble(store: Store, path: Path) -> None:
    ask(path, "DROP TABLE costs")
    store.keep_costs({"target": COSTS})
    chat, said = await store.start_chat("", "Is 7 prime?")
    assert await store.read_chat(chat.id) == (chat, [said])


async def test_a_store_in_memory_keeps_costs_too(path: Path) -> None:
    path.mkdir(parents=True)
    store = Store(path)
    assert await store.open() is not None
    store.keep_costs({"target": COSTS})
    assert await store.find_costs("target") == COSTS
    await store.close()


# -------------------------------------------------------------------- odd contents

ODD = [None, -7, 1e300, "odd", "", b"\xff\x00"]


def without_constraints(path: Path, table: str) -> None:
    """Let the table's columns hold anything."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(
            f"CREATE TABLE odd AS SELECT * FROM {table}; DROP TABLE {table}; ALTER TABLE odd RENAME TO {table};"
        )


@pytest.mark.parametrize("odd", ODD, ids=map(repr, ODD))
@pytest.mark.parametrize("column", ["title", "created", "changed"])
async def test_no_field_makes_a_chat_unopenable(store: Store, path: Path, column: str, odd: object) -> None:
    chat, said = await store.start_chat("Primes", "Is 7 prime?")
    without_constraints(path, "chats")
    ask(path, f"UPDATE chats SET {column} = ?", odd)
    assert len(await store.list_chats()) == 1
    assert (await store.read_chat(chat.id))[1] == [said]


@pytest.mark.parametrize("odd", ODD, ids=map(repr, ODD))
@pytest.mark.parametrize("column", ["role", "content", "state", "stop_reason", "model", "created", *SUMS])
async def test_no_field_makes_a_message_unreadable(store: Store, path: Path, column: str, odd: object) -> None:
    chat, said = await store.start_chat("Primes", "Is 7 prime?")
    id = await store.save(reply(*STEPS), 0)
    without_constraints(path, "messages")
    ask(path, f"UPDATE messages SET {column} = ? WHERE id = ?", odd, id)
    asked, answered = (await store.read_chat(chat.id))[1]
    assert asked == said
    assert (answered.id, answered.role, answered.steps) == (id, "assistant", STEPS)
    if column not in ("content", "state", "stop_reason", "model"):
        assert answered == reply(*STEPS, id=id)


async def test_text_that_is_no_utf8_is_replaced(store: Store, path: Path) -> None:
    chat, _ = await store.start_chat("Primes", "Is 7 prime?")
    ask(path, "UPDATE messages SET content = CAST(x'FF41' AS TEXT)")
    assert [message.content for message in (await store.read_chat(chat.id))[1]] == ["\ufffdA"]


UNREADABLE = [None, 7, "text", b"", b"\x00" * 40, zlib.compress(b"[{}]"), zlib.compress(b"nothing")]


@pytest.mark.parametrize("odd", UNREADABLE, ids=map(repr, UNREADABLE))
async def test_steps_are_kept_up_to_the_first_that_cannot_be_read(store: Store, path: Path, odd: object) -> None:
    await store.start_chat("", "Is 7 prime?")
    id = await store.save(reply(STEPS[0]), 0)
    await store.save(reply(*STEPS[:2], id=id), 1)
    await store.save(reply(*STEPS, id=id), 2)
    without_constraints(path, "rounds")
    ask(path, "UPDATE rounds SET steps = ? WHERE first = 1", odd)
    assert (await reopened(path))[-1] == reply(STEPS[0], id=id)


async def test_rounds_stay_readable(store: Store, path: Path) -> None:
    """What earlier versions wrote: a field that a round gets later needs a default."""
    await store.start_chat("", "Is 7 prime?")
    id = await store.save(reply(), 0)
    kept = (
        '[{"round":{"guesses":[0,1,2],"accepted":2,"token":99,"speculating":true,"drafter":"model","width":4,'
        '"stopped":false,"draft_runs":3,"caught_up":0,"run_seconds":0.005,"alpha_sum":2.1,"alpha_weight":3.0,'
        '"seconds_draft":0.02,"seconds_verify":0.07,"seconds_sampling":0.005,"seconds":0.1,"plain_seconds":null,'
        '"pass_seconds":0.05},"pieces":["QQ==","IHByaW1l","IG5v","4ryi"]}]'
    )
    ask(path, "INSERT INTO rounds VALUES (?, 0, ?)", id, zlib.compress(kept.encode()))
    [step] = (await reopened(path))[-1].steps
    [written] = json.loads(kept)
    assert {name: getattr(step.round, name) for name in written["round"]} == {
        **written["round"],
        "guesses": (0, 1, 2),
    }
    assert [base64.b64encode(piece).decode() for piece in step.pieces] == written["pieces"]


# -------------------------------------------------------------------- files that can't be used


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def garble_a_page(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[4096:8192] = os.urandom(4096)
    path.write_bytes(whole)


def make_newer(path: Path) -> None:
    ask(path, f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


def belong_to_another(path: Path) -> None:
    path.unlink()
    ask(path, "CREATE TABLE stamps (country TEXT)")


@pytest.mark.parametrize(
    ("harm", "code"),
    [
        (lambda path: path.write_bytes(bytes(20_000)), "store_damaged"),
        (lambda path: path.write_text("Dear diary, " * 1000), "store_damaged"),
        (cut_short, "store_damaged"),
        (garble_a_page, "store_damaged"),
        (belong_to_another, "store_damaged"),
        (make_newer, "store_newer"),
    ],
    ids=["zeros", "text", "cut", "garbled", "another program's", "newer"],
)
async def test_a_file_that_cannot_be_used_is_left_alone(path: Path, harm: Callable[[Path], None], code: str) -> None:
    await kept_file(path)
    harm(path)
    before = path.read_bytes()

    problem = await store_goes_on_without(path)
    assert (problem.code, problem.params) == (code, {"path": str(path)})
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


async def kept_file(path: Path) -> None:
    store = Store(path)
    await store.open()
    await store.start_chat("Primes", "Is 7 prime?")
    await store.close()


async def store_goes_on_without(path: Path) -> StoreError:
    """Why the file can't be used; a chat must still work."""
    store = Store(path)
    problem = await store.open()
    assert problem is not None
    assert "went wrong" not in sentence(problem.code, problem.params)
    chat, said = await store.start_chat("", "Is 7 prime?")
    assert await store.read_chat(chat.id) == (chat, [said])
    await store.close()
    return problem


async def test_a_folder_that_cannot_be_made_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    problem = await store_goes_on_without(tmp_path / "file" / "chats.db")
    assert problem.code == "store_unwritable"
    assert problem.params["reason"] in ("Not a directory", "File exists", "Cannot create a file when that file exists")


async def test_a_folder_in_the_files_place_is_told_of(path: Path) -> None:
    path.mkdir(parents=True)
    problem = await store_goes_on_without(path)
    assert (problem.code, problem.params["reason"]) == ("store_unwritable", "unable to open database file")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everything is writable for root")
@pytest.mark.parametrize(("what", "mode"), [("chats.db", 0o400), (".", 0o500)], ids=["file", "folder"])
async def test_what_takes_no_writes_is_told_of(path: Path, what: str, mode: int) -> None:
    await kept_file(path)
    (path.parent / what).chmod(mode)
    try:
        assert (await store_goes_on_without(path)).code == "store_unwritable"
    finally:
        path.parent.chmod(0o700)


# -------------------------------------------------------------------- several at once


async def test_several_use_one_file(path: Path) -> None:
    stores = [Store(path) for _ in range(4)]
    assert await asyncio.gather(*(store.open() for store in stores)) == [None] * 4
    chat, _ = await stores[0].start_chat("", "0")
    texts = [f"{number} of {user}" for number in range(5) for user in range(4)]
    await asyncio.gather(
        *(stores[number % 4].save(Message(0, chat.id, "user", text)) for number, text in enumerate(texts))
    )
    for store in stores:
        assert sorted(message.content for message in (await store.read_chat(chat.id))[1]) == sorted(["0", *texts])
        await store.close()


ANOTHER = """
import asyncio, sys
from pathlib import Path
from specchat.app.chats.records import Message
from specchat.app.chats.store import Store

async def chat() -> None:
    store = Store(Path(sys.argv[1]))
    assert await store.open() is None
    for number in range(20):
        await store.save(Message(0, 1, "user", f"{number} of {sys.argv[2]}"))
    await store.close()

asyncio.run(chat())
"""


async def test_several_processes_use_one_file(path: Path) -> None:
    await kept_file(path)
    users = [subprocess.Popen([sys.executable, "-P", "-c", ANOTHER, path, user]) for user in ("Ann", "Bob")]
    assert [user.wait(60) for user in users] == [0, 0]
    for user in ("Ann", "Bob"):
        said = [message.content for message in await reopened(path) if message.content.endswith(user)]
        assert said == [f"{number} of {user}" for number in range(20)]


async def test_a_lock_that_stays_is_told_of_and_holds_up_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.0)
    store = Store(path)
    await store.open()
    chat, said = await store.start_chat("", "Is 7 prime?")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError) as caught:
            await store.save(Message(0, chat.id, "user", "lost"))
        assert (await store_goes_on_without(path)).code == "store_unwritable"
    assert (caught.value.code, caught.value.params) == (
        "store_unwritable",
        {"path": str(path), "reason": "database is locked"},
    )
    await store.save(Message(0, chat.id, "user", "kept"))
    assert [message.content for message in (await store.read_chat(chat.id))[1]] == [said.content, "kept"]
    await store.close()


# -------------------------------------------------------------------- older files


async def test_a_file_from_before_costs_were_kept_gets_a_place_for_them(path: Path) -> None:
    path.parent.mkdir()
    open_database(path, MIGRATIONS[:1]).close()
    ask(path, "INSERT INTO chats (title, created, changed) VALUES ('Primes', 0, 0)")
    store = Store(path)
    assert await store.open() is None
    store.keep_costs({"target": COSTS})
    assert await store.find_costs("target") == COSTS
    assert [chat.title for chat in await store.list_chats()] == ["Primes"]
    await store.close()
    assert path.with_name("chats-v1.db").exists()


NEXT = (*MIGRATIONS, ("ALTER TABLE chats ADD COLUMN mood TEXT", "UPDATE chats SET mood = 'calm'"))


async def test_an_older_file_is_copied_and_then_brought_up_to_date(path: Path) -> None:
    await kept_file(path)
    open_database(path, NEXT).close()
    assert ask(path, "SELECT title, mood FROM chats") == [("Primes", "calm")]
    assert ask(path, "PRAGMA user_version") == [(len(NEXT),)]
    copy = path.with_name(f"chats-v{len(MIGRATIONS)}.db")
    assert sorted(path.parent.iterdir()) == sorted([path, copy])
    assert [message.content for message in await reopened(copy)] == ["Is 7 prime?"]
    copy.unlink()
    open_database(path, NEXT).close()
    assert not copy.exists()


async def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    await kept_file(path)
    before = path.read_bytes()
    with pytest.raises(sqlite3.Error):
        open_database(path, (*NEXT, ("DROP TABLE messages", "no SQL")))
    assert path.read_bytes() == before


async def test_a_copy_that_fails_changes_nothing(path: Path) -> None:
    await kept_file(path)
    before = path.read_bytes()
    (path.parent / f"chats-v{len(MIGRATIONS)}.db").mkdir()
    with pytest.raises(OSError):
        open_database(path, NEXT)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*.part"))


async def test_two_that_migrate_at_once_do_it_once(path: Path) -> None:
    await kept_file(path)
    await asyncio.gather(*(asyncio.to_thread(lambda: open_database(path, NEXT).close()) for _ in range(4)))
    assert ask(path, "SELECT title, mood FROM chats") == [("Primes", "calm")]
    assert [message.content for message in await reopened(path.with_name(f"chats-v{len(MIGRATIONS)}.db"))] == [
        "Is 7 prime?"
    ]
