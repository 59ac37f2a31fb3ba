"""`specchat ask`: one reply to standard output as it is written, its figures to standard error."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import msgspec

from specchat.app import figures
from specchat.app.command_line.arguments import AskArguments
from specchat.app.costs import Costs, opened_quietly
from specchat.app.display import Cleaner
from specchat.app.drafters import able_drafter, usual_drafter
from specchat.app.live import on_terminal
from specchat.app.status import FAILED, USAGE
from specchat.app.streams import complain, tell
from specchat.app.words import _, sentence
from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round, StopReason
from specchat.models.engine import messages
from specchat.models.engine.client import EngineClient
from specchat.models.engine.errors import EngineFailure
from specchat.models.files.bundled import bundled_model
from specchat.settings.paths import find_paths


@dataclass
class Reply:
    """What is known of the reply so far."""

    ready: messages.Ready
    loaded: messages.Loaded
    text: str = ""
    rounds: list[Round] = field(default_factory=list)
    prefilled: messages.Prefilled | None = None
    stop_reason: StopReason | Literal["failed"] = "cancelled"


class RoundsFile:
    """The file of `--rounds`: a JSON object a line, there as soon as its round is over.

    Making it and adding to it raise `OSError` with the file's name.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")

    def add(self, round: Round) -> None:
        """Write one more line."""
        try:
            self._file.write(msgspec.json.encode(round) + b"\n")
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error

    def close(self) -> None:
        """Let go of the file."""
        with suppress(OSError):  # what could not be written was told of when it was added
            self._file.close()


def run(arguments: AskArguments) -> int:
    """Carry out `specchat ask`; returns the exit status. Raises `OSError` where standard output can't be written."""
    for notice in arguments.notices:
        complain(notice)
    try:
        prompt = _typed_prompt() if arguments.prompt is None else arguments.prompt
    except OSError as error:
        complain(sentence("input_unreadable", {"reason": error.strerror or str(error)}))
        return FAILED
    if not prompt.strip():
        complain(sentence("prompt_empty", {}))
        return USAGE
    target = arguments.target or bundled_model()
    if target is None:
        complain(sentence("bundled_missing", {}))
        return FAILED
    return _answer(arguments, prompt, target)


def _typed_prompt() -> str:
    """Standard input, without the newline that ends its last line."""
    if sys.stdin.isatty():
        tell(_("Type the prompt, then end it with ctrl+D (ctrl+Z and Enter on Windows)."))
    return sys.stdin.read().removesuffix("\n")


def _answer(arguments: AskArguments, prompt: str, target: Path) -> int:
    try:
        with ExitStack() as opened:
            rounds = None
            if arguments.rounds is not None:
                rounds = RoundsFile(arguments.rounds)
                opened.callback(rounds.close)
            asyncio.run(Ask(arguments, prompt, target, rounds).write())
    except EngineFailure as failure:
        complain(sentence(failure.code, failure.params))
        return FAILED
    except OSError as error:
        if error.filename is None:
            raise
        complain(sentence("file_unwritable", {"path": error.filename, "reason": error.strerror or ""}))
        return FAILED
    return 0


