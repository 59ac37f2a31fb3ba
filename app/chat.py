"""`specchat chat` and `specchat demo`: what the screen needs, and in which state it leaves the terminal."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from pathlib import Path

from specchat.app.chats.store import Store
from specchat.app.command_line.arguments import ChatArguments
from specchat.app.conversation import Conversation
from specchat.app.last_pair import PairChoice, recall
from specchat.app.sentences import N_
from specchat.app.status import FAILED, USAGE
from specchat.app.streams import complain
from specchat.app.words import _, sentence, visible
from specchat.models.engine.client import EngineClient
from specchat.models.engine.messages import DrafterName
from specchat.models.files.bundled import bundled_model
from specchat.settings.paths import Paths, find_paths

_HINT = N_(
    "This is the small bundled model; prompt lookup can guess for it. F5 or ctrl+o picks a real pair of models; "
    "`specchat demo` shows one at work without any download."
)
_PLAIN_HINT = N_(
    "This is the small bundled model; prompt lookup can guess for it. The options --target and --draft name a real "
    "pair of models; `specchat demo --plain` shows one at work without any download."
)


@dataclass(frozen=True, slots=True)
class Opening:
    """The pair that a chat begins with (absolute paths), and what is to be said of it."""

    target: Path
    draft: Path | None = None
    drafter: DrafterName | None = None
    """Who is to guess; None where nobody was chosen."""
    notices: tuple[str, ...] = ()
    is_lasting: bool = True
    """Whether it is to be the pair of the next start, too."""


def run_chat(arguments: ChatArguments) -> int:
    """Carry out `specchat chat`; returns the exit status."""
    if not _can_show(arguments):
        return USAGE
    paths = find_paths(os.environ)
    opening = _opening(arguments, paths)
    if opening is None:
        complain(sentence("bundled_missing", {}))
        return FAILED
    return _run(arguments, paths, opening)


def run_demo(arguments: ChatArguments) -> int:
    """Carry out `specchat demo`: make the stand-in if there is none, and chat with it. Returns the exit status."""
    from specchat.app.demo import DemoError, prepare_standin

    if not _can_show(arguments):
        return USAGE
    paths = find_paths(os.environ)
    bundled = bundled_model()
    if bundled is None:
        complain(sentence("standin_without_bundled", {}))
        return FAILED
    try:
        standin = prepare_standin(paths.cache, bundled, plain=arguments.plain)
    except DemoError as error:
        complain(sentence(error.code, error.params))
        return FAILED
    return _run(arguments, paths, Opening(standin, bundled, is_lasting=False))


def _can_show(arguments: ChatArguments) -> bool:
    """Whether the chat can be shown here; if not, says so."""
    if arguments.plain or (sys.stdin.isatty() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"):
        return True
    complain(_("The chat needs a terminal. `specchat chat --plain` works line by line, `specchat ask` in a pipe."))
    return False


def _opening(arguments: ChatArguments, paths: Paths) -> Opening | None:
    """What was asked for; else the pair of last time; else the bundled model, if it is there."""
    recalled = recall(paths.data)
    if arguments.target is not None:
        return _with_draft(Opening(arguments.target.absolute()), arguments.draft, recalled.pair)
    notices = (sentence(recalled.code, recalled.params),) if recalled.code else ()
    if (pair := recalled.pair) is not None:
        return _with_draft(Opening(pair.target, pair.draft, pair.drafter, notices), arguments.draft, pair)
    bundled = bundled_model()
    return None if bundled is None else _with_draft(Opening(bundled, notices=notices), arguments.draft, None)


def _with_draft(opening: Opening, draft: str | None, last: PairChoice | None) -> Opening:
    """`opening` with the draft that was asked for. Doing without one for once isn't to forget the one of last time."""
    if draft is None:
        return opening
    if draft not in ("lookup", "none"):
        return replace(opening, draft=Path(draft).absolute(), drafter=None)
    drafter: DrafterName = "lookup" if draft == "lookup" else "none"
    is_lasting = last is None or last.draft is None or last.target != opening.target
    return replace(opening, draft=None, drafter=drafter, is_lasting=is_lasting)


