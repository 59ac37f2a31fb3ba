"""Auto on recorded texts and made ones, in simulated time: against the best fixed number in hindsight, and plain."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from specchat.models.decoding.auto_pace import REVIEW_SHARE, SHORTEST_SLEEP
from support.trace_simulation import GAMMAS, Machine, Simulation, Trace, Written, load_traces, made_trace

TRACES = Path(__file__).parents[1] / "data" / "traces.json"

MACHINES = {
    "steps of four": Machine(
        {1: 77, 2: 132, 3: 148, 4: 120, 5: 158, 6: 190, 7: 205, 8: 195, 12: 276, 16: 297}, run=12.4, read=6.0, row=0.5
    ),
    "dear draft": Machine(
        {1: 30.7, 2: 52.8, 3: 72.3, 4: 87, 5: 105.5, 6: 128, 7: 152, 8: 139, 9: 168, 12: 198, 16: 198},
        run=7.5,
        read=3.9,
        row=0.3,
    ),
    "flat": Machine({1: 20, 8: 24.2, 9: 30.8, 16: 35}, run=4.0, read=0.1, row=0.5),
}
"""Two CPUs' measured passes, whose drafts gain little by reading many tokens at once, and passes like a GPU's."""


@cache
def recorded() -> list[Trace]:
    return load_traces(TRACES)


def geometric(values: Iterable[float]) -> float:
    return math.exp(statistics.mean(map(math.log, values)))


def fixed(trace: Trace, machine: Machine, gamma: int) -> float:
    return Simulation(trace, machine, gamma).write().rate()


def auto(trace: Trace, machine: Machine, *, model: bool = True, lookup: bool = False, seed: int = 0) -> Written:
    return Simulation(trace, machine, model=model, lookup=lookup, seed=seed).write()


# ------------------------------------------------------------------ recorded texts

REACHED = {
    ("steps of four", "good"): (1.02, 1.54, 1.35),
    ("steps of four", "noisy"): (0.94, 1.03, 0.97),
    ("steps of four", "hopeless"): (0.97, 0.97, 0.94),
    ("dear draft", "good"): (0.97, 0.99, 0.96),
    ("dear draft", "noisy"): (0.98, 0.98, 0.97),
    ("dear draft", "hopeless"): (0.98, 0.98, 0.97),
    ("flat", "good"): (1.01, 1.90, 1.70),
    ("flat", "noisy"): (1.05, 1.40, 1.27),
    ("flat", "hopeless"): (0.96, 0.96, 0.93),
}
"""By machine and draft: the least speed of auto as a share of the best fixed number's for each text, and of plain
decoding's, over the whole texts and over their first 64 tokens; geometric means over kinds and temperatures."""


@pytest.mark.parametrize(("machine", "draft"), REACHED, ids=[" ".join(key) for key in REACHED])
def test_auto_keeps_up_with_the_best_fixed_number(machine: str, draft: str) -> None:
    best, plain, first = [], [], []
    for trace in recorded():
        if trace.draft != draft:
            continue
        gammas = GAMMAS[:2] if draft == "hopeless" else GAMMAS
        rates = {gamma: fixed(trace, MACHINES[machine], gamma) for gamma in gammas}
        chosen = auto(trace, MACHINES[machine])
        best.append(chosen.rate() / max(rates.values()))
        plain.append(chosen.rate() / rates[0])
        first.append(chosen.rate(64) / rates[0])
    assert len(best) == 16
    for share, least in zip((best, plain, first), REACHED[machine, draft], strict=True):
        assert geometric(share) > least


def test_it_is_never_much_slower_than_plain_decoding() -> None:
    """256 tokens with the hopeless draft, of which nothing is known at the first."""
    for machine in MACHINES.values():
        whole, first = [], []
        for trace in recorded():
            if trace.draft == "hopeless" and trace.temperature:
                longer = twice(trace)
                plain, chosen = Simulation(longer, machine, 0).write(), auto(longer, machine)
                whole.append(chosen.rate(256) / plain.rate(256))
                first.append(chosen.rate(64) / plain.rate(64))
        assert geometric(whole) > 0.97
        assert geometric(first) > 0.94


