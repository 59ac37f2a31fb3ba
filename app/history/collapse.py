"""Notices that a draft agrees far less with its target than it used to, by what is kept of both."""

from __future__ import annotations

from specchat.app.chats.records import Setup
from specchat.app.chats.store import Store
from specchat.app.history.chat_sums import kept_replies
from specchat.models.decoding.counters import Counters, Tally
from specchat.models.decoding.rounds import Round

LEAST_BEFORE = 300
"""Guesses of the draft in earlier chats below which there is no history to compare with."""
LEAST_NOW = 100
"""Guesses in this session below which nothing is said."""
COLLAPSE = 0.5
"""The α of this session is said to have collapsed below this share of the earlier one. Between the kinds of prompts of
`specchat bench` α differs by less than that for a draft of the same family."""


class Collapse:
    """Watches the rounds of this session, those that a draft model guessed in, against the earlier ones of its pair.

    By α and not by the acceptance rate, which falls with γ however good the draft is.
    """

    def __init__(self) -> None:
        self._before: dict[Setup, Counters] = {}
        self._now: dict[Setup, Tally] = {}
        self._has_told = False

    async def remember(self, store: Store, setup: Setup) -> None:
        """Read what earlier sessions say of a pair, once, before it writes. Raises `StoreError`."""
        if setup.draft and setup not in self._before:
            tally = Tally()
            async for reply in kept_replies(store, setup):
                for round in filter(_is_models, reply.rounds):
                    tally.add(round)
            self._before[setup] = tally.counters()

    def add(self, setup: Setup, round: Round) -> None:
        """Take in a round of this session."""
        if _is_models(round):
            self._now.setdefault(setup, Tally()).add(round)

    def take(self, setup: Setup) -> tuple[float, float] | None:
        """The draft's α now and before, once, where it has collapsed."""
        before, now = self._before.get(setup), self._now.get(setup)
        if self._has_told or before is None or now is None:
            return None
        counters = now.counters()
        if before.drafted < LEAST_BEFORE or counters.drafted < LEAST_NOW or not before.alpha or counters.alpha is None:
            return None
        if counters.alpha >= COLLAPSE * before.alpha:
            return None
        self._has_told = True
        return counters.alpha, before.alpha


def _is_models(round: Round) -> bool:
    return round.drafter == "model"
