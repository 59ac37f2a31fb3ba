"""From the text of a prompt to token ids, so that nothing a person typed becomes a control token.

`Guard.hide` replaces the texts of control tokens in a message, before the template sees it, by marks that no
message can contain. After rendering, `Guard.split` finds them again: the template's own text is tokenised with
control tokens, and only what a mark stands for without.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

_PRIVATE = range(0xE000, 0xF900)
"""Code points of private use: not letters, not spaces, the same in upper and lower case."""
_NONCE = "".join(chr(secrets.choice(_PRIVATE)) for _ in range(6))
"""Begins each mark: 75 random bits of this process, so a text can't forge one."""
_MARK = re.compile(f"({_NONCE}[{chr(_PRIVATE[0])}-{chr(_PRIVATE[-1])}]{{2}})")

_FINAL_CHANNEL = "<|channel|>final<|message|>"

_ANCHORS = ("\n", "|")
"""Texts that hardly any vocabulary joins to what follows them."""


class Tokenizer(Protocol):
    """What this module asks of a model's tokenizer."""

    @property
    def bos(self) -> int | None:
        """The token that begins a text."""

    @property
    def add_bos(self) -> bool:
        """Whether the model expects `bos` in front of every prompt."""

    @property
    def adds_space_prefix(self) -> bool:
        """Whether `encode` puts a space before a text, as SentencePiece vocabularies do."""

    def encode(self, text: str, special: bool) -> list[int]:
        """The tokens of `text`, without an added BOS; with `special`, texts of control tokens become these."""

    def piece(self, token: int) -> bytes:
        """What the token writes; nothing for a control token."""


class Guard:
    """Hides the texts of a vocabulary's control tokens from the template and the tokenizer."""

    def __init__(self, control_texts: Sequence[str]) -> None:
        texts = sorted({text for text in control_texts if text}, key=lambda text: (-len(text), text))
        self._marks = {text: _mark(index) for index, text in enumerate(texts)}
        self._texts = {mark: text for text, mark in self._marks.items()}
        self._pattern = re.compile("|".join(map(re.escape, texts)) or r"(?!)")

    def hide(self, text: str) -> str:
        """`text` with a mark in place of each control token's text; the same for the same text in one process."""
        return self._pattern.sub(lambda found: self._marks[found[0]], text)

    def split(self, text: str) -> list[tuple[str, bool]]:
        """The parts of a rendered text, and whether each is one that `hide` replaced."""
        parts = ((self._texts.get(part, part), part in self._texts) for part in _MARK.split(text))
        return [part for part in parts if part[0]]


def _mark(index: int) -> str:
    high, low = divmod(index, len(_PRIVATE))
    return f"{_NONCE}{chr(_PRIVATE[high])}{chr(_PRIVATE[low])}"


def hide_messages(guard: Guard, messages: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The (role, content) pairs of a conversation as a template may see them.

    GPT-OSS writes its channels with tokens that show as text. Its template wants the final channel of a past
    reply alone, so the rest is left out.
    """
    return [
        (role, guard.hide(content.rpartition(_FINAL_CHANNEL)[2] if role == "assistant" else content))
        for role, content in messages
    ]


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt that was answered: its rendered text and ids, the reply as it was shown, and the ids that wrote it."""

    text: str
    ids: Sequence[int]
    reply: str
    reply_ids: Sequence[int]


def encode_prompt(tokenizer: Tokenizer, guard: Guard, text: str) -> list[int]:
    """The ids of a rendered text, with BOS once if the model wants it."""
    ids: list[int] = []
    _append(tokenizer, ids, guard.split(text))
    return _with_bos(tokenizer, ids)


def encode_raw(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of a prompt that is the person's own from end to end: control tokens are theirs to write."""
    return _with_bos(tokenizer, tokenizer.encode(text, special=True))


def continue_prompt(tokenizer: Tokenizer, guard: Guard, text: str, last: Turn | None) -> list[int]:
    """The ids of a rendered text that may go on from the turn before.

    Where it does, the ids of that turn are kept: tokenising a reply again can give others than those the model
    wrote, and the model's memory of it would be lost. Where the template shows the reply differently (without its
    thinking, say), where it was edited, or cut by a stop string, everything is tokenised anew.
    """
    if last is None or b"".join(map(tokenizer.piece, last.reply_ids)) != last.reply.encode():
        return encode_prompt(tokenizer, guard, text)
    answered = last.text + guard.hide(last.reply)
    if not text.startswith(answered):
        return encode_prompt(tokenizer, guard, text)
    ids = [*last.ids, *last.reply_ids]
    _append(tokenizer, ids, guard.split(text[len(answered) :]))
    return ids


def _with_bos(tokenizer: Tokenizer, ids: list[int]) -> list[int]:
    if tokenizer.bos is None or not tokenizer.add_bos or ids[:1] == [tokenizer.bos]:
        return ids
    return [tokenizer.bos, *ids]


def _append(tokenizer: Tokenizer, ids: list[int], parts: Sequence[tuple[str, bool]]) -> None:
    for text, hidden in parts:
        ids += _encode_after(tokenizer, ids, text, special=not hidden)


def _encode_after(tokenizer: Tokenizer, ids: Sequence[int], text: str, *, special: bool) -> list[int]:
    """The ids of `text` where it goes on from `ids`: a space that `encode` puts before a text isn't wanted there.

    (llama.cpp puts one after every control token, too, so there it is what the model knows.) The space is left to
    an anchor before the text, whose ids are then cut off. If no anchor keeps its ids, the space stays.
    """
    if tokenizer.adds_space_prefix and ids and tokenizer.piece(ids[-1]):
        for anchor in _ANCHORS:
            alone, joint = tokenizer.encode(anchor, special), tokenizer.encode(anchor + text, special)
            if joint[: len(alone)] == alone:
                return joint[len(alone) :]
    return tokenizer.encode(text, special)
