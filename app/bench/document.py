"""A benchmark's result as it is kept and passed on: JSON of a documented, versioned form.

`bench.schema.json` beside this file is the same form as a JSON Schema; `VERSION` goes up whenever a reader of the
version before would misunderstand a document. Words have the README's meanings. Sizes are bytes, times are seconds.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from specchat.app.bench.intervals import Verdict
from specchat.models.decoding.cost import CostTable
from specchat.models.decoding.rounds import StopReason
from specchat.models.engine.messages import DrafterName
from specchat.settings.values import Gamma, ModelOptions, RuleName, Sampling

VERSION: Final = 1


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Base of everything in a document."""


class Machine(Part, frozen=True, kw_only=True):
    """What it ran on. Cores are physical ones, None where the system doesn't tell."""

    platform: str
    cpu: str
    cores: int | None
    threads: int | None
    memory: int
    backend: str
    devices: tuple[str, ...]
    """Every device that llama.cpp sees, used or not: its name and description."""
    features: str
    """llama.cpp's line of CPU and build features."""


class File(Part, frozen=True, kw_only=True):
    """A model. Of one that is split over files, size and hash are of the file that was named, its first."""

    path: str
    name: str
    description: str
    size: int
    sha256: str | None
    """None where the benchmark ended before it was computed."""
    parameters: int
    layers: int
    gpu_layers: int
    devices: tuple[str, ...]
    """Where it ran."""
    ctx: int
    memory: int
    """What it took beside what llama.cpp itself takes: weights, cache and buffers; 0 where that isn't known."""
    costs: CostTable | None
    """V, the seconds of a pass by its tokens, and how that grows with the depth of the context."""


class Prompts(Part, frozen=True, kw_only=True):
    """What was asked. `tokens` are those of the rendered prompt, by kind."""

    source: str
    """`builtin`, a file, or `chat` for what was typed."""
    sha256: str
    tokens: dict[str, int]


class Conditions(Part, frozen=True, kw_only=True):
    """The settings that were the same for all replies. `sampling.seed` is the first repeat's."""

    sampling: Sampling
    rule: RuleName
    system: str
    max_tokens: int
    repeats: int
    target: ModelOptions
    draft: ModelOptions


class Figures(Part, frozen=True, kw_only=True):
    """One side's figures, of all its replies to one prompt or to all.

    `tokens_per_second` is the geometric mean over prompts of the geometric means over repeats; the seconds of the
    first token and of the prefill are medians over replies. All else is counted over the rounds of all replies taken
    together, with None where there is nothing to divide by.
    """

    replies: int
    tokens: int
    tokens_per_second: float | None
    tokens_per_second_without: float | None
    """What the rounds themselves say of plain decoding: the estimate that the chat shows."""
    target_passes: int
    tokens_per_pass: float | None
    draft_runs: int
    drafted: int
    accepted: int
    rejected: int
    unused: int
    acceptance_rate: float | None
    acceptance_by_position: tuple[float, ...]
    alpha: float | None
    c: float | None
    seconds: float
    seconds_draft: float
    seconds_verify: float
    seconds_sampling: float
    seconds_other: float
    seconds_prefill: float | None
    seconds_first_token: float | None


class Comparison(Part, frozen=True, kw_only=True):
    """A side against the plain replies it alternated with. Pairs in which one reply was empty are not counted."""

    with_draft: Figures
    without_draft: Figures
    speed_up: float | None
    low: float | None
    high: float | None
    """Ends of the 95 % interval; None where nothing was repeated."""
    pairs: int
    verdict: Verdict


class SideResult(Part, frozen=True, kw_only=True):
    """What a draft brings at one number of guesses a round."""

    draft: str
    """A path, or `lookup`."""
    drafter: DrafterName
    gamma: Gamma
    kinds: dict[str, Comparison]
    overall: Comparison


class RunResult(Part, frozen=True, kw_only=True):
    """One reply, in the order in which they were written. Plain ones have an empty `draft` and γ 0."""

    loaded: str
    """The draft's file that was loaded meanwhile, or empty."""
    draft: str
    gamma: Gamma
    kind: str
    repeat: int
    seed: int
    tokens: int
    target_passes: int
    seconds: float
    tokens_per_second: float | None
    seconds_prefill: float
    seconds_first_token: float | None
    stop_reason: StopReason


class Document(Part, frozen=True, kw_only=True):
    """A whole benchmark."""

    schema: Literal["specchat.bench"] = "specchat.bench"
    version: Literal[1] = VERSION
    started: str
    """When, in UTC and ISO 8601."""
    seconds: float
    """How long it took, loading and all."""
    partial: bool
    """It was interrupted, or failed, before all replies were written."""
    stalls: int
    """Replies that were written anew, since one of their rounds had taken longer than all others together (and 2 s)."""
    versions: dict[str, str]
    machine: Machine
    target: File
    drafts: tuple[File, ...]
    conditions: Conditions
    prompts: Prompts
    sides: tuple[SideResult, ...]
    runs: tuple[RunResult, ...]


def to_json(document: msgspec.Struct) -> str:
    """A document as indented JSON. What can't be told apart from it in the same version decodes to the same."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode()


def from_json(text: str | bytes) -> Document:
    """The document in `text`. Raises `msgspec.DecodeError` where it isn't one of this version."""
    return msgspec.json.decode(text, type=Document)


def schema() -> str:
    """The form of a document as a JSON Schema (2020-12)."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Document)), indent=2).decode() + "\n"
