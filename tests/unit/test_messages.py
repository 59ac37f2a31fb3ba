from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from specchat.models.decoding.cost import CostTable, DepthFactor, WidthCost
from specchat.models.decoding.rounds import Round
from specchat.models.engine.messages import (
    Change,
    ChatMessage,
    Device,
    Done,
    Event,
    Failed,
    Generate,
    Load,
    Loaded,
    Look,
    Measured,
    Message,
    ModelFile,
    ModelInfo,
    Notice,
    Position,
    Prefilled,
    Progress,
    Quit,
    Ready,
    Request,
    Stop,
    Unload,
    Word,
    Written,
    decode_event,
    decode_request,
    encode,
)
from specchat.settings.values import ModelOptions, Sampling, Speculation

FILE = ModelFile("/models/größe 漢.gguf", ModelOptions(gpu_layers=3, cache_type_k="q8_0"))
INFO = ModelInfo("/m.gguf", "M", "llama 1B Q4_0", 2**40, 10**9, 32, 32, ("CUDA0", "CPU"), 4096, 8192, True, False)
ROUND = Round(
    guesses=(5, 6, 7),
    accepted=2,
    token=None,
    speculating=True,
    drafter="model",
    width=4,
    stopped=True,
    draft_runs=3,
    caught_up=1,
    run_seconds=0.012,
    alpha_sum=1.5,
    alpha_weight=2.0,
    seconds_draft=0.03,
    seconds_verify=0.1,
    seconds_sampling=0.001,
    seconds=0.14,
    plain_seconds=None,
    pass_seconds=0.08,
    reason="costly",
    padding=2,
)
COSTS = CostTable((WidthCost(1, 0.077, 9), WidthCost(4, 0.12, 3)), (DepthFactor(1024, 1.08, 4),))

REQUESTS: list[Request] = [
    Load(1, FILE),
    Load(2, FILE, FILE, COSTS, COSTS),
    Generate(3, "two\nlines, a \u2028 and a \0", Sampling(seed=2**63 - 1), Speculation(gamma=0), "none", 7, ("\n\n",)),
    Generate(
        4,
        (ChatMessage("system", ""), ChatMessage("user", "🙂")),
        Sampling(temperature=0),
        Speculation(enabled=False, rule="token"),
        "lookup",
        max_tokens=0,
    ),
    Generate(5, "x", Sampling(), Speculation(gamma="auto"), "both", 0, fresh=True),
    Look(6, 0),
    Change(),
    Change(gamma="auto", drafter="both"),
    Change(enabled=False, gamma=0, rule="token", drafter="none"),
    Stop(4),
    Unload(),
    Quit(),
]

EVENTS: list[Event] = [
    Ready(1, {"specchat": "0.1.0"}, "CUDA", (Device("CUDA0", "A card", "gpu", 0, 2**34),), "AVX2 = 1"),
    Progress(1, "prefill", 512, 2000),
    Loaded(1, INFO),
    Loaded(1, INFO, INFO),
    Notice("fewer_layers", {"layers": 12, "share": 0.5, "device": "CUDA0"}),
    Prefilled(3, 2000, 1500, 1.25, 42),
    Written(3, ROUND, (b"\xf0\x9f", b"\x99\x82", b"", b"\n"), "🙂\n"),
    Done(3, "stop"),
    Done(3, "cancelled", "left"),
    Position(6, 5, (Word(5, b" \xf0", 0.5),), 0.5),
    Position(6, 5, (Word(5, b"a", 1.0, 0.0, -3.5), Word(6, b"", 0.0, 1.0)), 0.0, 0.0, 6, False, "model", 0.25),
    Failed(3, "file_missing", {"path": "/m.gguf"}),
    Failed(0, "protocol"),
    Measured(COSTS),
    Measured(COSTS, CostTable((), ())),
]


def test_the_samples_hold_every_kind_of_message() -> None:
    assert {type(request) for request in REQUESTS} == set(get_args(Request))
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("message", REQUESTS + EVENTS, ids=lambda message: type(message).__name__)
def test_a_message_is_one_line_and_comes_back_equal(message: Message) -> None:
    line = encode(message)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert (decode_request if message in REQUESTS else decode_event)(line) == message


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"ggml: a line from native code\n",
        b"{}\n",
        b'{"type":"written","id":1}\n',
        b'{"type":"nonsense","id":1}\n',
        b'{"type":"done","id":"1","stop_reason":"end"}\n',
        b'{"type":"done","id":1,"stop_reason":"bored"}\n',
        b'{"type":"done","id":1,"stop_reason":"end","text":"\xff"}\n',
    ],
)
def test_what_is_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_event(line)


def test_a_newer_engine_may_say_more() -> None:
    line = b'{"type":"done","id":1,"stop_reason":"end","mood":"good"}\n'
    assert decode_event(line) == Done(1, "end")
