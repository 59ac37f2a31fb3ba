"""A draft that fails doesn't take the reply with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.model import ContextFull, EvaluationFailed
from specchat.models.decoding.model_drafter import EVERY_STEP, ModelDrafter, Review, Steps

T = TypeVar("T")


class ForgivenDraft:
    """A `ModelDrafter` that guesses nothing more once it has failed, after telling why."""

    name = ModelDrafter.name

    def __init__(self, drafter: ModelDrafter, tell: Callable[[Exception], None]) -> None:
        self._drafter = drafter
        self._tell = tell
        self._failed = False

    @property
    def usable(self) -> bool:
        """Whether it hasn't failed."""
        return not self._failed

    def catch_up(self, text: Sequence[int]) -> None:
        """See `ModelDrafter`."""
        self._try(lambda: self._drafter.catch_up(text), None)

    def behind(self, text: Sequence[int]) -> int:
        """See `ModelDrafter`."""
        return self._try(lambda: self._drafter.behind(text), 0)

    def review(self, text: Sequence[int], chances: Sequence[float]) -> Review:
        """See `ModelDrafter`."""
        return self._try(lambda: self._drafter.review(text, chances), Review(0, (), ()))

    def propose(self, text: Sequence[int], most: int, steps: Steps = EVERY_STEP) -> Proposal:
        """See `Drafter`."""
        return self._try(lambda: self._drafter.propose(text, most, steps), Proposal(reason="no_drafter"))

    def learn(self, text: Sequence[int]) -> None:
        """See `Drafter`."""
        if not self._failed:
            self._drafter.learn(text)

    def _try(self, work: Callable[[], T], otherwise: T) -> T:
        if self._failed:
            return otherwise
        try:
            return work()
        except (EvaluationFailed, ContextFull) as error:
            self._failed = True
            self._tell(error)
            return otherwise