def twice(trace: Trace) -> Trace:
    """The text again after itself. Lookup would find it."""
    return msgspec.structs.replace(
        trace,
        tokens=trace.tokens * 2,
        confidences=trace.confidences * 2,
        accepted=trace.accepted * 2,
        overlaps=trace.overlaps * 2,
    )


# ------------------------------------------------------------------ lookup


@pytest.mark.parametrize("machine", MACHINES)
def test_lookup_alone_helps_where_text_repeats_itself_and_hurts_nowhere(machine: str) -> None:
    shares = {}
    for trace in recorded():
        if trace.draft == "good":
            rate = auto(trace, MACHINES[machine], model=False, lookup=True).rate()
            shares[trace.kind, trace.temperature] = rate / fixed(trace, MACHINES[machine], 0)
    assert min(shares.values()) > 0.94
    assert geometric(share for (_, temperature), share in shares.items() if not temperature) > 1.2


@pytest.mark.parametrize("machine", MACHINES)
def test_both_drafters_together_are_about_as_good_as_the_better_one(machine: str) -> None:
    shares = []
    for trace in recorded():
        if trace.draft == "good" and not trace.temperature:
            alone = [auto(trace, MACHINES[machine], model=model, lookup=not model).rate() for model in (True, False)]
            shares.append(auto(trace, MACHINES[machine], lookup=True).rate() / max(alone))
    assert geometric(shares) > 0.97


# ------------------------------------------------------------------ made texts


def oracle(parts: Sequence[tuple[int, str]], machine: Machine) -> float:
    """The speed of the best fixed number in each part, which knows where they change."""
    traces = [made_trace([part]) for part in parts]
    seconds = sum(len(trace.tokens) / max(fixed(trace, machine, gamma) for gamma in GAMMAS) for trace in traces)
    return sum(len(trace.tokens) for trace in traces) / seconds


def share_of_oracle(parts: Sequence[tuple[int, str]], machine: Machine) -> float:
    rates = [auto(made_trace(parts, seed=seed), machine, seed=seed).rate() for seed in range(3)]
    return statistics.mean(rates) / oracle(parts, machine)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("after", ["hopeless", "unsure"])
def test_a_draft_that_turns_hopeless_is_let_go_in_time(machine: str, after: str) -> None:
    share = share_of_oracle([(200, "predictable"), (200, after)], MACHINES[machine])
    assert share > 0.9


@pytest.mark.parametrize(("machine", "least"), [("steps of four", 0.7), ("dear draft", 0.85), ("flat", 0.8)])
@pytest.mark.parametrize("before", ["hopeless", "unsure"])
def test_a_draft_that_turns_good_is_found_again(machine: str, before: str, least: float) -> None:
    share = share_of_oracle([(200, before), (200, "predictable")], MACHINES[machine])
    assert share > least


@pytest.mark.parametrize("machine", MACHINES)
def test_reviews_are_spaced_and_cost_little(machine: str) -> None:
    written = auto(made_trace([(1000, "unsure")]), MACHINES[machine])
    assert written.reviews
    places = [0, *(place for place, _ in written.reviews)]
    gaps = [after - before for before, after in pairwise(places)]
    assert min(gaps) >= SHORTEST_SLEEP
    assert max(gaps[:1]) <= 4 * SHORTEST_SLEEP
    spent = sum(seconds for _, seconds in written.reviews)
    allowed = REVIEW_SHARE * written.times[-1] + 2 * MACHINES[machine].passes[1] / 1000
    assert spent < 1.2 * allowed


def test_what_is_believed_of_a_draft_serves_the_next_reply() -> None:
    machine, trace = MACHINES["flat"], made_trace([(200, "hopeless")])
    first = Simulation(trace, machine)
    second = Simulation(trace, machine, beliefs=first.beliefs)
    guesses = [sum(count for _, count in simulation.write().rounds) for simulation in (first, second)]
    assert guesses[0] > 0
    assert guesses[1] == 0
