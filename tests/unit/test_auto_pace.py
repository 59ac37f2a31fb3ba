"""Auto's choices, round by round, with drafters that say what they are told to."""

from __future__ import annotations

from specchat.models.decoding.auto_pace import (
    MEASURED_ROUNDS,
    AutoPace,
    Beliefs,
)
from specchat.models.decoding.cost import FRESH_SECONDS
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.round_cost import RoundCosts
from specchat.settings.values import MAX_GAMMA
from support.clock import Clock
from support.pace_scene import DEAR, EVEN, STEEP, TEXT, Draft, Lookup, Scene

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
