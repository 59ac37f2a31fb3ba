"""Guesses without a second model: looked up in the text itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specchat.models.decoding.distribution import one_hot
from specchat.models.decoding.drafters import Proposal


@dataclass(frozen=True, slots=True)
class _Match:
    """An earlier place, `end`, where the `length` tokens before it are those at the text's end."""

    end: int
    length: int


class LookupDrafter:
    """Prompt lookup: what followed the last time the text said the same (Saxena 2023; Yang et al. 2023).

    Takes the longest match of the text's end, the latest of equals, at least `shortest` tokens long; lengths above
    `longest` are equal, and of all matches the latest `candidates` are looked at. Its law is certain of each guess, so
    a guess is accepted with the target's own probability of it.
    """

    name = "lookup"

    def __init__(self, shortest: int = 2, longest: int = 16, candidates: int = 32) -> None:
        self._shortest = shortest
        self._longest = longest
        self._candidates = candidates
        self._read = 0
        self._ends: dict[tuple[int, ...], list[int]] = {}

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """See `Drafter`. A match that runs into the text's end goes on with the guesses themselves.

        The confidence of a guess is the share of matches that go on with it. Longer ones weigh more, and one more
        match, of weight 1/length, is taken to go on in another way: it is 2/3 after a single match of two tokens.
        """
        matches = self._matches(text)
        if not matches:
            return Proposal(self.name, reason="no_match")
        best = max(matches, key=lambda match: match.length)
        extended = list(text)
        confidences = []
        for i in range(most):
            extended.append(extended[best.end + i])
            alike = [match for match in matches if extended[match.end + i] == extended[-1]]
            weight, rest = _weight(alike), 1 / (best.length + i)
            confidences.append(weight / (_weight(matches) + rest * best.length))
            matches = alike
        tokens = tuple(extended[len(text) :])
        return Proposal(self.name, tokens, tuple(map(one_hot, tokens)), tuple(confidences))

    def learn(self, text: Sequence[int]) -> None:
        """Index the text's new end."""
        for end in range(max(self._read + 1, self._shortest), len(text)):
            self._ends.setdefault(tuple(text[end - self._shortest : end]), []).append(end)
        self._read = len(text) - 1

    def _matches(self, text: Sequence[int]) -> list[_Match]:
        """Earlier occurrences of the text's end, the latest first."""
        if self._read < len(text) - 1:
            self.learn(text)
        ends = self._ends.get(tuple(text[-self._shortest :]), [])[-self._candidates :]
        return [_Match(end, self._length(text, end)) for end in reversed(ends)]

    def _length(self, text: Sequence[int], end: int) -> int:
        length = self._shortest
        while length < self._longest and length < end and text[end - length - 1] == text[-length - 1]:
            length += 1
        return length


def _weight(matches: Sequence[_Match]) -> int:
    return sum(match.length for match in matches)