class Ask:
    """One request, from the engine's start to the figures."""

    def __init__(self, arguments: AskArguments, prompt: str, target: Path, rounds: RoundsFile | None) -> None:
        self._arguments = arguments
        self._prompt = prompt
        self._target = target
        self._rounds = rounds
        self._line = on_terminal(with_text=not arguments.json)
        self._cleaner = Cleaner()
        self._reply: Reply | None = None

    async def write(self) -> None:
        """Load, write the reply and show its figures, of a part of it too if this is interrupted or fails."""
        paths = find_paths(os.environ)
        try:
            async with opened_quietly(paths.chats_file) as store, EngineClient(paths.log / "engine.log") as engine:
                ready, costs = await engine.start(), Costs(engine, store)
                async for event in costs.load(self._file(self._target), self._draft_file()):
                    self._show(event)
                    if isinstance(event, messages.Loaded):
                        self._reply = Reply(ready, event)
                async with costs.heard_out():
                    await self._take(self._generate(engine))
        except (EngineFailure, OSError):
            if self._reply:
                self._reply.stop_reason = "failed"
            raise
        finally:
            self._line.end()
            self._finish()

    def _file(self, path: Path) -> messages.ModelFile:
        return messages.ModelFile(str(path.absolute()), self._arguments.settings.target)

    def _draft_file(self) -> messages.ModelFile | None:
        if self._drafter in ("lookup", "none") or self._arguments.draft is None:
            return None
        path = Path(self._arguments.draft).absolute()
        return messages.ModelFile(str(path), self._arguments.settings.draft)

    @property
    def _drafter(self) -> messages.DrafterName:
        """Who is to guess. Nobody unless that is asked for: a seed then gives the same text every time."""
        draft = self._arguments.draft
        if draft is None or draft == "none" or not self._arguments.speculation_on:
            return "none"
        gamma = self._arguments.settings.speculation.gamma
        return usual_drafter(has_draft=draft != "lookup", gamma=gamma)

    def _generate(self, engine: EngineClient) -> AsyncIterator[messages.Event]:
        settings = self._arguments.settings
        said = [messages.ChatMessage("user", self._prompt)]
        if settings.reply.system:
            said.insert(0, messages.ChatMessage("system", settings.reply.system))
        return engine.generate(
            self._prompt if self._arguments.raw else tuple(said),
            sampling=settings.sampling,
            speculation=replace(settings.speculation, enabled=self._arguments.speculation_on),
            drafter=self._drafter,
            max_tokens=settings.reply.max_tokens,
            stop=self._arguments.stop,
        )

    async def _take(self, events: AsyncIterator[messages.Event]) -> None:
        assert self._reply is not None
        async for event in events:
            match event:
                case messages.Prefilled():
                    self._reply.prefilled = event
                    self._line.clear()
                case messages.Written():
                    self._reply.rounds.append(event.round)
                    self._add(event.text)
                    if self._rounds:
                        self._rounds.add(event.round)
                    self._line.paint(self._brief)
                case messages.Done():
                    self._reply.stop_reason = event.stop_reason
                    self._add(event.text)
                case _:
                    self._show(event)

    def _add(self, text: str) -> None:
        assert self._reply is not None
        self._reply.text += text
        if not self._arguments.json:
            self._line.write(self._cleaner.feed(text) if sys.stdout.isatty() else text)

    def _show(self, event: messages.Event) -> None:
        if isinstance(event, messages.Notice):
            self._line.clear()
            complain(sentence(event.code, event.params))
        elif isinstance(event, messages.Progress):
            share = event.done / max(event.total, 1)
            self._line.paint(lambda: _PROGRESS[event.stage]().format(share=share))

    def _brief(self) -> str:
        return figures.brief(count(self._reply.rounds if self._reply else ()))

    def _finish(self) -> None:
        """Show the figures, if there is anything to show them of."""
        if self._reply is None or self._reply.prefilled is None:
            return
        if self._arguments.json:
            print(json.dumps(self._as_json(self._reply), ensure_ascii=False, indent=1))
        else:
            device = ", ".join(self._reply.loaded.target.devices)
            *lines, last = figures.summary(count(self._reply.rounds))
            tell(*lines, f"{last} · {device}")
            self._complain_if_cut(self._reply)

    def _complain_if_cut(self, reply: Reply) -> None:
        if reply.stop_reason == "length":
            complain(sentence("reply_cut_length", {"tokens": self._arguments.settings.reply.max_tokens}))
        elif reply.stop_reason == "context":
            complain(sentence("reply_cut_context", {"ctx": reply.loaded.target.ctx}))

    def _as_json(self, reply: Reply) -> dict[str, object]:
        speculation = self._arguments.settings.speculation
        model = reply.loaded.draft.path if reply.loaded.draft else None
        drafter = able_drafter(self._drafter, reply.loaded)
        return {
            "text": reply.text,
            "stop_reason": reply.stop_reason,
            **figures.as_json(count(reply.rounds)),
            "seconds_prefill": reply.prefilled.seconds if reply.prefilled else None,
            "target": reply.loaded.target.path,
            "draft": "lookup" if drafter == "lookup" else model,
            "drafter": drafter,
            "rule": speculation.rule,
            "gamma": 0 if drafter == "none" else speculation.gamma,
            "seed": reply.prefilled.seed if reply.prefilled else None,
            "backend": reply.ready.backend,
            "devices": list(reply.loaded.target.devices),
            "versions": {"specchat": version("specchat"), **reply.ready.versions},
        }


_PROGRESS = {
    "target": lambda: _("loading the target: {share:.0%}"),
    "draft": lambda: _("loading the draft: {share:.0%}"),
    "prefill": lambda: _("reading the prompt: {share:.0%}"),
}
