"""The rules, checked by enumerating every outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from specchat.models.decoding.verification import Rule, acceptance, block_rule, token_rule, verify
from support.laws import Tree, paths, probability, random_tree

RULES = [pytest.param(token_rule, id="token"), pytest.param(block_rule, id="block")]
KINDS = [("dense", "dense"), ("zeros", "dense"), ("dense", "zeros"), ("zeros", "zeros"), ("dense", "one-hot")]
SHAPES = [(vocabulary, gamma) for vocabulary in (2, 3, 4) for gamma in range(5)]


def laws_along(target: Tree, draft: Tree, guesses: tuple[int, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    p = np.array([target[guesses[:i]] for i in range(len(guesses) + 1)])
    q = np.array([draft[guesses[:i]] for i in range(len(guesses))]).reshape(len(guesses), p.shape[1])
    return p, q


Stops = Callable[[tuple[int, ...]], bool]
"""Whether no more is guessed after these guesses."""


def never(_guesses: tuple[int, ...]) -> bool:
    return False


def rounds_of(vocabulary: int, gamma: int, stops: Stops) -> Iterator[tuple[int, ...]]:
    """All that a round may guess: γ tokens, or fewer where it stops."""
    begun: list[tuple[int, ...]] = [()]
    while begun:
        guesses = begun.pop()
        if len(guesses) == gamma or stops(guesses):
            yield guesses
        else:
            begun += [(*guesses, token) for token in range(vocabulary)]


def output_law(
    rule: Rule, target: Tree, draft: Tree, vocabulary: int, gamma: int, stops: Stops = never
) -> dict[tuple[int, ...], float]:
    """Law of the first γ+1 tokens: a round's tokens, the rest drawn from the target."""
    law = dict.fromkeys(paths(vocabulary, gamma + 1), 0.0)
    for guesses in rounds_of(vocabulary, gamma, stops):
        chance = probability(draft, guesses)
        if chance == 0:
            continue
        p, q = laws_along(target, draft, guesses)
        for accepted, kept in enumerate(rule.accepted_law(p, q, np.array(guesses, dtype=int))):
            if kept == 0:
                continue
            added = rule.next_law(p, q, np.array(guesses, dtype=int), accepted)
            for rest in paths(vocabulary, gamma + 1 - accepted):
                path = guesses[:accepted] + rest
                law[path] += chance * kept * added[rest[0]] * probability(target, path, accepted + 1)
    return law


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("vocabulary", "gamma"), SHAPES)
@pytest.mark.parametrize(("target_kind", "draft_kind"), KINDS)
def test_output_law_is_the_targets(rule: Rule, vocabulary: int, gamma: int, target_kind: str, draft_kind: str) -> None:
    rng = np.random.default_rng([vocabulary, gamma])
    target = random_tree(rng, vocabulary, gamma + 1, target_kind)
    draft = random_tree(rng, vocabulary, gamma + 1, draft_kind)
    law = output_law(rule, target, draft, vocabulary, gamma)
    assert max(abs(law[path] - probability(target, path)) for path in law) < 1e-9


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("vocabulary", "gamma"), [(2, 4), (3, 3), (4, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_output_law_is_the_targets_where_a_round_stops_by_its_past(
    rule: Rule, vocabulary: int, gamma: int, seed: int
) -> None:
    rng = np.random.default_rng([11, vocabulary, gamma, seed])
    target, draft = (random_tree(rng, vocabulary, gamma + 1, "dense") for _ in range(2))
    stopping = {guesses for n in range(gamma) for guesses in paths(vocabulary, n) if rng.random() < 0.4}
    law = output_law(rule, target, draft, vocabulary, gamma, stopping.__contains__)
    assert max(abs(law[path] - probability(target, path)) for path in law) < 1e-9


@pytest.mark.parametrize("rule", RULES)
def test_same_law_accepts_everything(rule: Rule) -> None:
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 3, 4, "dense")
    for guesses in paths(3, 3):
        p, q = laws_along(tree, tree, guesses)
        assert rule.accepted_law(p, q, np.array(guesses)) == pytest.approx([0, 0, 0, 1])


@pytest.mark.parametrize("rule", RULES)
def test_disjoint_supports_accept_nothing(rule: Rule) -> None:
    p = np.array([[0.5, 0.5, 0, 0]] * 3)
    q = np.array([[0, 0, 0.3, 0.7]] * 2)
    assert rule.accepted_law(p, q, np.array([2, 3])) == pytest.approx([1, 0, 0])
    assert rule.next_law(p, q, np.array([2, 3]), 0) == pytest.approx([0.5, 0.5, 0, 0])


@pytest.mark.parametrize(("vocabulary", "gamma"), [(v, g) for v, g in SHAPES if g])
def test_block_rule_never_writes_fewer_tokens(vocabulary: int, gamma: int) -> None:
    rng = np.random.default_rng([7, vocabulary, gamma])
    for _ in range(5):
        target = random_tree(rng, vocabulary, gamma + 1, "dense")
        draft = random_tree(rng, vocabulary, gamma + 1, "dense")
        written = {}
        for rule in (token_rule, block_rule):
            written[rule] = sum(
                probability(draft, guesses)
                * float(
                    rule.accepted_law(*laws_along(target, draft, guesses), np.array(guesses)) @ np.arange(gamma + 1)
                )
                for guesses in paths(vocabulary, gamma)
            )
        assert written[block_rule] >= written[token_rule] - 1e-12


def test_block_rule_writes_more_somewhere() -> None:
    """The example of Sun et al. 2024 (§2): p = (1/3, 2/3), q = (2/3, 1/3), two guesses: 10/9 against 11/9."""
    p, q = np.array([[1 / 3, 2 / 3]] * 3), np.array([[2 / 3, 1 / 3]] * 2)
    written = {
        rule: sum(
            q[0, a] * q[1, b] * float(rule.accepted_law(p, q, np.array([a, b])) @ np.arange(3)) for a, b in paths(2, 2)
        )
        for rule in (token_rule, block_rule)
    }
    assert written[token_rule] == pytest.approx(10 / 9)
    assert written[block_rule] == pytest.approx(11 / 9)


def test_acceptance_is_the_expected_overlap() -> None:
    p = np.array([[0.42, 0.26, 0.16, 0.10, 0.06]] * 2)
    q = np.array([[0.20, 0.45, 0.10, 0.05, 0.20]])
    assert acceptance(p, q, np.array([1])) == ([pytest.approx(0.67)], [1])


def test_later_positions_come_with_the_chance_to_get_there() -> None:
    p, q = np.array([[0.2, 0.8]] * 4), np.array([[0.5, 0.5]] * 3)
    overlaps, reached = acceptance(p, q, np.array([0, 1, 0]))
    assert overlaps == pytest.approx([0.7, 0.7, 0.7])
    assert reached == pytest.approx([1, 0.4, 0.4])


def test_without_guesses_there_is_nothing_to_accept() -> None:
    assert acceptance(np.array([[0.2, 0.8]]), np.empty((0, 2)), np.empty(0, dtype=int)) == ([], [])


@pytest.mark.parametrize("rule", RULES)
def test_verify_draws_one_uniform_for_each_law(rule: Rule) -> None:
    p, q = np.array([[0.25, 0.75]] * 2), np.array([[0.75, 0.25]])
    drawn, fresh = np.random.default_rng(3), np.random.default_rng(3)
    verify(rule, p, q, np.array([0]), drawn)
    fresh.random(2)
    assert drawn.bit_generator.state == fresh.bit_generator.state


@pytest.mark.parametrize("rule", RULES)
def test_verify_follows_the_laws(rule: Rule) -> None:
    p, q, draft = np.array([[0.25, 0.75]] * 2), np.array([[0.75, 0.25]]), np.array([0])
    rng = np.random.default_rng(5)
    outcomes = [verify(rule, p, q, draft, rng) for _ in range(6000)]
    kept = np.mean([accepted for accepted, _ in outcomes])
    assert kept == pytest.approx(1 / 3, abs=0.02)
    assert {token for accepted, token in outcomes if not accepted} == {1}


def test_a_residual_lost_to_rounding_falls_back_to_p() -> None:
    p = np.array([[0.3, 0.7], [0.5, 0.5]])
    assert token_rule.next_law(p, p[:1], np.array([0]), 0) == pytest.approx([0.3, 0.7])
