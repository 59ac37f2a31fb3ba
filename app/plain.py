"""`--plain`: the conversation line by line, for screen readers, dumb terminals and pipes, without escape sequences.

Replies go to standard output, and what specchat says of them to standard error, as with `specchat ask`.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path

from specchat.app import figures, speculating
from specchat.app.chats.records import StoreError
from specchat.app.conversation import Conversation
from specchat.app.display import Cleaner
from specchat.app.last_pair import PairChoice, remember
from specchat.app.quitting import how_to_quit
from specchat.app.reasons import commonest_reason
from specchat.app.sentences import N_
from specchat.app.streams import complain, tell
from specchat.app.words import _, sentence, visible
from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round, StopReason
from specchat.models.engine import messages
from specchat.models.engine.errors import EngineFailure
from specchat.settings.values import MAX_GAMMA

COMMANDS = (
    ("/on", N_("let the draft guess")),
    ("/off", N_("let the target write alone")),
    ("/gamma auto|N", N_("guess as many tokens a round as pay, or N")),
    ("/draft both|model|lookup|none", N_("who guesses; both is lookup where the text repeats itself, else the model")),
    ("/rule block|token", N_("how guesses are judged")),
    ("/new", N_("begin a new chat; this one is kept")),
    ("/help", N_("show this list")),
    ("/quit", N_("leave; so does the end of the input")),
)

_GAMMAS = tuple(map(str, range(MAX_GAMMA + 1)))


class PlainChat:
    """Talks with a person, or with a pipe, until it is told to quit.

    `data` is where the pair is remembered; None where it isn't to be.
    """

    def __init__(self, conversation: Conversation, data: Path | None) -> None:
        self._conversation = conversation
        self._data = data
        self._is_working = False
        """Whether there is a load or a reply that could be stopped."""
        self._has_person = sys.stdin.isatty()
        self._has_told_of_load = False
        self._is_in_line = False
        """Whether the last line of a reply has yet to be ended."""
        self._has_loaded = False
        self._answers: list[bool] = []
        """For each message, whether its reply is whole."""

    @property
    def has_failed(self) -> bool:
        """Whether a pipe lacks an answer, or sent nothing to models that can't be loaded. A person has seen it all."""
        return not self._has_person and not (all(self._answers) if self._answers else self._has_loaded)

    async def run(self, notices: Iterable[str], hint: str) -> None:
        """Load the models and take turns. Raises `OSError` where standard output can't be written."""
        for notice in notices:
            complain(notice)
        if hint:
            tell(hint)
        with self._minding_ctrl_c():
            self._has_loaded = await self._follow(self._conversation.load())
            if self._has_person:
                tell(_("Type a message, or /help."))
            while (line := await self._next_line()) is not None and line.strip() != "/quit":
                if line.startswith("/"):
                    tell(*await self._obey(line))
                elif line.strip() and await self._may_start():
                    await self._answer(line)

    # ------------------------------------------------------------------ what is typed

    async def _next_line(self) -> str | None:
        """The next line, without its end; None at the end of the input."""
        self._show_prompt()
        try:
            # In a thread: the engine is to be heard meanwhile. Not with `input`, whose line editor writes sequences.
            line = await asyncio.to_thread(sys.stdin.readline)
        except OSError as error:
            complain(sentence("input_unreadable", {"reason": error.strerror or str(error)}))
            return None
        if not line and self._has_person:
            tell("")
        return line.removesuffix("\n") if line else None

    def _show_prompt(self) -> None:
        if self._has_person and sys.stderr.isatty():
            print("> ", end="", file=sys.stderr, flush=True)

    @contextmanager
    def _minding_ctrl_c(self) -> Iterator[None]:
        """Have ctrl+C stop a reply where a person types; else, it ends the program as it does any."""
        if not self._has_person:
            yield
        elif sys.platform == "win32":
            loop = asyncio.get_running_loop()
            before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._interrupt))
            try:
                yield
            finally:
                signal.signal(signal.SIGINT, before)
        else:
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
            try:
                yield
            finally:
                asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _interrupt(self) -> None:
        if self._is_working:
            self._conversation.stop()
        else:
            tell("", how_to_quit(_("/quit leaves."), self._conversation))
            self._show_prompt()

    # ------------------------------------------------------------------ commands

    async def _obey(self, line: str) -> list[str]:
        """Carry out a command; what is to be said of it."""
        conversation = self._conversation
        match line.split():
            case ["/on" | "/off" as name]:
                return [speculating.switch(conversation, name == "/on")]
            case ["/gamma", "auto"]:
                return [speculating.guess(conversation, "auto")]
            case ["/gamma", number] if number in _GAMMAS:
                return [speculating.guess(conversation, int(number))]
            case ["/gamma", *_other]:
                return [_("γ takes a whole number from 0 to {most}, or auto, as in /gamma 3.").format(most=MAX_GAMMA)]
            case ["/draft", ("both" | "model" | "lookup" | "none") as drafter]:
                return [speculating.let_guess(conversation, drafter)]
            case ["/rule", ("block" | "token") as rule]:
                return [speculating.judge_by(conversation, rule)]
            case ["/new"]:
                conversation.new_chat()
                return [_("A new chat begins.")]
            case ["/help"]:
                return _help()
        return [_("There is no such command. A space before it sends it as a message."), *_help()]

    # ------------------------------------------------------------------ loads and replies

    async def _may_start(self) -> bool:
        """Whether the engine may be started: after it died twice over the same models, a person must say so."""
        conversation = self._conversation
        if not conversation.must_ask_before_load or not self._has_person:
            return True
        tell(_("The engine has died twice over these models, loaded this way. Type yes to start it with them again."))
        if (await self._next_line() or "").strip().lower() not in ("yes", "y", _("yes")):
            tell(_("The message wasn't sent."))
            return False
        conversation.allow_load()
        return True

    async def _answer(self, prompt: str) -> None:
        """Send a prompt and show its reply, and then the reply's figures."""
        reply: list[Round] = []
        self._answers.append(await self._follow(self._conversation.send(prompt), reply))
        if reply:
            tell(_counter(reply))

    async def _follow(self, events: AsyncGenerator[messages.Event, None], reply: list[Round] | None = None) -> bool:
        """Show the events of a load or of a reply, and collect the reply's rounds; whether it came to its end."""
        self._is_working, self._has_told_of_load = True, False
        cleaner = Cleaner()
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, messages.Written) and reply is not None:
                        reply.append(event.round)
                    if isinstance(event, messages.Written | messages.Done):
                        self._write(cleaner.feed(event.text))
                    await self._tell_of(event)
        except (EngineFailure, StoreError) as failure:
            self._end_line()
            complain(sentence(failure.code, failure.params))
            return False
        finally:
            self._is_working = False
        return True

    async def _tell_of(self, event: messages.Event) -> None:
        """Say what is to be said of an event, if anything is."""
        match event:
            case messages.Progress(stage="target") if not self._has_told_of_load:
                self._has_told_of_load = True
                tell(_("Loading {model} …").format(model=visible(self._conversation.target.name)))
            case messages.Loaded():
                tell(_("Loaded, on {devices}.").format(devices=visible(", ".join(event.target.devices))))
                await self._remember_pair()
            case messages.Notice():
                self._end_line()
                complain(sentence(event.code, event.params))
            case messages.Done():
                self._end_line()
                self._tell_of_end(event.stop_reason)

    def _tell_of_end(self, reason: StopReason) -> None:
        """Say why a reply ended, unless it did by itself."""
        if reason == "cancelled":
            tell(_("The reply was stopped."))
        elif reason == "length":
            complain(sentence("reply_cut_length", {"tokens": self._conversation.settings.reply.max_tokens}))
        elif reason == "context" and (loaded := self._conversation.loaded):
            complain(sentence("reply_cut_context", {"ctx": loaded.target.ctx}))

    def _write(self, text: str) -> None:
        """Add to the reply."""
        if text:
            print(text, end="", flush=True)
            self._is_in_line = not text.endswith("\n")

    def _end_line(self) -> None:
        """End the reply's last line, if it has one."""
        if self._is_in_line:
            self._write("\n")

    async def _remember_pair(self) -> None:
        """Keep the pair for the next start, as the screen does."""
        if self._data is None:
            return
        chosen = PairChoice(self._conversation.target, self._conversation.draft, self._conversation.drafter)
        try:
            await asyncio.to_thread(remember, self._data, chosen)
        except OSError as error:
            path = error.filename or str(self._data)
            complain(sentence("file_unwritable", {"path": path, "reason": error.strerror or str(error)}))


def _counter(reply: Sequence[Round]) -> str:
    """The figures of a reply, and why most of its rounds guessed as they did, in a line."""
    line, reason = figures.brief(count(reply)), commonest_reason(reply)
    return " · ".join([line, _("mostly {reason}").format(reason=reason)]) if reason else line


def _help() -> list[str]:
    """A line for each command."""
    return [f"{usage}: {_(what)}" for usage, what in COMMANDS]
