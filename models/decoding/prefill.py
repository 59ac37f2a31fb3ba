"""Reading the prompt: everything but its last token, which the first round evaluates."""

from __future__ import annotations

import time
from collections.abc import Sequence

from specchat.models.decoding.model import Cancelled, Model, Progress, reuse_prefix
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.sampling import SamplingChain

PROBES = 4
"""Tokens read one by one where plain decoding's cost is not known yet; the first is not measured."""


def read_prompt(
    target: Model,
    prompt: Sequence[int],
    chain: SamplingChain,
    costs: RoundCosts,
    *,
    measure: bool,
    progress: Progress | None = None,
) -> int:
    """Evaluate `prompt` (at least one token) but for its last token; return how many of its tokens were still held.

    With `measure`, the last few tokens are read one by one, as plain decoding would, where its cost at this depth
    isn't known lately: so a reply can be compared with plain decoding from its first round on, by passes over real
    text.
    """
    wanted = list(prompt[:-1])
    measure = measure and len(wanted) >= PROBES and target.can_roll_back and not costs.is_fresh(len(wanted))
    body = wanted[:-PROBES] if measure else wanted
    reused = reuse_prefix(target, body)
    if len(body) > reused:
        target.evaluate(body[reused:], 0, progress)
    for i, token in enumerate(wanted[len(body) :]):
        if progress and not progress(len(body) + i - reused, len(wanted) - reused):
            raise Cancelled
        passed, sampled = _plain_round(target, token, chain, wanted[: len(body) + i + 1])
        if i:
            costs.target.add(1, len(wanted), passed)
            costs.add_rest(1, sampled)
    return reused


def _plain_round(target: Model, token: int, chain: SamplingChain, text: Sequence[int]) -> tuple[float, float]:
    """Seconds of a pass over `token`, and of sampling after it."""
    begun = time.perf_counter()
    logits = target.evaluate([token], 1)[0]
    passed = time.perf_counter()
    chain.distribution(logits, chain.recent(text)).draw(0.5)
    return passed - begun, time.perf_counter() - passed
