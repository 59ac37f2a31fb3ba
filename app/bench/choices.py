"""What may be chosen of a benchmark beside the settings, declared as these are. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specchat.settings.schema import Setting, setting, settings_of
from specchat.settings.values import MAX_GAMMA, Gamma

GammaChoice = Gamma | Literal["sweep"]


@dataclass(frozen=True, slots=True)
class Choices:
    """How much is measured."""

    repeat: int = setting(
        3, "How often each prompt is answered by each side; from 2 on there are intervals.", minimum=1, maximum=1000
    )
    max_tokens: int = setting(128, "Most tokens in one reply.", minimum=1)
    gamma: GammaChoice = setting(
        "auto", "Guesses in a round; `sweep` tries 1, 3, 5, 7, 11, 15 and auto.", minimum=1, maximum=MAX_GAMMA
    )


CHOICES: tuple[Setting, ...] = settings_of("bench", Choices)

SETTLED = frozenset({"speculation.enabled", "speculation.gamma", "reply.max_tokens"})
"""Settings that a benchmark doesn't take from where the chat does: it has sides, and choices of its own."""
