"""A draft model's guesses, as long as its steps say; and how it would have guessed what it slept through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from specchat.models.decoding.model_drafter import EVERY_STEP, ModelDrafter, Review
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.sampling import BadLogits, SamplingChain, certainty
from specchat.settings.values import Sampling
from support.fake_models import FakeModel, random_logits

V = 8
HOT = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
TEXT = [1, 2, 3, 4, 5, 6]
LOGITS = random_logits(1, V)


def model(**options: int) -> FakeModel:
    return FakeModel(LOGITS, V, **options)


def drafter(
    draft: FakeModel, sampling: Sampling = HOT, *, vocabulary: int = V, costs: RoundCosts | None = None
) -> ModelDrafter:
    return ModelDrafter(draft, SamplingChain(sampling), np.random.default_rng(0), vocabulary, costs or RoundCosts())


def sureness(text: Sequence[int]) -> float:
    return certainty(LOGITS(tuple(text)).astype(np.float32))


def law(text: Sequence[int]) -> np.ndarray:
    weights = np.exp(LOGITS(tuple(text)))
    return np.asarray(weights / weights.sum())


# ------------------------------------------------------------------ steps


class Noting:
    """Goes on for so many steps, and notes in what order it is asked, and the dice are thrown."""

    def __init__(self, takes: int, log: list[str]) -> None:
        self._takes = takes
        self._log = log
        self.heard: list[float] = []

    def runs(self) -> bool:
        self._log.append("runs")
        return True

    def takes(self, confidence: float) -> bool:
        self._log.append("takes")
        self.heard.append(confidence)
        return len(self.heard) <= self._takes


class NotingDice:
    """Stands in for a generator."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    def random(self) -> float:
        self._log.append("draws")
        return 0.5


def test_whether_a_guess_is_taken_is_decided_before_it_is_drawn() -> None:
    """Else the text's law would be bent: a guess must not be dropped for what it is."""
    log: list[str] = []
    steps = Noting(2, log)
    draft = model()
    guessing = ModelDrafter(draft, SamplingChain(HOT), NotingDice(log), V, RoundCosts())  # type: ignore[arg-type]
    proposal = guessing.propose(TEXT, 5, steps)
    assert log == ["runs", "takes", "draws", "runs", "takes", "draws", "runs", "takes"]
    assert len(proposal.tokens) == 2
    paths = [TEXT, [*TEXT, proposal.tokens[0]], [*TEXT, *proposal.tokens]]
    assert steps.heard == pytest.approx([sureness(path) for path in paths])
    assert proposal.confidences == tuple(steps.heard[:2])
    assert (proposal.draft_runs, proposal.caught_up) == (3, len(TEXT) - 1)


def test_steps_that_want_nothing_cost_nothing() -> None:
    class Never:
        def runs(self) -> bool:
            return False

        def takes(self, confidence: float) -> bool:
            raise AssertionError(confidence)

    draft = model()
    proposal = drafter(draft).propose(TEXT, 5, Never())
    assert (proposal.tokens, proposal.draft_runs, proposal.caught_up, draft.passes) == ((), 0, 0, [])


def test_every_step_goes_on_to_the_most() -> None:
    assert len(drafter(model()).propose(TEXT, 5, EVERY_STEP).tokens) == 5


def test_without_room_there_is_no_guess_and_a_reason() -> None:
    assert drafter(model(n_ctx=5)).propose(TEXT, 5).reason == "room"
    assert len(drafter(model(n_ctx=7)).propose(TEXT, 5).tokens) == 2


def test_laws_are_those_the_guesses_came_from() -> None:
    proposal = drafter(model()).propose(TEXT, 3)
    for place, (guess, known) in enumerate(zip(proposal.tokens, proposal.laws, strict=True)):
        expected = law([*TEXT, *proposal.tokens[:place]])
        assert known.probability(guess) == pytest.approx(expected[guess])


def test_logits_that_are_no_numbers_are_no_guess() -> None:
    broken = FakeModel(lambda _text: np.full(V, np.nan), V)
    with pytest.raises(BadLogits):
        drafter(broken).propose(TEXT, 3, Noting(0, []))


# ------------------------------------------------------------------ reviews


def test_it_knows_how_much_it_has_missed() -> None:
    draft = model()
    guessing = drafter(draft)
    assert guessing.behind(TEXT) == len(TEXT) - 1
    guessing.catch_up(TEXT)
    assert guessing.behind(TEXT) == 0
    assert guessing.behind([*TEXT, 7, 0]) == 2


