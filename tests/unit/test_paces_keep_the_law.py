"""Whatever chooses the number of guesses, the text follows the target's law exactly: every outcome is enumerated.

The whole loop runs, with real drafters and paces; each of its draws is turned out in every possible way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from specchat.models.decoding import auto_pace
from specchat.models.decoding.auto_pace import AutoPace, Beliefs
from specchat.models.decoding.calibration import Calibration
from specchat.models.decoding.drafters import Drafter, Proposal
from specchat.models.decoding.model_drafter import ModelDrafter, Steps
from specchat.models.decoding.pace import FixedPace, Pace
from specchat.models.decoding.round_cost import RoundCosts
from specchat.models.decoding.rounds import Round
from specchat.models.decoding.sampling import SamplingChain
from specchat.models.decoding.verification import Rule, block_rule, token_rule
from specchat.models.engine.drafting import ForgivenDraft
from specchat.settings.values import Sampling
from support.clock import Clock, rule_decoding
from support.decoding import MakePace, Run, reply
from support.enumeration import outcomes
from support.fake_models import TimedModel, random_logits
from support.laws import paths

VOCABULARY, LENGTH = 3, 4
PROMPT = [0, 1, 2, 0, 1, 2, 0, 1]
TARGET, DRAFT = random_logits(1, VOCABULARY), random_logits(5, VOCABULARY, sharpness=1.5)
FREE = Sampling(temperature=1, top_k=0, top_p=1, min_p=0)
SAMPLINGS = {
    "free": FREE,
    "cut": replace(FREE, temperature=0.8, top_k=2),
    "penalties": replace(FREE, repeat_penalty=1.3, presence_penalty=0.3, penalty_window=4),
    "greedy": Sampling(temperature=0),
}
RULES = [pytest.param(token_rule, id="token"), pytest.param(block_rule, id="block")]

Law = dict[tuple[int, ...], float]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    rule_decoding(clock, monkeypatch)
    return clock


def exact_law(sampling: Sampling) -> Law:
    """The target's own law of all replies."""
    chain = SamplingChain(sampling)
    law = {}
    for path in paths(VOCABULARY, LENGTH):
        chance = 1.0
        for i, token in enumerate(path):
            text = [*PROMPT, *path[:i]]
            step = chain.distribution(TARGET(tuple(text)).astype(np.float32), chain.recent(text))
            chance *= step.probability(token)
        law[path] = chance
    return law


@dataclass
class Written:
    """The law of replies, and how often rounds guessed what: drafter, guesses, reason, tokens caught up with."""

    law: Law
    seen: Counter[tuple[str, int, str, int]] = field(default_factory=Counter)

    def error(self, sampling: Sampling) -> float:
        """The largest difference to the target's own law."""
        return max(abs(self.law[path] - chance) for path, chance in exact_law(sampling).items())

    @property
    def drafters(self) -> set[str]:
        return {drafter for drafter, *_ in self.seen}

    @property
    def counts(self) -> set[int]:
        return {guesses for _, guesses, *_ in self.seen}


MakeCosts = Callable[[Clock], RoundCosts]
MakeSteps = Callable[[], Steps]


def written(
    clock: Clock, rule: Rule, sampling: Sampling, make: Callable[[RoundCosts], MakePace], token: float = 0.5
) -> Written:
    """Every reply, by a pace that is made anew for each; a further token widens a pass by so much of the first."""

    def seconds(width: int) -> float:
        return 1 + token * (width - 1)

    def program() -> tuple[tuple[int, ...], list[Round]]:
        clock.now = 0.0
        costs = known_costs(clock, seconds)
        target = TimedModel(TARGET, VOCABULARY, clock, seconds)
        draft = TimedModel(DRAFT, VOCABULARY, clock, lambda width: 0.04 + 0.01 * width)
        run = Run(target, PROMPT, draft, 0, rule, sampling, most_tokens=LENGTH, costs=costs, pace=make(costs))
        outcome = reply(run)
        return tuple(outcome.tokens), outcome.rounds

    law: Law = defaultdict(float)
    result = Written(law)
    for (tokens, rounds), chance in outcomes(program):
        law[tokens] += chance
        result.seen.update((round.drafter, len(round.guesses), round.reason, round.caught_up) for round in rounds)
    assert sum(law.values()) == pytest.approx(1)
    return result


def known_costs(clock: Clock, seconds: Callable[[int], float]) -> RoundCosts:
    costs = RoundCosts(clock)
    for width in (1, 2, 3):
        costs.target.add(width, len(PROMPT), seconds(width))
    costs.draft.add(1, len(PROMPT), 0.05)
    return costs


# ------------------------------------------------------------------ steps of any kind


