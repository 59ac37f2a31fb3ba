"""The whole loop writes what the target alone would: every rule, drafter and kind of sampling."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.verification import Rule, block_rule, token_rule
from specchat.settings.values import Sampling
from support.decoding import Run, reply
from support.fake_models import FakeModel, random_logits
from support.statistics import chi_square_p

VOCABULARY, LENGTH, REPLIES = 4, 3, 3000
PROMPT = [0, 1, 2, 0, 1, 3, 0, 1]
TARGET = random_logits(1, VOCABULARY)
SAMPLINGS = {
    "no truncation": Sampling(temperature=1, top_k=0, top_p=1, min_p=0),
    "top-k, top-p": Sampling(temperature=0.9, top_k=3, top_p=0.85, min_p=0),
    "penalties": Sampling(
        temperature=1,
        top_k=0,
        top_p=1,
        min_p=0,
        repeat_penalty=1.3,
        presence_penalty=0.3,
        frequency_penalty=0.4,
        penalty_window=4,
    ),
}


def exact_law(sampling: Sampling) -> dict[tuple[int, ...], float]:
    """The target's own law of all replies of LENGTH tokens."""
    chain = SamplingChain(sampling)
    law = {}
    for path in itertools.product(range(VOCABULARY), repeat=LENGTH):
        chance = 1.0
        for i, token in enumerate(path):
            text = [*PROMPT, *path[:i]]
            logits = TARGET(tuple(text)).astype(np.float32)
            step = chain.distribution(logits, chain.recent(text))
            ids = range(VOCABULARY) if step.ids is None else step.ids.tolist()
            chance *= dict(zip(ids, step.probabilities.tolist(), strict=True)).get(token, 0.0)
        law[path] = chance
    return law


@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS.keys())
@pytest.mark.parametrize("rule", [pytest.param(token_rule, id="token"), pytest.param(block_rule, id="block")])
@pytest.mark.parametrize("drafter", ["model", "lookup"])
def test_replies_follow_the_targets_law(sampling: Sampling, rule: Rule, drafter: str) -> None:
    target = FakeModel(TARGET, VOCABULARY)
    draft = FakeModel(random_logits(2, VOCABULARY), VOCABULARY) if drafter == "model" else drafter
    counted: Counter[tuple[int, ...]] = Counter()
    accepted = 0
    for seed in range(REPLIES):
        outcome = reply(Run(target, PROMPT, draft, 2, rule, sampling, seed, LENGTH))
        counted[tuple(outcome.tokens)] += 1
        accepted += sum(round.accepted for round in outcome.rounds)
    assert accepted > REPLIES / 10, "the test would say nothing if guesses were never accepted"
    assert chi_square_p(counted, exact_law(sampling)) > 0.001


def test_the_check_itself_notices_a_small_bend() -> None:
    law = {0: 0.5, 1: 0.3, 2: 0.2}
    assert chi_square_p({0: 1500, 1: 900, 2: 600}, law) > 0.9
    assert chi_square_p({0: 1400, 1: 1000, 2: 600}, law) < 0.001
    assert chi_square_p({0: 1500, 1: 900, 3: 600}, law) == 0
