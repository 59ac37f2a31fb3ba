"""A comparison as it is kept and passed on: JSON of a documented, versioned form around that of `specchat bench`.

`compare.schema.json` beside this file is the same form as a JSON Schema; `VERSION` goes up whenever a reader of the
version before would misunderstand a document.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from specchat.app.bench.document import Document, Part
from specchat.app.compare.difference import Difference
from specchat.app.compare.reason import Reason
from specchat.models.engine.messages import ChatMessage
from specchat.settings.values import Gamma

VERSION: Final = 1


class Asked(Part, frozen=True, kw_only=True):
    """A prompt, and what was said before it in the chat it came from. The system text is in the conditions."""

    kind: str
    text: str
    before: tuple[ChatMessage, ...]


class Told(Part, frozen=True, kw_only=True):
    """What a side came to, beside its figures."""

    draft: str
    gamma: Gamma
    reason: Reason | None
    """None where nothing was guessed."""
    difference: Difference | None
    """From the plain reply to the first prompt, in the first repeat, at temperature 0."""
    same_text: bool | None
    """Whether those two are alike, token for token; None where they weren't compared."""


class Text(Part, frozen=True, kw_only=True):
    """What a run wrote, in the order of `measured.runs`. Raw."""

    text: str


class Compared(Part, frozen=True, kw_only=True):
    """A whole comparison."""

    schema: Literal["specchat.comparison"] = "specchat.comparison"
    version: Literal[1] = VERSION
    measured: Document
    """As `specchat bench` writes it: machine, models, conditions, figures, intervals, every reply's figures."""
    prompts: tuple[Asked, ...]
    sides: tuple[Told, ...]
    """In the order of `measured.sides`."""
    texts: tuple[Text, ...]


def from_json(text: str | bytes) -> Compared:
    """The comparison in `text`. Raises `msgspec.DecodeError` where it isn't one of this version."""
    return msgspec.json.decode(text, type=Compared)


def schema() -> str:
    """The form of a comparison as a JSON Schema (2020-12)."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Compared)), indent=2).decode() + "\n"
