"""Auto's choices, round by round, with drafters that say what they are told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from specchat.models.decoding.auto_pace import (
    LONGEST_SLEEP,
    MEASURED_ROUNDS,
    REVIEW_ROWS,
    REVIEW_SHARE,
    SHORTEST_SLEEP,
    AutoPace,
    Beliefs,
)
from specchat.models.decoding.cost import FRESH_SECONDS
from specchat.models.decoding.distribution import one_hot
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model_drafter import EVERY_STEP, Review, Steps
from specchat.models.decoding.pace import Outcome
from specchat.models.decoding.round_cost import RoundCosts
from specchat.settings.values import MAX_GAMMA
from support.clock import Clock

EVEN = {width: 1.0 + 0.2 * (width - 1) for width in range(1, MAX_GAMMA + 2)}
"""Seconds of a target pass: each further token costs a fifth of the first."""
STEEP = EVEN | {width: EVEN[4] + 0.8 * (width - 4) for width in range(5, MAX_GAMMA + 2)}
"""Beyond four tokens each costs nearly as much as the first."""
DEAR = {width: float(width) for width in range(1, MAX_GAMMA + 2)}
"""Nothing pays."""
RUN = 0.05
TEXT = list(range(40))
NO_REVIEW = Review(0, (), ())


@dataclass
class Lookup:
    """Finds the same guesses each time."""

    confidences: Sequence[float] = ()
    tokens: Sequence[int] = ()
    name: str = "lookup"
    learnt: list[int] = field(default_factory=list)

    def propose(self, text: Sequence[int], most: int) -> Proposal:  # noqa: ARG002
        if not self.confidences:
            return Proposal(self.name, reason="no_match")
        tokens = tuple(self.tokens or range(900, 900 + len(self.confidences)))
        return Proposal(self.name, tokens, tuple(map(one_hot, tokens)), tuple(self.confidences)).first(most)

    def learn(self, text: Sequence[int]) -> None:
        self.learnt.append(len(text))


@dataclass
class Draft:
    """Is as sure of its guesses as it is told to be; remembers what it was asked."""

    confidences: Sequence[float] = (0.9,) * MAX_GAMMA
    reviewed: Review = NO_REVIEW
    missing: int = 0
    name: str = "model"
    usable: bool = True
    asked: list[str] = field(default_factory=list)
    chances: list[float] = field(default_factory=list)

    def behind(self, text: Sequence[int]) -> int:  # noqa: ARG002
        return self.missing

    def review(self, text: Sequence[int], chances: Sequence[float]) -> Review:  # noqa: ARG002
        self.asked.append("review")
        self.chances[:] = chances
        return self.reviewed

    def propose(self, text: Sequence[int], most: int, steps: Steps = EVERY_STEP) -> Proposal:  # noqa: ARG002
        self.asked.append("propose")
        made: list[float] = []
        while len(made) < most and steps.runs() and steps.takes(self.confidences[len(made)]):
            made.append(self.confidences[len(made)])
        tokens = tuple(range(800, 800 + len(made)))
        return Proposal(self.name, tokens, tuple(map(one_hot, tokens)), tuple(made), len(made), 2)

    def learn(self, text: Sequence[int]) -> None:  # noqa: ARG002
        self.asked.append("learn")


@dataclass
class Scene:
    """A pace with what it knows and whom it asks."""

    passes: dict[int, float] = field(default_factory=EVEN.copy)
    lookup: Lookup | None = None
    draft: Draft | None = None
    typical: float = 0.9

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.costs = RoundCosts(self.clock)
        self.beliefs = Beliefs()
        self.text = list(TEXT)
        for width, seconds in 10 * list(self.passes.items()):
            self.costs.target.add(width, 0, seconds)
        self.costs.draft.add(1, 0, RUN)
        for _ in range(200):
            self.beliefs.model.learn(self.typical, 0, self.typical)
        self.pace = AutoPace(self.costs, self.beliefs, self.lookup, self.draft)

    def propose(self, most: int = MAX_GAMMA) -> Proposal:
        return self.pace.propose(self.text, most)

    def learn(self, proposal: Proposal, overlaps: Sequence[float] = (), written: Sequence[int] = (1,)) -> None:
        """The round of `proposal` wrote something, with chances of a half."""
        reached = [1.0]
        for overlap in overlaps:
            reached.append(reached[-1] * overlap)
        self.text += written
        halves = [0.5] * len(written)
        self.pace.learn(self.text, proposal, Outcome(overlaps, reached[:-1], written, halves, self.passes[1]))

    def decode_plainly(self, tokens: int) -> None:
        """So many rounds that guess nothing."""
        for _ in range(tokens):
            proposal = self.propose()
            assert not proposal.tokens
            self.learn(proposal)


# ------------------------------------------------------------------ measuring


def test_before_anything_is_known_it_measures() -> None:
    draft = Draft()
    pace = AutoPace(RoundCosts(Clock()), Beliefs(), Lookup([0.99]), draft)
    assert pace.propose(TEXT, 8) == Proposal(reason="measuring")
    assert draft.asked == []


def test_after_a_while_it_measures_again() -> None:
    scene = Scene(draft=Draft())
    assert scene.propose().tokens
    scene.clock.now += FRESH_SECONDS + 1
    for _ in range(MEASURED_ROUNDS):
        proposal = scene.propose()
        assert proposal == Proposal(reason="measuring")
        scene.learn(proposal)
        scene.costs.target.add(1, len(scene.text), 1.0)
    assert scene.propose().tokens


def test_it_measures_at_each_depth() -> None:
    scene = Scene(draft=Draft())
    scene.text = [1] * 5000
    assert scene.propose().reason == "measuring"


# ------------------------------------------------------------------ the model


def test_a_sure_draft_guesses_until_a_further_guess_would_cost_more() -> None:
    scene = Scene(draft=Draft([0.9] * 3 + [0.1] * 29))
    proposal = scene.propose()
    assert (proposal.drafter, len(proposal.tokens), proposal.reason) == ("model", 3, "unsure")
    scene = Scene(STEEP, draft=Draft())
    proposal = scene.propose()
    assert (len(proposal.tokens), proposal.reason) == (3, "costly")


def test_the_most_guesses_of_a_round_and_the_room_there_is() -> None:
    flat = dict.fromkeys(EVEN, 1.0)
    sure = Draft([0.998] * MAX_GAMMA)
    scene = Scene(flat, draft=sure, typical=0.99)
    scene.costs.draft = RoundCosts(scene.clock).draft
    scene.costs.forget_draft(0.001)
    proposal = scene.propose(MAX_GAMMA + 10)
    assert (len(proposal.tokens), proposal.reason) == (MAX_GAMMA, "most")
    proposal = scene.propose(3)
    assert (len(proposal.tokens), proposal.reason) == (3, "room")


def test_nothing_is_asked_of_a_draft_that_does_not_pay() -> None:
    draft = Draft(missing=3)
    scene = Scene(DEAR, draft=draft)
    assert scene.propose() == Proposal(reason="plain", width=1)
    assert draft.asked == []


def test_the_draft_learns_what_became_of_its_guesses() -> None:
    draft = Draft()
    scene = Scene(draft=draft)
    proposal = scene.propose(2)
    before = scene.beliefs.model.alpha(0.9, 0)
    scene.learn(proposal, [0.1, 0.9])
    assert draft.asked == ["propose", "learn"]
    assert scene.beliefs.model.alpha(0.9, 0) < before


def test_guesses_that_are_hardly_ever_reached_teach_nothing() -> None:
    one, two = Scene(draft=Draft()), Scene(draft=Draft())
    one.learn(one.propose(2), [0.01, 0.9])
    two.learn(two.propose(2), [0.01, 0.0])
    assert one.beliefs.model.alpha(0.9, 1) == two.beliefs.model.alpha(0.9, 1)


def test_a_draft_that_is_never_sure_is_let_alone() -> None:
    draft = Draft([0.01] * MAX_GAMMA)
    scene = Scene(draft=draft, typical=0.7)
    reasons = []
    for _ in range(100):
        proposal = scene.propose()
        reasons.append(proposal.reason)
        scene.learn(proposal)
    assert reasons[0] == "unsure"
    assert reasons[-1] == "plain"


def test_a_draft_that_failed_is_not_asked() -> None:
    scene = Scene(draft=Draft(usable=False))
    assert scene.propose() == Proposal(reason="no_drafter", width=1)
    scene = Scene(lookup=Lookup(), draft=Draft(usable=False))
    assert scene.propose() == Proposal(reason="no_match", width=1)
    scene = Scene(lookup=Lookup([0.99]), draft=Draft(usable=False))
    assert scene.propose().drafter == "lookup"


def test_without_any_drafter_nobody_guesses() -> None:
    assert Scene().propose() == Proposal(reason="no_drafter", width=1)


# ------------------------------------------------------------------ lookup


def test_lookup_guesses_first_where_it_is_sure() -> None:
    scene = Scene(lookup=Lookup([0.99] * 8), draft=Draft())
    proposal = scene.propose()
    assert (proposal.drafter, len(proposal.tokens), proposal.draft_runs) == ("lookup", 8, 0)
    assert scene.draft is not None
    assert scene.draft.asked == []


def test_the_model_guesses_where_lookup_is_not_sure() -> None:
    scene = Scene(lookup=Lookup([0.3] * 8), draft=Draft())
    assert scene.propose().drafter == "model"
    scene = Scene(lookup=Lookup(), draft=Draft())
    assert scene.propose().drafter == "model"


def test_the_model_guesses_where_it_is_expected_to_bring_more() -> None:
    assert Scene(lookup=Lookup([0.95])).propose().tokens, "the only guess that was found would pay"
    assert Scene(lookup=Lookup([0.95]), draft=Draft()).propose().drafter == "model"


def test_lookup_makes_as_many_guesses_as_pay() -> None:
    proposal = Scene(STEEP, lookup=Lookup([0.99] * 8)).propose()
    assert (len(proposal.tokens), proposal.reason) == (3, "costly")
    proposal = Scene(lookup=Lookup([0.99] * MAX_GAMMA)).propose(5)
    assert (len(proposal.tokens), proposal.reason) == (5, "room")


def test_lookup_alone_says_why_it_guesses_nothing() -> None:
    assert Scene(lookup=Lookup()).propose().reason == "no_match"
    assert Scene(DEAR, lookup=Lookup([0.3])).propose().reason == "plain"


def test_lookups_guesses_teach_what_became_of_them() -> None:
    scene = Scene(lookup=Lookup([0.9] * 3))
    before = scene.beliefs.lookup.alpha(0.9, 0)
    proposal = scene.propose()
    scene.learn(proposal, [0.0] * len(proposal.tokens))
    assert scene.beliefs.lookup.alpha(0.9, 0) < before


@pytest.mark.parametrize(("written", "right"), [((900, 901), True), ((7,), False)])
def test_what_lookup_would_have_guessed_teaches_too(written: tuple[int, ...], right: bool) -> None:
    scene = Scene(lookup=Lookup([0.2] * 4), draft=Draft())
    before = [scene.beliefs.lookup.alpha(0.2, place) for place in range(3)]
    proposal = scene.propose()
    assert proposal.drafter == "model"
    scene.learn(proposal, [0.9] * len(proposal.tokens), written)
    after = [scene.beliefs.lookup.alpha(0.2, place) for place in range(3)]
    assert all((new > old) is right for new, old in zip(after, before, strict=True))


def test_nothing_is_learnt_of_lookup_behind_its_first_wrong_guess() -> None:
    one, two = (Scene(DEAR, lookup=Lookup([0.2, 0.6], [1, token])) for token in (2, 3))
    for scene in (one, two):
        scene.learn(scene.propose(), written=(9, 2))
    assert one.beliefs.lookup.alpha(0.6, 1) == two.beliefs.lookup.alpha(0.6, 1)


# ------------------------------------------------------------------ reviews

GOOD = Review(SHORTEST_SLEEP, [0.9] * REVIEW_ROWS, [1.0] * REVIEW_ROWS)
BAD = replace(GOOD, labels=[0.0] * REVIEW_ROWS)


def asleep(review: Review, passes: dict[int, float] = EVEN, seconds: float = 2 * RUN) -> Scene:
    """A scene whose draft has just been found hopeless, which needs not be forever; a review takes `seconds`."""
    scene = Scene(passes, draft=Draft(reviewed=review), typical=0.1)
    for _ in range(20):
        scene.costs.draft.add(SHORTEST_SLEEP, 0, seconds)
    return scene


def existing(draft: Draft | None) -> Draft:
    assert draft is not None
    return draft


def test_a_sleeping_draft_is_reviewed_once_enough_is_written() -> None:
    scene = asleep(BAD)
    draft = existing(scene.draft)
    scene.decode_plainly(SHORTEST_SLEEP)
    draft.missing = SHORTEST_SLEEP - 1
    assert scene.propose() == Proposal(reason="plain", width=1)
    draft.missing = SHORTEST_SLEEP
    assert scene.propose() == Proposal(reason="plain", width=1, caught_up=SHORTEST_SLEEP)
    assert draft.asked == ["review"]
    assert draft.chances == [0.5] * min(REVIEW_ROWS, SHORTEST_SLEEP)


def test_a_good_review_wakes_the_draft_up_at_once() -> None:
    scene = asleep(GOOD)
    draft = existing(scene.draft)
    scene.decode_plainly(SHORTEST_SLEEP)
    draft.missing = SHORTEST_SLEEP
    proposal = scene.propose()
    assert draft.asked == ["review", "propose"]
    assert proposal.drafter == "model"
    assert proposal.tokens
    assert proposal.caught_up == SHORTEST_SLEEP + 2


def test_each_review_in_vain_doubles_the_sleep() -> None:
    scene = asleep(BAD)
    draft, reviews = existing(scene.draft), []
    for written in range(4 * LONGEST_SLEEP):
        draft.missing = written - (reviews[-1] if reviews else 0)
        before = len(draft.asked)
        scene.decode_plainly(1)
        if len(draft.asked) > before:
            reviews.append(written)
    sleeps = [after - before for before, after in pairwise([0, *reviews])]
    assert sleeps == [min(SHORTEST_SLEEP * 2**n, LONGEST_SLEEP) for n in range(len(sleeps))]
    assert sleeps[-1] == LONGEST_SLEEP


def test_a_draft_that_was_woken_up_is_looked_at_as_soon_as_at_first_when_it_fails_again() -> None:
    scene = asleep(BAD)
    draft = existing(scene.draft)
    scene.decode_plainly(SHORTEST_SLEEP)
    draft.missing = SHORTEST_SLEEP
    scene.decode_plainly(1)
    draft.missing, draft.reviewed = 2 * SHORTEST_SLEEP, GOOD
    assert scene.propose().tokens
    for _ in range(200):
        scene.beliefs.model.learn(0.9, 0, 0.0)
    draft.missing, draft.reviewed = SHORTEST_SLEEP, BAD
    scene.decode_plainly(1)
    assert draft.asked == ["review", "review", "propose", "review"]


def test_a_review_that_costs_too_much_waits() -> None:
    scene = asleep(BAD, {width: seconds / 10 for width, seconds in EVEN.items()}, seconds=0.8)
    draft = existing(scene.draft)
    draft.missing = SHORTEST_SLEEP
    scene.decode_plainly(round((0.8 - 0.2) / (REVIEW_SHARE * 0.1)) - 30)
    assert draft.asked == []
    scene.decode_plainly(60)
    assert draft.asked == ["review"]


def test_text_that_was_written_without_the_pace_has_no_chances() -> None:
    scene = asleep(BAD)
    draft = existing(scene.draft)
    scene.decode_plainly(SHORTEST_SLEEP)
    scene.text += [1, 2, 3]
    draft.missing = SHORTEST_SLEEP + 3
    scene.decode_plainly(1)
    assert draft.asked == [], "there was nothing to compare with"
    scene.decode_plainly(1)
    assert draft.chances == [0.5]


# ------------------------------------------------------------------ padding


def test_the_passes_cheapest_width_comes_with_the_guesses() -> None:
    passes = EVEN | {2: 1.72, 3: 1.94, 4: 1.57}
    assert Scene(passes, lookup=Lookup([0.99])).propose().width == 4
    assert Scene(passes, lookup=Lookup([0.99] * 3)).propose().width == 4
    assert Scene(EVEN, lookup=Lookup([0.99])).propose().width == 2
    assert Scene(passes | {1: 2.0}).propose() == Proposal(reason="no_drafter", width=4)


def test_a_measuring_round_is_never_padded() -> None:
    scene = Scene(EVEN | {1: 2.0, 2: 1.0})
    scene.clock.now += FRESH_SECONDS + 1
    assert scene.propose() == Proposal(reason="measuring", width=0)