class SurePace:
    """A pace whose steps depend on all they may: the draft's law, and the guesses made so far."""

    def __init__(self, model: ModelDrafter, make_steps: MakeSteps) -> None:
        self._model = model
        self._make_steps = make_steps

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        return self._model.propose(text, most, self._make_steps())

    def learn(self, text: Sequence[int], _proposal: Proposal, _outcome: object) -> None:
        self._model.learn(text)


class SureSteps:
    """Runs on while the laws so far were sure enough together; takes what is sure enough by itself."""

    def __init__(self, least_run: float, least_take: float) -> None:
        self._least_run = least_run
        self._least_take = least_take
        self._sureness = 1.0

    def runs(self) -> bool:
        return self._sureness > self._least_run

    def takes(self, confidence: float) -> bool:
        self._sureness *= confidence
        return confidence > self._least_take


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS.keys())
@pytest.mark.parametrize(("least_run", "least_take"), [(0.7, 0.0), (0.0, 0.7), (0.5, 0.55)])
def test_stopping_by_the_drafts_laws_leaves_no_trace(
    clock: Clock, rule: Rule, sampling: Sampling, least_run: float, least_take: float
) -> None:
    def make(_costs: RoundCosts) -> MakePace:
        return lambda _lookup, model: SurePace(existing(model), lambda: SureSteps(least_run, least_take))

    result = written(clock, rule, sampling, make)
    assert result.error(sampling) < 1e-6
    if sampling is FREE:
        assert result.counts >= {0, 1, 2} if least_take else result.counts >= {1, 2}


class Peeking:
    """What must not be: drops a guess that turns out to be an unlikely one."""

    def __init__(self, model: ModelDrafter) -> None:
        self._model = model

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        proposal = self._model.propose(text, min(most, 1))
        return proposal.first(int(proposal.laws[0].probability(proposal.tokens[0]) > 0.3))

    def learn(self, text: Sequence[int], _proposal: Proposal, _outcome: object) -> None:
        self._model.learn(text)


def test_the_check_itself_notices_a_stop_that_depends_on_a_guesss_own_draw(clock: Clock) -> None:
    result = written(clock, block_rule, FREE, lambda _costs: lambda _lookup, model: Peeking(existing(model)))
    assert result.error(FREE) > 0.01


# ------------------------------------------------------------------ auto


def auto(intercept: float, *, model: bool = True) -> Callable[[RoundCosts], MakePace]:
    """Auto with both drafters, or lookup alone; the intercept is how much lookup is believed at first."""

    def make(costs: RoundCosts) -> MakePace:
        def pace(lookup: Drafter, drafter: ModelDrafter | None) -> Pace:
            beliefs = Beliefs(lookup=Calibration(intercept=intercept))
            return AutoPace(costs, beliefs, lookup, forgiven(existing(drafter)) if model else None)

        return pace

    return make


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS.keys())
def test_auto_with_both_drafters_leaves_no_trace(clock: Clock, rule: Rule, sampling: Sampling) -> None:
    result = written(clock, rule, sampling, auto(intercept=2.0))
    assert result.error(sampling) < 1e-6
    if sampling is FREE:
        assert result.drafters == {"", "model", "lookup"}
        assert len(result.counts) >= 3


@pytest.mark.parametrize("rule", RULES)
def test_auto_with_lookup_alone_leaves_no_trace(clock: Clock, rule: Rule) -> None:
    result = written(clock, rule, FREE, auto(intercept=2.0, model=False))
    assert result.error(FREE) < 1e-6
    assert result.drafters == {"", "lookup"}


@pytest.mark.parametrize("rule", RULES)
def test_reviews_leave_no_trace(clock: Clock, rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_pace, "SHORTEST_SLEEP", 1)
    monkeypatch.setattr(auto_pace, "REVIEW_SHARE", 1.0)
    result = written(clock, rule, FREE, auto(intercept=-3.0), token=0.7)
    assert result.error(FREE) < 1e-6
    assert ("", 0, "plain", 1) in result.seen, "nothing was reviewed in vain"
    assert ("model", 1, "room", 0) in result.seen, "and nothing came of a review"


# ------------------------------------------------------------------ both, with a fixed number


@pytest.mark.parametrize("rule", RULES)
def test_a_fixed_number_by_both_drafters_leaves_no_trace(clock: Clock, rule: Rule) -> None:
    def make(_costs: RoundCosts) -> MakePace:
        return lambda lookup, model: FixedPace(2, lookup, model)

    result = written(clock, rule, FREE, make)
    assert result.error(FREE) < 1e-6
    assert result.drafters == {"", "model", "lookup"}


def existing(model: ModelDrafter | None) -> ModelDrafter:
    assert model is not None
    return model


def forgiven(model: ModelDrafter) -> ForgivenDraft:
    def tell(error: Exception) -> None:
        raise error

    return ForgivenDraft(model, tell)
