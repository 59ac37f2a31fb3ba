"""What is kept of each token of a reply: right for guesses, replacements and tokens of the target's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from specchat.models.decoding.distribution import Distribution, one_hot
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.positions import WORDS, Position, Positions
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.verification import Rule, block_rule, token_rule
from specchat.settings.values import Sampling
from support.decoding import Outcome, Run, reply
from support.fake_models import FakeModel, random_logits

HOT = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
CHAINS = {
    "dense": HOT,
    "top-k": replace(HOT, top_k=20),
    "nucleus": replace(HOT, top_p=0.7),
    "min-p": replace(HOT, min_p=0.1),
    "greedy": Sampling(temperature=0),
    "penalised": replace(HOT, repeat_penalty=1.5, presence_penalty=1, penalty_window=8),
}
PROMPT = [1, 2, 3, 1, 2]
V = 40


def all_positions(outcome: Outcome) -> list[Position]:
    positions = [outcome.decoder.positions.at(number) for number in range(len(outcome.tokens))]
    return [position for position in positions if position is not None]


def run(sampling: Sampling, vocabulary: int, rule: Rule = block_rule, gamma: int = 3) -> Outcome:
    target = FakeModel(random_logits(1, vocabulary, sharpness=2), vocabulary)
    draft = FakeModel(random_logits(2, vocabulary, sharpness=2), vocabulary) if gamma else None
    return reply(Run(target, PROMPT, draft, gamma, rule, sampling, most_tokens=30, piece=lambda _token: b"x"))


@pytest.mark.parametrize("sampling", CHAINS.values(), ids=CHAINS.keys())
@pytest.mark.parametrize("rule", [token_rule, block_rule], ids=["token", "block"])
@pytest.mark.parametrize("vocabulary", [V, 1000])
def test_p_is_the_targets_law_at_every_token(sampling: Sampling, rule: Rule, vocabulary: int) -> None:
    outcome = run(sampling, vocabulary, rule)
    chain, logits = SamplingChain(sampling), random_logits(1, vocabulary, sharpness=2)
    assert len(all_positions(outcome)) == len(outcome.tokens) == 30
    for number, position in enumerate(all_positions(outcome)):
        text = [*PROMPT, *outcome.tokens[:number]]
        row = logits(tuple(text)).astype(np.float32)
        law = chain.distribution(row, text)
        assert position.token == outcome.tokens[number] in position.ids
        assert position.p == pytest.approx([law.probability(int(token)) for token in position.ids])
        assert position.logits.tolist() == row[position.ids].tolist()
        assert len(set(position.ids.tolist())) == position.ids.size <= WORDS
        most = max(law.probability(token) for token in range(vocabulary))
        assert position.p.max() == pytest.approx(most)
        assert row.max() in position.logits or sampling is CHAINS["penalised"]


def test_q_is_the_drafts_law_where_it_guessed_and_nowhere_else() -> None:
    outcome = run(HOT, V, gamma=1)
    drafted = random_logits(2, V, sharpness=2)
    number = 0
    for round in outcome.rounds:
        for place in range(round.tokens):
            position = outcome.decoder.positions.at(number)
            assert position is not None
            if place == len(round.guesses):
                assert (position.q, position.guess, position.overlap, position.drafter) == (None, None, None, "")
            else:
                text = [*PROMPT, *outcome.tokens[:number]]
                law = SamplingChain(HOT).distribution(drafted(tuple(text)).astype(np.float32), text)
                assert position.q is not None
                assert position.q == pytest.approx(law.probabilities[position.ids])
                assert (position.guess, position.accepted) == (round.guesses[place], place < round.accepted)
                assert position.guess in position.ids
                assert position.drafter == "model"
            number += 1
    assert any(round.rejected for round in outcome.rounds), "no replacement was seen"
    assert any(round.accepted == 1 for round in outcome.rounds), "no token beyond the guesses was seen"


def test_the_overlap_is_that_of_the_whole_vocabulary() -> None:
    for position in all_positions(run(HOT, 10)):  # so small that all of it is kept
        if position.q is not None:
            assert position.overlap == pytest.approx(np.minimum(position.p, position.q).sum(), abs=1e-6)
            assert position.p.sum() == pytest.approx(1)


@pytest.mark.parametrize("vocabulary", [V, 1000])
def test_a_round_that_writes_nothing_adds_nothing(vocabulary: int) -> None:
    target = FakeModel(random_logits(1, vocabulary), vocabulary)
    ends = frozenset(range(vocabulary))
    outcome = reply(Run(target, PROMPT, None, ends=ends))
    assert (outcome.tokens, outcome.stop_reason) == ([], "end")
    assert outcome.decoder.positions.at(0) is None


def test_plain_decoding_has_positions_too() -> None:
    positions = all_positions(run(HOT, V, gamma=0))
    assert len(positions) == 30
    assert all(position.q is None for position in positions)


def test_the_likeliest_words_of_a_large_vocabulary_are_found() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(0, 3, (2, 70_001)).astype(np.float32)
    rows[0, -1] = 50
    positions = Positions()
    positions.add(rows, [one_hot(70_000), one_hot(3)], Proposal(), (), 0, [70_000, 3])
    for number, token in enumerate((70_000, 3)):
        position = positions.at(number)
        assert position is not None
        best = np.argsort(-rows[number])
        wanted = {token, *best[: WORDS - (token not in best[:WORDS])].tolist()}
        assert set(position.ids.tolist()) == wanted


def one(positions: Positions, token: int) -> None:
    positions.add(np.zeros((1, 5), np.float32), [Distribution(None, np.full(5, 0.2))], Proposal(), (), 0, [token])


def test_only_the_latest_are_kept_and_a_cut_takes_the_last_away() -> None:
    positions = Positions(kept=3)
    for token in range(5):
        one(positions, token)
    assert positions.at(1) is positions.at(5) is positions.at(-1) is None
    assert [known.token for number in (2, 3, 4) if (known := positions.at(number))] == [2, 3, 4]
    positions.cut(4)
    assert positions.at(4) is None
    assert (last := positions.at(3)) is not None and last.token == 3
    positions.cut(9)
    assert positions.at(3) is last
    positions.cut(0)
    assert positions.at(2) is None
