"""Reads what a person types and pastes, such that none of it ends the app and no pasted text presses keys."""

from __future__ import annotations

import os
import re
import signal
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from select import select

from textual._parser import Parser
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from specchat.app.display import Cleaner

HUNG_UP = 128 + signal.SIGHUP
"""What a shell reports for a program whose terminal went away."""

_POLL_SECONDS = 0.1
"""Longest time until it is noticed that the app ends, or that an Esc begins no sequence."""
_READ_BYTES = 4096

_UNDECIDED = re.compile(r"(?:\r|\x1b(?:\[(?:2(?:01?)?)?)?)\Z")
"""An end that the next fragment may make a line's end or the bracket that closes a paste."""


class Pastes:
    """Leaves only text between the brackets of a paste; what is typed passes as it is.

    Textual's parser takes every escape sequence that it doesn't know for keys, also in a paste, where it must not:
    Enter would send there, and ctrl+q quit. The input comes in fragments that may end anywhere.
    """

    def __init__(self) -> None:
        self._before = ""
        """The end of what was typed last, which may be the beginning of an opening bracket."""
        self._cleaner: Cleaner | None = None
        """Cleans the paste that has begun; None outside of one."""
        self._undecided = ""

    def feed(self, fragment: str) -> str:
        """What may be understood as keys, brackets and text."""
        passed = []
        while fragment:
            cleaner = self._cleaner
            text, fragment = self._paste(fragment, cleaner) if cleaner else self._type(fragment)
            passed.append(text)
        return "".join(passed)

    def _type(self, fragment: str) -> tuple[str, str]:
        """What passes, up to an opening bracket; and what follows on it. Nothing is held back: Esc is one key."""
        seen = self._before + fragment
        place = seen.find(BRACKETED_PASTE_START)
        if place < 0:
            self._before = seen[1 - len(BRACKETED_PASTE_START) :]
            return fragment, ""
        end = place + len(BRACKETED_PASTE_START) - len(self._before)
        self._before = ""
        self._cleaner = Cleaner()
        return fragment[:end], fragment[end:]

    def _paste(self, fragment: str, cleaner: Cleaner) -> tuple[str, str]:
        """What passes, up to the closing bracket; and what follows on it."""
        text, bracket, rest = (self._undecided + fragment).partition(BRACKETED_PASTE_END)
        decided = text if bracket else _UNDECIDED.sub("", text)
        self._undecided = text[len(decided) :]
        if bracket:
            self._cleaner = None
        return cleaner.feed(decided.replace("\r\n", "\n").replace("\r", "\n")) + bracket, rest


class KeyParser(XTermParser):
    """Textual's parser, which survives what it can't read, and gets no control characters in pastes."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pastes = Pastes()

    def feed(self, data: str) -> Iterable[Message]:
        """The events that `data`, the next fragment of the input, brings. It isn't the end if it is empty."""
        for char in self._pastes.feed(data):
            yield from self._surviving(super().feed(char))

    def tick(self) -> Iterable[Message]:
        """The events that the time which has passed brings."""
        return self._surviving(super().tick())

    def _surviving(self, messages: Iterable[Message]) -> Iterator[Message]:
        try:
            yield from messages
        except Exception:  # of numbers that are none, or too large, in a sequence
            Parser.__init__(self)  # begin anew, with all that is known of the terminal


class TerminalDriver(LinuxDriver):
    """Textual's driver for Linux and macOS, but for how it reads."""

    def run_input_thread(self) -> None:
        """Read and send events until the app stops it, or until the terminal is gone, which ends the app."""
        parser = KeyParser(self._debug)
        decoder = getincrementaldecoder("utf-8")("replace")
        while not self.exit_event.is_set():
            readable, _, _ = select([self.fileno], [], [], _POLL_SECONDS)
            if readable:
                data = self._read()
                if not data:
                    self._app.call_later(self._app.exit, None, HUNG_UP)
                    return
                self._send(parser.feed(decoder.decode(data)))
            self._send(parser.tick())

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except Exception as error:  # Textual would print all of it on the terminal
            self._app.call_later(self._app._handle_exception, error)

    def _read(self) -> bytes:
        """What has come; nothing where nothing will come any more."""
        try:
            return os.read(self.fileno, _READ_BYTES)
        except OSError:  # how Linux tells that the terminal is closed
            return b""

    def _send(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)
