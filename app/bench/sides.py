"""What is run against what, and in which order, so that nothing but the draft makes the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specchat.app.bench.choices import GammaChoice
from specchat.app.bench.prompts import Prompt
from specchat.models.engine.messages import DrafterName
from specchat.settings.values import Gamma

LOOKUP = "lookup"
"""Names prompt lookup where else a draft's file is named."""

SWEEP: tuple[Gamma, ...] = (1, 3, 5, 7, 11, 15, "auto")
"""Guesses a round that a sweep tries; plain decoding is run anyway."""


@dataclass(frozen=True, slots=True)
class Side:
    """One way of writing: who guesses, and how many tokens a round.

    `draft` is a file, `LOOKUP`, or empty for the target alone.
    """

    draft: str
    gamma: Gamma

    @property
    def drafter(self) -> DrafterName:
        """Who guesses, as the engine names it. Where γ is chosen, a draft model is helped by lookup, as in the chat."""
        if not self.draft:
            return "none"
        if self.draft == LOOKUP:
            return "lookup"
        return "both" if self.gamma == "auto" else "model"


PLAIN = Side("", 0)


@dataclass(frozen=True, slots=True)
class Step:
    """One reply to be written. `loaded` is the draft's file that is loaded meanwhile, or empty."""

    loaded: str
    side: Side
    prompt: Prompt
    repeat: int


def gammas(choice: GammaChoice) -> tuple[Gamma, ...]:
    """The numbers of guesses that are tried."""
    return SWEEP if choice == "sweep" else (choice,)


def plan(drafts: Sequence[str], choices: Sequence[Gamma], prompts: Sequence[Prompt], repeats: int) -> tuple[Step, ...]:
    """Every reply of a benchmark, in order. `drafts` (at least one, each once) are files and `LOOKUP`.

    Each draft's file is loaded with a plain side of its own, so that whatever drifts between two loads (heat, other
    programs) is on both sides of a comparison; lookup needs no file and goes with the first. From one repeat to the
    next the order of everything is turned round, and from one prompt to the next the sides take turns.
    """
    files = [draft for draft in drafts if draft != LOOKUP] or [""]
    steps: list[Step] = []
    for repeat in range(repeats):
        for file in files[:: _direction(repeat)]:
            guessing = [draft for draft in drafts if draft == file or (draft == LOOKUP and file == files[0])]
            sides = [PLAIN, *(Side(draft, gamma) for draft in guessing for gamma in choices)]
            for number, prompt in enumerate(prompts):
                steps += (Step(file, side, prompt, repeat) for side in _turns(sides, number, repeat))
    return tuple(steps)


def _turns(sides: Sequence[Side], number: int, repeat: int) -> Sequence[Side]:
    """The sides for a prompt: begun at another one for each prompt and each two repeats."""
    start = (number + repeat // 2) % len(sides)
    return [*sides[start:], *sides[:start]][:: _direction(repeat)]


def _direction(repeat: int) -> int:
    return -1 if repeat % 2 else 1
