"""Runs the decoding loop on any models, as the engine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from specchat.models.decoding.lookup_drafter import LookupDrafter
from specchat.models.decoding.loop import Ending, Plan, SpeculativeDecoder
from specchat.models.decoding.model import Model, Progress
from specchat.models.decoding.model_drafter import ModelDrafter
from specchat.models.decoding.pace import FixedPace, Pace
from specchat.models.decoding.prefill import read_prompt
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.rounds import Round
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.verification import Rule, block_rule
from specchat.settings.values import Sampling

MakePace = Callable[[LookupDrafter, ModelDrafter | None], Pace]


@dataclass
class Run:
    """One reply's settings; `gamma` may be a function of the round's number. A `pace` takes its place."""

    target: Model
    prompt: Sequence[int]
    draft: Model | str | None = None
    gamma: int | Callable[[int], int] = 3
    rule: Rule = block_rule
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = 0
    most_tokens: int = 16
    ends: frozenset[int] = frozenset()
    stops: Sequence[bytes] = ()
    piece: Callable[[int], bytes] = lambda token: bytes([97 + token])
    cancelled: Callable[[], bool] = lambda: False
    costs: RoundCosts = field(default_factory=RoundCosts)
    draft_progress: Progress | None = None
    pace: MakePace | None = None


@dataclass
class Outcome:
    tokens: list[int]
    data: bytes
    rounds: list[Round]
    stop_reason: str | None
    decoder: SpeculativeDecoder


def reply(run: Run) -> Outcome:
    """Write one reply."""
    chain = SamplingChain(run.sampling)
    drafting, verifying = np.random.default_rng(run.seed).spawn(2)
    lookup, model = LookupDrafter(), None
    if run.draft is not None and not isinstance(run.draft, str):
        model = ModelDrafter(run.draft, chain, drafting, run.target.n_vocab, run.costs, run.draft_progress)
        model.catch_up(run.prompt)
    numbers = iter(range(10**6))
    pace = run.pace(lookup, model) if run.pace else None

    def plan() -> Plan:
        if pace is not None:
            return Plan(pace, run.rule)
        number = next(numbers)
        gamma = run.gamma if isinstance(run.gamma, int) else run.gamma(number)
        guesses = gamma and run.draft is not None
        return Plan(FixedPace(gamma, None if model else lookup, model) if guesses else None, run.rule)

    read_prompt(run.target, run.prompt, chain, run.costs, measure=run.draft is not None)
    ending = Ending(run.most_tokens, run.ends.__contains__, run.stops, run.cancelled)
    decoder = SpeculativeDecoder(run.target, run.prompt, chain, verifying, plan, run.piece, ending, run.costs)
    steps = list(decoder.steps())
    data = b"".join(step.data for step in steps)
    rounds = [step.round for step in steps]
    return Outcome(decoder.text[len(run.prompt) :], data, rounds, decoder.stop_reason, decoder)
