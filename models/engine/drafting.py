"""A draft that fails doesn't take the reply with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from specchat.models.decoding.drafters import ModelDrafter, Proposal
from specchat.models.decoding.model import ContextFull, EvaluationFailed


class ForgivenDraft:
    """A `ModelDrafter` that guesses nothing more once it has failed, after telling why."""

    name = ModelDrafter.name

    def __init__(self, drafter: ModelDrafter, tell: Callable[[Exception], None]) -> None:
        self._drafter = drafter
        self._tell = tell
        self._failed = False

    def catch_up(self, text: Sequence[int]) -> None:
        """See `ModelDrafter`."""
        try:
            self._drafter.catch_up(text)
        except (EvaluationFailed, ContextFull) as error:
            self._give_up(error)

    def propose(self, text: Sequence[int], most: int) -> Proposal:
        """See `Drafter`."""
        if self._failed:
            return Proposal()
        try:
            return self._drafter.propose(text, most)
        except (EvaluationFailed, ContextFull) as error:
            self._give_up(error)
            return Proposal()

    def learn(self, text: Sequence[int]) -> None:
        """See `Drafter`."""
        if not self._failed:
            self._drafter.learn(text)

    def _give_up(self, error: Exception) -> None:
        self._failed = True
        self._tell(error)
