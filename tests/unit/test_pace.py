"""A fixed number of guesses, by whoever is to guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from specchat.models.decoding.distribution import one_hot
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.pace import STRONG_MATCH, FixedPace, Outcome

TEXT = [1, 2, 3]
OUTCOME = Outcome((), (), (), (), 1.0)
STRONG = STRONG_MATCH / (STRONG_MATCH + 1)


@dataclass
class Drafter:
    """Guesses at most `room` tokens, with one confidence."""

    name: str
    confidence: float = 0.9
    room: int = 9
    asked: list[int] = field(default_factory=list)
    learnt: list[int] = field(default_factory=list)

    def propose(self, text: Sequence[int], most: int) -> Proposal:  # noqa: ARG002
        self.asked.append(most)
        tokens = tuple(range(min(most, self.room)))
        reason = "" if tokens else "no_match"
        laws, confidences = tuple(map(one_hot, tokens)), (self.confidence,) * len(tokens)
        return Proposal(self.name, tokens, laws, confidences, reason=reason)  # type: ignore[arg-type]

    def learn(self, text: Sequence[int]) -> None:
        self.learnt.append(len(text))


def test_a_fixed_number_is_kept_where_there_is_room() -> None:
    pace = FixedPace(3, None, Drafter("model"))
    proposal = pace.propose(TEXT, 8)
    assert (proposal.drafter, len(proposal.tokens), proposal.reason, proposal.width) == ("model", 3, "fixed", 0)
    proposal = pace.propose(TEXT, 2)
    assert (len(proposal.tokens), proposal.reason) == (2, "room")
    assert FixedPace(3, None, Drafter("model", room=1)).propose(TEXT, 8).reason == "room"


def test_a_drafter_may_have_its_own_reason() -> None:
    assert FixedPace(3, Drafter("lookup", room=0), None).propose(TEXT, 8).reason == "no_match"
    assert FixedPace(3, None, None).propose(TEXT, 8) == Proposal(reason="no_drafter")


@pytest.mark.parametrize(
    ("confidence", "room", "drafter"),
    [(STRONG, 9, "lookup"), (0.99, 2, "lookup"), (STRONG - 0.001, 9, "model"), (0.9, 0, "model")],
    ids=["strong enough", "strong and short", "weak", "no match"],
)
def test_of_both_lookup_guesses_where_it_is_strong(confidence: float, room: int, drafter: str) -> None:
    lookup, model = Drafter("lookup", confidence, room), Drafter("model")
    proposal = FixedPace(3, lookup, model).propose(TEXT, 8)
    assert proposal.drafter == drafter
    assert model.asked == ([3] if drafter == "model" else [])


@pytest.mark.parametrize("confidence", [0.5, 0.99])
def test_whoever_guessed_learns_what_became_of_it(confidence: float) -> None:
    lookup, model = Drafter("lookup", confidence), Drafter("model")
    pace = FixedPace(3, lookup, model)
    pace.learn([*TEXT, 4], pace.propose(TEXT, 8), OUTCOME)
    assert (lookup.learnt, model.learnt) == (([4], []) if confidence > STRONG else ([], [4]))
    pace.learn([*TEXT, 4, 5], Proposal(reason="room"), OUTCOME)
    assert len(lookup.learnt) + len(model.learnt) == 1
