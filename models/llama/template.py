"""From a conversation to the text of a prompt, through the chat template of the model's GGUF.

Not every template takes every conversation: some refuse a system message or two user messages in a row, some leave
one out without a word. `render` bends the conversation as little as it must, and says how it did.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from jinja2 import Template
from jinja2.exceptions import TemplateSyntaxError

from specchat.models.errors import CodedError
from specchat.models.llama.limits import Meter, TooLarge
from specchat.models.llama.sandbox import Sandbox

SECONDS = 2.0
"""Longest that a template may run for one conversation."""
MAX_SOURCE = 256_000
"""Longest template, in characters; the longest that llama.cpp ships has 17,000."""
_BASE_SIZE = 1_000_000
_SIZE_PER_CHARACTER = 4
_REASON = 200
"""Most characters of a reason that goes to the user."""
_THOUGHT_END = re.compile(r"</think(?:ing)?>|\[/THINK\]|</(?:seed|mm):think>|<\|END_THINKING\|>")

MERGED = "merged"
SYSTEM_FOLDED = "system_folded"
CHATML = "chatml"

Conversation = Sequence[tuple[str, str]]
"""(role, content) of each message; the roles are `system`, `user` and `assistant`."""


class TemplateError(CodedError):
    """The chat template can't be used. `code` says why:

    `no_template`: the model has none. `template_syntax` (line, reason): it isn't valid. `template_failed` (reason):
    it fails on any conversation. `template_slow` (seconds): it ran into the time limit. `template_large`: it makes
    more text than its input can justify.
    """

    def __init__(self, code: str, **params: str | int | float) -> None:
        super().__init__(code, params)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt's text, and how the conversation was bent for it.

    `bent` holds `merged` (neighbours of one role became one message), `system_folded` (the system message went
    into the first user message), or `chatml` (the template took nothing; ChatML was used in its place).
    """

    text: str
    bent: tuple[str, ...]


def render(
    template: str | None,
    messages: Conversation,
    *,
    bos: str,
    eos: str,
    now: datetime | None = None,
    seconds: float = SECONDS,
) -> Rendered:
    """The prompt that asks for the reply to `messages`.

    `bos` and `eos` are the texts of those tokens, empty without. `now` is the date that some templates write.
    Raises `TemplateError`, also when one run of the template takes more than `seconds`.
    """
    if template is None or not template.strip():
        raise TemplateError("no_template")
    if len(template) > MAX_SOURCE:
        raise TemplateError("template_large", limit=MAX_SOURCE)

    def run(conversation: Conversation) -> str:
        names = {"bos_token": bos, "eos_token": eos, "messages": _as_dicts(conversation), "add_generation_prompt": True}
        return _run(template, names, limit=_limit(conversation), now=now or datetime.now(), seconds=seconds)

    return _least_bent(run, messages) or Rendered(_chatml(messages), (CHATML,))


def _least_bent(run: Callable[[Conversation], str], messages: Conversation) -> Rendered | None:
    """What the template makes of the first form of the conversation that it shows whole; None if it shows none."""
    failed = False
    for bent, conversation in _rungs(messages):
        try:
            text = run(conversation)
        except TemplateError as error:
            if error.code != "template_failed":
                raise
            failed = True
            continue
        if _shows(text, conversation):
            return Rendered(text, bent)
    if failed:
        run([("user", "?")])  # a template that fails on this, too, is broken
    return None


def _rungs(messages: Conversation) -> Iterator[tuple[tuple[str, ...], Conversation]]:
    """The conversation as it is, and then ever more bent; each form once."""
    native, folded = list(messages), _fold_system(messages)
    rungs = {
        (): native,
        (MERGED,): _merge(native),
        (SYSTEM_FOLDED,): folded,
        (MERGED, SYSTEM_FOLDED): _merge(folded),
    }
    tried: list[Conversation] = []
    for bent, conversation in rungs.items():
        if conversation not in tried:
            tried.append(conversation)
            yield bent, conversation


def _merge(messages: Conversation) -> Conversation:
    """One message in place of neighbours of the same role."""
    merged: list[tuple[str, str]] = []
    for role, content in messages:
        if merged and merged[-1][0] == role:
            content = f"{merged.pop()[1]}\n\n{content}"
        merged.append((role, content))
    return merged


def _fold_system(messages: Conversation) -> Conversation:
    """The system messages as the beginning of the first user message."""
    system = [content for role, content in messages if role == "system"]
    others = [message for message in messages if message[0] != "system"]
    first = next((place for place, (role, _) in enumerate(others) if role == "user"), None)
    if not system:
        return others
    if first is None:
        return [("user", "\n\n".join(system)), *others]
    others[first] = ("user", "\n\n".join([*system, others[first][1]]))
    return others


def _chatml(messages: Conversation) -> str:
    turns = (f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in messages)
    return "".join(turns) + "<|im_start|>assistant\n"


def _shows(text: str, conversation: Conversation) -> bool:
    """Whether every message is in `text`, as often as it was said. A past reply may have lost its thinking."""
    contents: Counter[str] = Counter()
    for role, content in conversation:
        shown = content.strip()
        if role == "assistant" and shown not in text:
            shown = _THOUGHT_END.split(shown)[-1].strip()
        contents[shown] += 1
    return all(text.count(content) >= times for content, times in contents.items() if content)


def _as_dicts(conversation: Conversation) -> list[dict[str, str]]:
    return [{"role": role, "content": content} for role, content in conversation]


def _limit(conversation: Conversation) -> int:
    return _BASE_SIZE + _SIZE_PER_CHARACTER * sum(len(content) for _, content in conversation)


def _run(source: str, names: dict[str, Any], *, limit: int, now: datetime, seconds: float) -> str:
    """What the template writes where these names are defined. Raises `TemplateError`."""
    try:
        return _before_deadline(seconds, lambda: _write(source, names, Meter(limit), now))
    except _TooSlow:
        raise TemplateError("template_slow", seconds=seconds) from None
    except (TooLarge, MemoryError):
        raise TemplateError("template_large", limit=limit) from None
    except TemplateSyntaxError as error:
        raise TemplateError("template_syntax", line=error.lineno, reason=_reason(error)) from error
    except Exception as error:  # whatever an untrusted program can raise
        raise TemplateError("template_failed", reason=_reason(error)) from error


def _reason(error: Exception) -> str:
    text = error.message if isinstance(error, TemplateSyntaxError) else str(error)
    return (text or type(error).__name__)[:_REASON]


def _write(source: str, names: dict[str, Any], meter: Meter, now: datetime) -> str:
    environment = Sandbox(meter, now)
    template = Template.from_code(environment, _compiled(source), environment.make_globals(None))
    return meter.join("", template.generate(names))


@lru_cache(maxsize=4)
def _compiled(source: str) -> CodeType:
    return Sandbox(Meter(_BASE_SIZE), datetime.min).compile(source)


class _TooSlow(BaseException):
    """The deadline passed. Not an `Exception`, so that nothing inside jinja2 swallows it."""


def _before_deadline(seconds: float, work: Callable[[], str]) -> str:
    """`work()`, or `_TooSlow` before the next line of Python once `seconds` have passed.

    Tracing works in any thread and on every system, where signals don't. It slows a template down about fourfold:
    a few milliseconds for hundreds of messages.
    """
    end = time.monotonic() + seconds

    def trace(_frame: FrameType, _event: str, _argument: object) -> Any:
        if time.monotonic() > end:
            raise _TooSlow
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work()
    finally:
        sys.settrace(before)
