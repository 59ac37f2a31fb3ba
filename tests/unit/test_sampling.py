"""The sampling chain against plain, slow readings of its definition."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from specchat.models.decoding.distribution import Distribution, draw_column, join, one_hot
from specchat.models.decoding.sampling import BadLogits, SamplingChain, largest
from specchat.settings.values import Sampling

PLAIN = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}


def dense(law: Distribution, vocabulary: int) -> NDArray[np.float64]:
    full = np.zeros(vocabulary)
    full[slice(None) if law.ids is None else law.ids] = law.probabilities
    return full


def softmax(values: NDArray[np.floating]) -> NDArray[np.float64]:
    weights = np.exp(np.asarray(values, dtype=np.float64) - np.max(values))
    return weights / weights.sum()


def reference(logits: NDArray[np.float32], sampling: Sampling) -> NDArray[np.float64]:
    law = softmax(logits / sampling.temperature)
    order = np.argsort(-law, kind="stable")
    if sampling.top_k:
        law[order[sampling.top_k :]] = 0
        law /= law.sum()
    if sampling.top_p < 1:
        reached = np.cumsum(law[order])
        law[order[int(np.searchsorted(reached, sampling.top_p)) + 1 :]] = 0
        law /= law.sum()
    law[law < sampling.min_p * law.max()] = 0
    return law / law.sum()


@pytest.mark.parametrize("vocabulary", [5, 700, 20_000])
@pytest.mark.parametrize(
    "settings",
    [
        PLAIN,
        {**PLAIN, "temperature": 2.5},
        {**PLAIN, "top_k": 3},
        {**PLAIN, "top_k": 100_000},
        {**PLAIN, "top_p": 0.9},
        {**PLAIN, "top_p": 0.0},
        {**PLAIN, "min_p": 0.1},
        {"top_k": 50, "top_p": 0.8, "min_p": 0.05},
    ],
)
def test_truncation_follows_its_definition(vocabulary: int, settings: dict[str, float]) -> None:
    sampling = Sampling(**settings)  # type: ignore[arg-type]
    logits = np.random.default_rng(vocabulary).normal(0, 2, vocabulary).astype(np.float32)
    law = dense(SamplingChain(sampling).distribution(logits, []), vocabulary)
    assert law == pytest.approx(reference(logits, sampling), abs=1e-6)
    assert law.sum() == pytest.approx(1, abs=1e-6)


def test_temperature_zero_takes_the_likeliest_and_the_first_of_equals() -> None:
    law = SamplingChain(Sampling(temperature=0)).distribution(np.array([1, 3, 3, 2], dtype=np.float32), [])
    assert dense(law, 4).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("temperature", [1e-320, 1e-7])
@pytest.mark.parametrize("settings", [PLAIN, {"top_k": 2}, {"top_p": 0.5}, {"min_p": 0.05}])
def test_a_temperature_of_almost_nothing_is_greedy(temperature: float, settings: dict[str, float]) -> None:
    sampling = Sampling(**(PLAIN | settings | {"temperature": temperature}))  # type: ignore[arg-type]
    law = SamplingChain(sampling).distribution(np.array([-40, 90, 90.00001, 50], dtype=np.float32), [])
    assert dense(law, 4).tolist() == [0, 0, 1, 0]


def test_penalties_by_hand() -> None:
    sampling = Sampling(temperature=1, repeat_penalty=2, presence_penalty=0.5, frequency_penalty=0.25, **PLAIN)  # type: ignore[arg-type]
    logits = np.array([2.0, -1.0, 0.5, 1.0], dtype=np.float32)
    law = SamplingChain(sampling).distribution(logits, [0, 1, 1])
    expected = np.array([2 / 2 - 0.5 - 0.25, -1 * 2 - 0.5 - 2 * 0.25, 0.5, 1.0])
    assert dense(law, 4) == pytest.approx(softmax(expected), abs=1e-6)
    assert logits.tolist() == [2.0, -1.0, 0.5, 1.0]


def test_penalties_change_the_greedy_choice() -> None:
    chain = SamplingChain(Sampling(temperature=0, repeat_penalty=1.5))
    assert dense(chain.distribution(np.array([3.0, 2.5], dtype=np.float32), [0]), 2).tolist() == [0, 1]


@pytest.mark.parametrize(("window", "seen"), [(0, []), (2, [4, 5]), (-1, [1, 2, 3, 4, 5]), (64, [1, 2, 3, 4, 5])])
def test_the_penalty_window(window: int, seen: list[int]) -> None:
    chain = SamplingChain(Sampling(repeat_penalty=1.1, penalty_window=window))
    assert chain.recent([1, 2, 3, 4, 5]) == seen


def test_guesses_push_older_text_out_of_the_window() -> None:
    chain = SamplingChain(Sampling(temperature=0, presence_penalty=5, penalty_window=2))
    logits = np.array([3.0, 2.0, 1.0], dtype=np.float32)
    assert dense(chain.distribution(logits, [0, 1, 2]), 3).tolist() == [1, 0, 0]


def test_a_penalised_token_the_draft_does_not_have_is_ignored() -> None:
    chain = SamplingChain(Sampling(temperature=0, presence_penalty=5))
    assert dense(chain.distribution(np.array([1.0, 0.0], dtype=np.float32), [7]), 2).tolist() == [1, 0]


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_logits_that_are_no_numbers(broken: float) -> None:
    with pytest.raises(BadLogits):
        SamplingChain(Sampling()).distribution(np.array([0.0, broken], dtype=np.float32), [])


@pytest.mark.parametrize("size", [3, 64, 5000, 152_000])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_largest(size: int, count: int) -> None:
    values = np.random.default_rng(size).integers(0, 1000, size).astype(np.float32)
    assert largest(values, count).tolist() == np.argsort(-values, kind="stable")[:count].tolist()


@pytest.mark.parametrize("size", [1, 7, 1024, 1025, 3000])
def test_draws_follow_the_cumulated_weights(size: int) -> None:
    weights = np.random.default_rng(size).random(size)
    weights[::3] = 0
    weights[-1] = 1
    cumulated = np.cumsum(weights) / weights.sum()
    for uniform in np.random.default_rng(1).random(200):
        assert draw_column(weights, uniform) == np.searchsorted(cumulated, uniform, side="right")


@pytest.mark.parametrize("size", [4, 5000])
def test_a_draw_never_returns_an_impossible_token(size: int) -> None:
    weights = np.zeros(size)
    weights[1] = 0.3
    assert {draw_column(weights, uniform) for uniform in (0.0, 0.5, np.nextafter(1, 0))} == {1}


def test_join_by_token_id() -> None:
    p = [Distribution(np.array([9, 4]), np.array([0.25, 0.75])), one_hot(2)]
    q = [Distribution(np.array([4, 2]), np.array([0.5, 0.5]))]
    joined = join(p, q, [4])
    assert joined.ids is not None
    assert joined.ids.tolist() == [2, 4, 9]
    assert joined.p.tolist() == [[0, 0.75, 0.25], [1, 0, 0]]
    assert joined.q.tolist() == [[0.5, 0.5, 0]]
    assert [joined.token(int(column)) for column in joined.draft] == [4]


def test_join_of_whole_vocabularies_of_unlike_size() -> None:
    p = [Distribution(None, np.full(4, 0.25)), Distribution(None, np.full(4, 0.25))]
    joined = join(p, [Distribution(None, np.array([0.5, 0.25, 0.25]))], [0])
    assert joined.q.tolist() == [[0.5, 0.25, 0.25, 0]]
    assert joined.token(3) == 3


def test_join_of_a_whole_vocabulary_with_a_certain_guess() -> None:
    joined = join([Distribution(None, np.full(4, 0.25))] * 2, [one_hot(3)], [3])
    assert joined.q.tolist() == [[0, 0, 0, 1]]