def test_a_review_reads_what_was_missed_and_judges_the_latest_of_it() -> None:
    draft = model()
    guessing = drafter(draft)
    guessing.catch_up(TEXT[:3])
    chances = [0.9, 0.05]
    review = guessing.review(TEXT, chances)
    assert draft.tokens == TEXT[:-1]
    assert draft.passes == [2, 3]
    assert review.read == 3
    assert review.confidences == pytest.approx([sureness(TEXT[:-2]), sureness(TEXT[:-1])])
    likely = [law(TEXT[:-2])[TEXT[-2]], law(TEXT[:-1])[TEXT[-1]]]
    assert review.labels == pytest.approx([min(1, q / p) for q, p in zip(likely, chances, strict=True)])
    assert guessing.behind(TEXT) == 0


def test_of_more_chances_than_were_missed_the_latest_count() -> None:
    guessing = drafter(model())
    guessing.catch_up(TEXT[:-1])
    review = guessing.review(TEXT, [0.5, 0.5, 0.01])
    assert len(review.labels) == review.read == 1
    assert review.labels[0] == 1, "the chance is the token's own"


def test_a_review_without_chances_only_reads() -> None:
    guessing = drafter(model())
    assert guessing.review(TEXT, []) == Review(len(TEXT) - 1, [], [])
    assert guessing.review(TEXT, [0.5]) == Review(0, (), ()), "there is nothing left to read"


def test_a_text_beyond_the_drafts_context_is_not_reviewed() -> None:
    draft = model(n_ctx=4)
    assert drafter(draft).review(TEXT, [0.5]) == Review(0, (), ())
    assert draft.passes == []


def test_labels_average_to_the_overlap_of_the_laws() -> None:
    """min(1, q(x)/p(x)) for x drawn from p is Σₓ min(p, q) on average: here for every x, weighed by p."""
    p = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
    q = law(TEXT)
    mean = 0.0
    for token, chance in enumerate(p):
        guessing = drafter(model())
        guessing.catch_up(TEXT)
        (label,) = guessing.review([*TEXT, token], [chance]).labels
        mean += chance * label
    assert mean == pytest.approx(np.minimum(p, q).sum())


def test_greedy_labels_say_whether_the_likeliest_token_came() -> None:
    likeliest = int(law(TEXT).argmax())
    for token in range(V):
        guessing = drafter(model(), Sampling(temperature=0))
        guessing.catch_up(TEXT)
        assert guessing.review([*TEXT, token], [1.0]).labels == [float(token == likeliest)]


def test_tokens_the_draft_lacks_are_never_right() -> None:
    guessing = drafter(model(), vocabulary=6)
    guessing.catch_up(TEXT)
    assert guessing.review([*TEXT, 7], [0.5]).labels == [0.0]


def test_what_the_target_could_not_have_written_counts_as_wrong() -> None:
    guessing = drafter(model())
    guessing.catch_up(TEXT)
    assert guessing.review([*TEXT, 7], [0.0]).labels == [0.0]


def test_a_review_penalises_as_guessing_would() -> None:
    sampling = replace(HOT, repeat_penalty=1.5, presence_penalty=1.0, penalty_window=3)
    guessing = drafter(model(), sampling)
    guessing.catch_up(TEXT)
    penalised = SamplingChain(sampling).distribution(LOGITS(tuple(TEXT)).astype(np.float32), TEXT[-3:])
    assert penalised.probability(TEXT[-1]) < law(TEXT)[TEXT[-1]]
    (label,) = guessing.review([*TEXT, TEXT[-1]], [1.0]).labels
    assert label == pytest.approx(penalised.probability(TEXT[-1]))


def test_guesses_after_a_review_read_only_the_last_token() -> None:
    draft = model()
    guessing = drafter(draft)
    guessing.review(TEXT, [0.5])
    proposal = guessing.propose(TEXT, 2)
    assert (proposal.caught_up, draft.passes) == (0, [5, 1, 1])
    guessing.learn([*TEXT, *proposal.tokens, 7])
    assert draft.tokens == [*TEXT, proposal.tokens[0]]


def test_a_long_sleep_is_read_in_chunks_that_may_be_stopped() -> None:
    asked: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> bool:
        asked.append((done, total))
        return True

    draft = model(n_batch=4)
    guessing = ModelDrafter(draft, SamplingChain(HOT), np.random.default_rng(0), V, RoundCosts(), progress)
    assert len(guessing.review(TEXT, [0.5] * 9).labels) == 4
    assert asked == [(0, 5)]
