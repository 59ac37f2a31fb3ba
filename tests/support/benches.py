"""Benchmarks without an engine: runs whose speeds a test chooses, and documents of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from specchat.app.bench.document import Document
from specchat.app.bench.prompts import Prompt
from specchat.app.bench.recording import Recording
from specchat.app.bench.runner import Job, Run
from specchat.app.bench.sides import LOOKUP, Side, Step, gammas, plan
from specchat.models.decoding.cost import CostTable, WidthCost
from specchat.models.decoding.rounds import Round
from specchat.models.engine import messages
from specchat.settings.values import ModelOptions, Settings
from support.rounds import make_round

TARGET, DRAFT = "/models/target.gguf", "/models/draft.gguf"
PROMPTS = (Prompt("code", "Write code."), Prompt("story", "Tell a story."))
V = {1: 0.077, 2: 0.132, 4: 0.120, 8: 0.195, 16: 0.297}
"""Seconds of a pass by its tokens, as measured on two cores."""
READY = messages.Ready(
    messages.PROTOCOL,
    {"llama-cpp-python": "0.3.36"},
    "CPU",
    (messages.Device("CPU", "A processor", "cpu", 1, 2),),
    "CPU : AVX2 = 1",
)


def make_run(step: Step, rate: float, tokens: int = 12, prefill: float = 0.5) -> Run:
    """A reply of `tokens` at `rate` a second; with a draft in rounds of three, of which two guesses were accepted."""
    size = 3 if step.side.draft else 1
    guessed = 0 if size == 1 else 3
    one = make_round(guessed, size - 1, on=bool(guessed), seconds=size / rate)
    rounds: tuple[Round, ...] = (replace(one, drafter=_drafter(step.side, guessed)),) * (tokens // size)
    return Run(step, step.repeat + 1, rounds, 20, prefill, "length")


def make_runs(
    rate: Callable[[Step], float],
    drafts: Sequence[str] = (DRAFT,),
    gamma: int | str = 3,
    prompts: Sequence[Prompt] = PROMPTS,
    repeats: int = 3,
) -> list[Run]:
    """All runs of a benchmark, at the speeds that `rate` gives."""
    steps = plan(drafts, gammas(gamma), prompts, repeats)  # type: ignore[arg-type]
    return [make_run(step, rate(step)) for step in steps]


def make_document(runs: Sequence[Run], prompts: Sequence[Prompt] = PROMPTS, *, partial: bool = False) -> Document:
    """The document of these runs, with V as above for the target."""
    job = Job(TARGET, tuple(run.step for run in runs), Settings(), 128, 1)
    recording = Recording(job, prompts, "builtin", READY)
    files = dict.fromkeys(run.step.loaded for run in runs if run.step.loaded)
    for file in [*files] or [""]:
        draft = make_info(file) if file else None
        recording.add(messages.Loaded(1, make_info(TARGET), draft))
    for run in runs:
        recording.add(run)
    costs = CostTable(tuple(WidthCost(width, seconds, 5) for width, seconds in V.items()), ())
    return recording.document({TARGET: costs}, {TARGET: "ab" * 32}, partial=partial)


def make_info(path: str) -> messages.ModelInfo:
    """What an engine tells of a model."""
    return messages.ModelInfo(
        path=path,
        name="A model",
        description="llama 1B Q4_0",
        size=10**9,
        parameters=10**9,
        layers=20,
        gpu_layers=0,
        devices=("CPU",),
        ctx=4096,
        ctx_trained=8192,
        has_template=True,
        can_roll_back=True,
        memory=300 * 2**20,
    )


def file(path: str) -> messages.ModelFile:
    """A model's file with usual options."""
    return messages.ModelFile(path, ModelOptions())


def _drafter(side: Side, guessed: int) -> str:
    if not guessed:
        return ""
    return "lookup" if side.draft == LOOKUP else "model"