def _hints(arguments: ChatArguments, paths: Paths) -> Mapping[Path, str]:
    """What an empty chat says of a target to those who may not know it."""
    from specchat.app.demo import STANDIN_SENTENCE, standin_path

    hints = {standin_path(paths.cache): _(STANDIN_SENTENCE)}
    if bundled := bundled_model():
        hints[bundled] = _(_PLAIN_HINT if arguments.plain else _HINT)
    return hints


def _run(arguments: ChatArguments, paths: Paths, opening: Opening) -> int:
    if arguments.plain:
        return _run_plain(arguments, paths, opening)
    gc.disable()  # up to the first paint, which searches among all that is imported would delay; the app enables it
    try:
        return asyncio.run(_chat(arguments, paths, opening))
    except Exception as error:
        return report_error(error, paths)


def _run_plain(arguments: ChatArguments, paths: Paths, opening: Opening) -> int:
    try:
        return asyncio.run(_chat_plainly(arguments, paths, opening))
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:  # standard output's, of which `main` knows
            raise
        return report_error(error, paths)


@asynccontextmanager
async def _conversing(
    arguments: ChatArguments, paths: Paths, opening: Opening
) -> AsyncIterator[tuple[Conversation, Sequence[str]]]:
    """The conversation, and what is to be said before it; all it holds is closed in the end, however that comes."""
    store = Store(paths.chats_file)
    try:
        problem = await store.open()
        told = (sentence(problem.code, problem.params),) if problem else ()
        async with EngineClient(paths.log / "engine.log") as engine:
            conversation = Conversation(engine, store, arguments.settings, opening.target, opening.draft)
            conversation.change(drafter=opening.drafter)  # None leaves the usual one
            yield conversation, (*arguments.notices, *opening.notices, *told)
    finally:
        await store.close()


async def _chat_plainly(arguments: ChatArguments, paths: Paths, opening: Opening) -> int:
    """Talk line by line."""
    from specchat.app.plain import PlainChat

    async with _conversing(arguments, paths, opening) as (conversation, notices):
        plain = PlainChat(conversation, paths.data if opening.is_lasting else None)
        await plain.run(notices, _hints(arguments, paths).get(opening.target, ""))
    return FAILED if plain.has_failed else 0


async def _chat(arguments: ChatArguments, paths: Paths, opening: Opening) -> int:
    """Run the screen. Its code is loaded while the store is opened, which waits for the disk."""
    loading = asyncio.create_task(asyncio.to_thread(import_module, "specchat.app.tui"))
    async with _conversing(arguments, paths, opening) as (conversation, notices):
        await loading
        from specchat.app.library.at_hand import models_at_hand
        from specchat.app.screens.dialogs import Start, know_names
        from specchat.app.tui import SpecchatApp

        start = Start(
            settings_file=paths.settings_file,
            data=paths.data,
            typed=arguments.typed,
            environ=os.environ,
            at_hand=models_at_hand(paths),
            cache=paths.cache,
            notices=notices,
            hints=_hints(arguments, paths),
            is_lasting=opening.is_lasting,
        )
        know_names(opening.target, opening.draft)
        app = SpecchatApp(conversation, start)
        await app.run_async()
    if app.error is not None:
        return report_error(app.error, paths)
    return app.return_code or 0


def report_error(error: BaseException, paths: Paths) -> int:
    """Write an error that nobody foresaw to a file, and say so in a sentence."""
    file = paths.log / "error.log"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8", errors="replace") as log:
            log.write(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}\n")
            log.writelines(traceback.format_exception(error))
    except OSError:
        kind = type(error).__name__
        complain(_("Something went wrong inside specchat, which is a mistake in it: {kind}.").format(kind=kind))
        return FAILED
    complain(
        _("Something went wrong inside specchat, which is a mistake in it. {path} says what.").format(
            path=visible(str(file))
        )
    )
    return FAILED
