"""A first look at what passes cost, in the background after a load: dropped as soon as there is something to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from specchat.models.decoding.cost import PassCosts
from specchat.models.decoding.model import Cancelled, ContextFull, EvaluationFailed
from specchat.models.engine.pair import Pair
from specchat.models.llama.loading import Loaded

SECONDS = 0.5
"""A look ends after so long, but not before `PASSES` passes."""
PASSES = 3
SURE = 3
"""Measurements after which a width needs no look."""
_TARGET = (1, 4, 8, 16, 2, 3, 6, 12, 32)
_DRAFT = (1, 16)
_TEXT = """\
The keeper of the lighthouse wrote down what he saw each evening: the colour of the sea, the ships that passed, and how
many gulls sat on the wall. On most days there was little to write, and he wrote that too."""
"""What is read: a mixture of experts costs by what it reads, so it has to be real text."""


def first_look(pair: Pair, is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Measure one pass at each step, until enough is known or `is_wanted` says no, also inside a pass."""
    begun, passes = time.monotonic(), 0
    for model, costs, width in _passes(pair):
        if passes >= PASSES and time.monotonic() - begun >= SECONDS:
            return
        try:
            measured = _measure(model, costs, width, is_wanted)
        except (Cancelled, ContextFull, EvaluationFailed):
            return
        passes += measured
        yield


def _passes(pair: Pair) -> Iterator[tuple[Loaded, PassCosts, int]]:
    """What is to be measured, the most telling first; V(1) even if it is known: the machine may have changed."""
    target = [(pair.target, pair.costs.target, width) for width in _TARGET]
    draft = [(pair.draft, pair.costs.draft, width) for width in _DRAFT] if pair.draft else []
    for model, costs, width in [*target[:2], *draft, *target[2:]]:
        if width == 1 or costs.count(width) < SURE:
            yield model, costs, width


def _measure(model: Loaded, costs: PassCosts, width: int, is_wanted: Callable[[], bool]) -> int:
    """Evaluate, measure and forget; the number of passes. The first of a width is not measured for a single token."""
    context = model.context
    known = len(context.tokens)
    tokens = model.tokenizer.encode(_TEXT, special=False)[:width]
    if width > min(len(tokens), context.n_batch) or (known and not context.can_roll_back):
        return 0
    times = 2 if width == 1 else 1
    for number in range(times):
        begun = time.perf_counter()
        context.evaluate(tokens, width, lambda _done, _total: is_wanted())
        if number == times - 1:
            costs.add(width, known, time.perf_counter() - begun)
        context.roll_back(known)
    return times
