"""What auto makes of lookup, and when it wakes a draft that sleeps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from specchat.models.decoding.auto_pace import (
    LONGEST_SLEEP,
    REVIEW_ROWS,
    REVIEW_SHARE,
    SHORTEST_SLEEP,
)
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model_drafter import Review
from specchat.settings.values import MAX_GAMMA
from support.pace_scene import DEAR, EVEN, RUN, STEEP, Draft, Lookup, Scene

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
