"""Runs the decoding loop on any models, as the engine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from specchat.models.decoding.cost import PlainCosts
from specchat.models.decoding.drafters import Drafter, LookupDrafter, ModelDrafter
from specchat.models.decoding.loop import Ending, Plan, SpeculativeDecoder
from specchat.models.decoding.model import Model, Progress
from specchat.models.decoding.prefill import read_prompt
from specchat.models.decoding.rounds import Round
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.verification import Rule, block_rule
from specchat.settings.values import Sampling


@dataclass
class Run:
    """One reply's settings; `gamma` may be a function of the round's number."""

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
    costs: PlainCosts = field(default_factory=PlainCosts)
    draft_progress: Progress | None = None


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
    drafter: Drafter | None
    if run.draft is None:
        drafter = None
    elif isinstance(run.draft, str):
        drafter = LookupDrafter()
    else:
        drafter = ModelDrafter(run.draft, chain, drafting, run.target.n_vocab, run.draft_progress)
        drafter.catch_up(run.prompt)
    numbers = iter(range(10**6))

    def pace() -> Plan:
        number = next(numbers)
        return Plan(run.gamma if isinstance(run.gamma, int) else run.gamma(number), drafter, run.rule)

    read_prompt(run.target, run.prompt, chain, run.costs, measure=drafter is not None)
    ending = Ending(run.most_tokens, run.ends.__contains__, run.stops, run.cancelled)
    decoder = SpeculativeDecoder(run.target, run.prompt, chain, verifying, pace, run.piece, ending, run.costs)
    steps = list(decoder.steps())
    data = b"".join(step.data for step in steps)
    rounds = [step.round for step in steps]
    return Outcome(decoder.text[len(run.prompt) :], data, rounds, decoder.stop_reason, decoder)
