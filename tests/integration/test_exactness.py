"""Replies of real llama.cpp models follow the target's law, whatever guesses for it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from specchat.models.decoding.counters import count
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.verification import Rule, block_rule, token_rule
from specchat.models.llama.loading import Loaded, load
from specchat.settings.values import ModelOptions, Sampling
from support.decoding import Run, reply
from support.statistics import chi_square_p
from support.tiny_gguf import write_tiny_llama

REPLIES, LENGTH, USABLE = 20_000, 3, 5
OPTIONS = ModelOptions(threads=1, cache_type_k="f32", cache_type_v="f32", flash_attention="off")
FREE = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
CUT = Sampling(temperature=1.2, top_k=4, top_p=0.9, min_p=0)
GREEDY = Sampling(temperature=0)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Loaded]]:
    folder = tmp_path_factory.mktemp("tiny")
    loaded = {
        name: load(write_tiny_llama(folder / f"{name}.gguf", seed=seed, usable=USABLE), OPTIONS)
        for name, seed in (("target", 1), ("twin", 1), ("draft", 2))
    }
    yield loaded
    for model in loaded.values():
        model.free()


def exact_law(
    target: Loaded, prompt: list[int], letters: list[int], sampling: Sampling
) -> dict[tuple[int, ...], float]:
    """The chance of every reply, from the target's own logits, one plain pass each."""
    chain = SamplingChain(sampling)
    steps: dict[tuple[int, ...], dict[int, float]] = {}
    for path in (path for n in range(LENGTH) for path in itertools.product(letters, repeat=n)):
        target.context.roll_back(0)
        law = chain.distribution(target.context.evaluate([*prompt, *path], 1)[0], [])
        ids = range(target.context.n_vocab) if law.ids is None else law.ids.tolist()
        steps[path] = dict(zip(ids, law.probabilities.tolist(), strict=True))
    return {
        path: float(np.prod([steps[path[:i]].get(token, 0.0) for i, token in enumerate(path)]))
        for path in itertools.product(letters, repeat=LENGTH)
    }


@pytest.mark.parametrize(
    ("rule", "drafter", "sampling"),
    [
        pytest.param(block_rule, "draft", FREE, id="block, model, no truncation"),
        pytest.param(token_rule, "lookup", CUT, id="token, lookup, top-k and top-p"),
    ],
)
def test_replies_follow_the_targets_law(
    models: dict[str, Loaded], rule: Rule, drafter: str, sampling: Sampling
) -> None:
    target = models["target"]
    letters = target.tokenizer.encode("abcde", special=False)
    prompt = target.tokenizer.encode("abcadbecabdabcab", special=False)
    law = exact_law(target, prompt, letters, sampling)
    assert sum(law.values()) == pytest.approx(1, abs=1e-4)
    draft = drafter if drafter == "lookup" else models[drafter].context
    run = Run(target.context, prompt, draft, 2, rule, sampling, most_tokens=LENGTH, costs=RoundCosts())
    counted: Counter[tuple[int, ...]] = Counter()
    accepted = 0
    for seed in range(REPLIES):
        outcome = reply(replace(run, seed=seed))
        counted[tuple(outcome.tokens)] += 1
        accepted += sum(round.accepted for round in outcome.rounds)
    assert accepted > REPLIES / 10
    assert chi_square_p(counted, law) > 0.001


@pytest.mark.parametrize("gamma", range(1, 9))
@pytest.mark.parametrize("drafter", ["draft", "lookup"])
def test_greedy_text_is_plain_decodings(models: dict[str, Loaded], gamma: int, drafter: str) -> None:
    target = models["target"].context
    prompt = models["target"].tokenizer.encode("abcabd", special=False)
    run = Run(target, prompt, None, sampling=GREEDY, most_tokens=100)
    draft = drafter if drafter == "lookup" else models[drafter].context
    assert reply(replace(run, draft=draft, gamma=gamma)).tokens == reply(run).tokens


def test_a_target_accepts_all_that_its_twin_guesses(models: dict[str, Loaded]) -> None:
    prompt = models["target"].tokenizer.encode("abcabd", special=False)
    run = Run(models["target"].context, prompt, models["twin"].context, 4, sampling=GREEDY, most_tokens=100)
    counters = count(reply(run).rounds)
    assert counters.drafted == counters.accepted == 80
    warm = count(reply(replace(run, sampling=FREE)).rounds)
    assert warm.drafted - warm.accepted <= 1  # a pass over five tokens rounds otherwise than one over one
    assert warm.alpha == pytest.approx(1, abs=1e-3)
