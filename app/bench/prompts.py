"""What the benchmark asks: the built-in prompts, or those of a file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from specchat.app.sentences import N_
from specchat.app.words import _, visible
from specchat.models.engine.messages import ChatMessage
from specchat.models.errors import CodedError

BUILTIN = "builtin"
"""What the built-in prompts are called in place of a file."""
CHAT = "chat"
"""What a prompt that a person typed is called in place of a file."""

_KINDS = {
    "code": N_("code"),
    "edit": N_("edit of code"),
    "summary": N_("summary"),
    "story": N_("story"),
    "translation": N_("translation"),
    "list": N_("list"),
    "problem": N_("word problem"),
    "chat": N_("chat"),
    "pasted": N_("pasted text"),
}


class PromptsError(CodedError):
    """A file of prompts can't be used."""

    def __init__(self, code: str, **params: str | int | float) -> None:
        super().__init__(code, params)


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing that is asked, and what kind of thing it is; the kind is its name, too."""

    kind: str
    text: str
    before: tuple[ChatMessage, ...] = ()
    """What was said before it, where it is asked in a chat."""


def kind_name(kind: str) -> str:
    """How a person is told of a kind: the built-in ones in their language."""
    return _(_KINDS[kind]) if kind in _KINDS else visible(kind)


def builtin_prompts() -> tuple[Prompt, ...]:
    """The prompts that come with specchat."""
    return _from_toml((files(__package__) / "prompts.toml").read_text(encoding="utf-8"), BUILTIN)


def read_prompts(path: Path) -> tuple[Prompt, ...]:
    """The prompts of a file: TOML like the built-in ones if its name ends in `.toml`, else one in each line.

    Empty lines are passed over, and a line's number is its prompt's kind. Raises `PromptsError`:
    `prompts_unreadable` (path, reason), `prompts_not_utf8` (path), `prompts_not_toml` (path, reason), `prompts_stray`
    (path, key), `prompts_form` (path, number), `prompts_kind_twice` (path, kind), `prompts_none` (path).
    """
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise PromptsError("prompts_unreadable", path=str(path), reason=error.strerror or str(error)) from error
    except UnicodeDecodeError:
        raise PromptsError("prompts_not_utf8", path=str(path)) from None
    if path.suffix.lower() == ".toml":
        prompts = _from_toml(content, str(path))
    else:
        lines = enumerate(content.splitlines(), 1)
        prompts = tuple(Prompt(str(number), line.strip()) for number, line in lines if line.strip())
    if not prompts:
        raise PromptsError("prompts_none", path=str(path))
    return prompts


def fingerprint(prompts: Sequence[Prompt]) -> str:
    """The SHA-256 of all kinds and texts, and of what was said before them, in hexadecimal."""
    said = [
        [prompt.kind, prompt.text, *([message.role, message.content] for message in prompt.before)]
        for prompt in prompts
    ]
    spelled = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(spelled.encode()).hexdigest()


def _from_toml(content: str, path: str) -> tuple[Prompt, ...]:
    try:
        document = tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # ValueError: also a number of more digits than Python reads
        raise PromptsError("prompts_not_toml", path=path, reason=str(error)) from error
    tables = document.pop("prompt", [])
    if document or not isinstance(tables, list):
        raise PromptsError("prompts_stray", path=path, key=next(iter(document), "prompt"))
    prompts = tuple(_from_table(table, path, number) for number, table in enumerate(tables, 1))
    kinds = [prompt.kind for prompt in prompts]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise PromptsError("prompts_kind_twice", path=path, kind=kind)
    return prompts


def _from_table(table: Any, path: str, number: int) -> Prompt:
    fields = table if isinstance(table, dict) and table.keys() == {"kind", "text"} else {"kind": "", "text": ""}
    kind, text = (value.strip() if isinstance(value, str) else "" for value in (fields["kind"], fields["text"]))
    if not kind or not text:
        raise PromptsError("prompts_form", path=path, number=number)
    return Prompt(kind, text)
