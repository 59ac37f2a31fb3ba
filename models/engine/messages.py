"""The protocol between the app and the process the models live in: one typed JSON object a line.

`PROTOCOL` changes whenever a message changes its meaning. Failures and notices travel as a code with parameters;
the app has the words (`specchat.app.words`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from specchat.models.decoding.cost import CostTable
from specchat.models.decoding.rounds import Round, StopReason
from specchat.models.errors import Params
from specchat.settings.values import Gamma, ModelOptions, RuleName, Sampling, Speculation

PROTOCOL = 3

DrafterName = Literal["both", "model", "lookup", "none"]
"""`both` is lookup where the text repeats itself, else the model."""
Stage = Literal["target", "draft", "prefill"]


class Message(msgspec.Struct, frozen=True, tag_field="type", tag=str.lower, omit_defaults=True):
    """Base of every message."""


# ------------------------------------------------------------------ from the app to the engine


class ModelFile(msgspec.Struct, frozen=True):
    """A GGUF file and how to load it."""

    path: str
    options: ModelOptions


class ChatMessage(msgspec.Struct, frozen=True):
    """One message of a conversation, as the chat template sees it."""

    role: Literal["system", "user", "assistant"]
    content: str


class Load(Message, frozen=True):
    """Have exactly these models loaded. One that is loaded already, unchanged, is kept. Answer: `Loaded`.

    The costs are what an earlier `Measured` told of the same models on the same machine, loaded the same way.
    """

    id: int
    target: ModelFile
    draft: ModelFile | None = None
    target_costs: CostTable | None = None
    draft_costs: CostTable | None = None


class Generate(Message, frozen=True):
    """Write one reply. `prompt` is a conversation, or raw text that no template touches. Answer: `Done`."""

    id: int
    prompt: tuple[ChatMessage, ...] | str
    sampling: Sampling
    speculation: Speculation
    drafter: DrafterName
    max_tokens: int
    stop: tuple[str, ...] = ()
    fresh: bool = False
    """Forget what both models have read, so that nothing of an earlier prompt is reused."""


class Change(Message, frozen=True):
    """Speculate differently from the next round on, also inside a reply. None leaves a thing as it is."""

    enabled: bool | None = None
    gamma: Gamma | None = None
    rule: RuleName | None = None
    drafter: DrafterName | None = None


class Look(Message, frozen=True):
    """Tell what was known where token `position` of the last reply, counted from 0, was written. Answer: `Position`.

    Fails with `position_unknown` where there is none, or none any more: only the latest few thousand are kept.
    """

    id: int
    position: int


class Stop(Message, frozen=True):
    """Stop the load or the reply `id`; it still gets its answer."""

    id: int


class Unload(Message, frozen=True):
    """Free both models."""


class Quit(Message, frozen=True):
    """End the process."""


Request = Load | Generate | Look | Change | Stop | Unload | Quit

# ------------------------------------------------------------------ from the engine to the app


class Device(msgspec.Struct, frozen=True):
    """Something llama.cpp can compute on. Memory in bytes."""

    name: str
    description: str
    kind: Literal["cpu", "gpu", "igpu", "accel"]
    memory_free: int
    memory_total: int


class ModelInfo(msgspec.Struct, frozen=True):
    """A loaded model. Sizes in bytes, contexts in tokens."""

    path: str
    name: str
    description: str
    """Architecture, size and quantisation in llama.cpp's words, such as `llama 1B Q4_0`."""
    size: int
    parameters: int
    layers: int
    gpu_layers: int
    devices: tuple[str, ...]
    ctx: int
    ctx_trained: int
    has_template: bool
    can_roll_back: bool
    memory: int = 0
    """Bytes that loading it took: weights, cache and buffers, by llama.cpp's own account; 0 where it gave none."""


class Ready(Message, frozen=True):
    """The first message: what this engine is."""

    protocol: int
    versions: dict[str, str]
    backend: str
    """`CPU`, or the GPU backend's name: `CUDA`, `Metal`, `Vulkan`, `ROCm` …"""
    devices: tuple[Device, ...]
    system: str
    """llama.cpp's line of CPU and build features."""


class Progress(Message, frozen=True):
    """How far a load (in thousandths) or a prefill (in tokens) is."""

    id: int
    stage: Stage
    done: int
    total: int


class Loaded(Message, frozen=True):
    """What is loaded now. Without a draft although one was asked for, a `Notice` said why."""

    id: int
    target: ModelInfo
    draft: ModelInfo | None = None


class Notice(Message, frozen=True):
    """Something a person must hear of that doesn't stop the work."""

    code: str
    params: Params = {}


class Prefilled(Message, frozen=True):
    """The prompt is read; writing starts. `reused` of its `tokens` were still in the target's memory."""

    id: int
    tokens: int
    reused: int
    seconds: float
    seed: int
    pass_seconds: float | None = None
    """What a pass over one token takes here; None while unknown."""


class Written(Message, frozen=True):
    """One round. `pieces` are the bytes of its guesses and then of the target's own token, if there is one.

    `text` is what the reply grew by; a character split over tokens comes whole with its last byte.
    """

    id: int
    round: Round
    pieces: tuple[bytes, ...]
    text: str


class Done(Message, frozen=True):
    """The reply `id` ended. `text` is what was still held back."""

    id: int
    stop_reason: StopReason
    text: str = ""


class Word(msgspec.Struct, frozen=True):
    """A token at a position: the target's and the draft's probability of it, both after the sampling chain.

    `logit` is the target's own, before the chain; None for one that it excludes (−∞). The difference of two of them is
    the logarithm of how many times likelier one was. `q` is None where nothing was guessed.
    """

    token: int
    piece: bytes
    p: float
    q: float | None = None
    logit: float | None = None


class Position(Message, frozen=True):
    """What was known where a token of the last reply was written; `words` are the likeliest of both, by p.

    `rest_p` and `rest_q` are what all other words have together; `overlap` is Σₓ min(p, q) over the whole vocabulary.
    `guess`, `rest_q` and `overlap` are None where nothing was guessed. The token is the guess where it was `accepted`.
    """

    id: int
    token: int
    words: tuple[Word, ...]
    rest_p: float
    rest_q: float | None = None
    guess: int | None = None
    accepted: bool = False
    drafter: str = ""
    overlap: float | None = None


class Measured(Message, frozen=True):
    """What passes of the loaded models cost, after a first look at them and after each reply: to be kept for `Load`."""

    target: CostTable
    draft: CostTable | None = None


class Failed(Message, frozen=True):
    """The request `id` came to nothing."""

    id: int
    code: str
    params: Params = {}


Event = Ready | Progress | Loaded | Notice | Prefilled | Written | Done | Position | Measured | Failed

_encoder = msgspec.json.Encoder()
_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_events: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def encode(message: Message) -> bytes:
    """One line, newline included."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Request:
    """The request in `line`. Raises `msgspec.DecodeError` (also for a message of another shape)."""
    return _requests.decode(line)


def decode_event(line: bytes) -> Event:
    """The event in `line`. Raises `msgspec.DecodeError` (also for a message of another shape)."""
    return _events.decode(line)
