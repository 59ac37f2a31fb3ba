"""What is kept of the chats: plain values, and how keeping them fails."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec

from specchat.models.decoding.rounds import Round
from specchat.models.errors import CodedError

Role = Literal["user", "assistant"]
State = Literal["whole", "stopped", "cut", "writing"]


class Setup(msgspec.Struct, frozen=True):
    """What wrote something: the models' files by name and size in bytes, and the machine. Empty where unknown.

    The draft is the one that was loaded, whether it guessed or not. Names are raw.
    """

    target: str
    target_size: int = 0
    draft: str = ""
    draft_size: int = 0
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation. Times are in UTC; `changed` is when its latest message began."""

    id: int
    title: str
    """Safe to show as plain text, at most 60 cells wide; may be empty."""
    created: datetime
    changed: datetime


@dataclass(frozen=True, slots=True)
class Step:
    """One round of a reply, and the bytes of its guesses and then of the target's own token, if there is one."""

    round: Round
    pieces: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said.

    A reply is `whole`; or `stopped` by the person; or `cut` where the engine failed in it; or still `writing`, which
    in a reopened chat means that specchat itself was ended in it. A person's message is `whole`, or `cut` where the
    engine refused it or failed before it answered: later prompts go without it.
    """

    id: int
    """0 for a reply that could not be saved."""
    chat_id: int
    role: Role
    content: str
    """Raw: it must be cleaned before it is shown."""
    state: State = "whole"
    steps: tuple[Step, ...] = ()
    """Of a reply: all its rounds, from which its figures and its X-ray come."""
    stop_reason: str = ""
    """Of a reply: the engine's `StopReason`, or the failure's code. Of a person's message: the failure's code."""
    model: str = ""
    """Of a reply: the name of the target's file. Raw, and empty in replies from before it was kept."""
    setup: Setup | None = None
    """Of a reply: what wrote it; None in replies from before it was kept."""


class StoreError(CodedError):
    """The store can't read or write; `specchat.app.words.sentence` has the words.

    Codes: `store_damaged` {path}, `store_newer` {path}, `store_unwritable` {path, reason}, `chat_missing` {}.
    """
