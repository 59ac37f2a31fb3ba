"""`specchat history`: what was measured and what the chats sum up to, to standard output."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from specchat.app.bench.blocks import as_text
from specchat.app.chats.records import StoreError
from specchat.app.chats.store import Store
from specchat.app.command_line.parser import UsageError
from specchat.app.history.files import as_csv, as_json
from specchat.app.history.reading import read_history
from specchat.app.history.records import History
from specchat.app.history.report import blocks
from specchat.app.status import FAILED
from specchat.app.streams import complain
from specchat.app.words import sentence
from specchat.settings.paths import find_paths


def judge(parsed: argparse.Namespace, *_: object) -> argparse.Namespace:
    """Its parsed options. Raises `UsageError`."""
    if parsed.json and parsed.csv:
        raise UsageError("history_one_form", {})
    return parsed


def run(parsed: argparse.Namespace) -> int:
    """Carry out `specchat history`; returns the exit status. Raises `OSError` where it can't be printed."""
    try:
        history = asyncio.run(_read(find_paths(os.environ).chats_file))
    except StoreError as problem:
        complain(sentence(problem.code, problem.params))
        return FAILED
    written = as_json(history) if parsed.json else as_csv(history) if parsed.csv else as_text(blocks(history))
    print(written, end="")
    return 0


async def _read(path: Path) -> History:
    if not path.exists():
        return History((), ())
    store = Store(path)
    try:
        if problem := await store.open():
            raise problem
        return await read_history(store)
    finally:
        await store.close()
