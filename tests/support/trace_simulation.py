"""Writes recorded texts anew through the real paces, on a clock that only the simulated machine moves.

A trace is a text that a target wrote, with what a draft would have guessed at each of its positions. Two things are
approximate: the draft's confidences after a refused guess are those of the true text; and at temperatures above 0
whether a guess is accepted is drawn apart from the text, by its Σₓ min(p, q). Lookup's guesses are judged by the text
itself, which is exact: the target writes a token as often as it would have accepted that guess.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from specchat.models.decoding.auto_pace import AutoPace, Beliefs
from specchat.models.decoding.distribution import one_hot
from specchat.models.decoding.drafters import Proposal
from specchat.models.decoding.lookup_drafter import LookupDrafter
from specchat.models.decoding.model_drafter import EVERY_STEP, Review, Steps
from specchat.models.decoding.pace import FixedPace, Outcome, Pace
from specchat.models.decoding.round_cost import RoundCosts
from support.clock import Clock

GAMMAS = (0, 1, 3, 5, 7, 11, 15)
"""Fixed numbers of guesses that auto is compared with."""

_LAW = one_hot(0)


class Trace(msgspec.Struct, frozen=True, rename={"confidences": "conf", "overlaps": "alpha"}):
    """A text of the target's, by position: what the draft thought of it.

    `confidences` are `sampling.certainty` of the draft's logits, `accepted` says whether its guess was right (None
    above temperature 0), `overlaps` are Σₓ min(p, q).
    """

    kind: str
    temperature: float
    draft: str
    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    accepted: tuple[int | None, ...]
    overlaps: tuple[float, ...]


@dataclass(frozen=True)
class Machine:
    """What things take, in milliseconds: a target pass by its width, a run of the draft, each further token that the
    draft reads at once, and sampling from a row of logits. A measured time differs from the next by `noise`.
    """

    passes: dict[int, float]
    run: float
    read: float
    row: float
    noise: float = 0.03

    def seconds(self, width: int) -> float:
        """Of a target pass, on straight lines between the known ones."""
        return float(np.interp(width, list(self.passes), list(self.passes.values()))) / 1000


@dataclass(frozen=True)
class Written:
    """How a text came to be: seconds after each of its tokens, each round's reason and guesses, and the reviews:
    how many tokens were written by then, and the seconds each took.
    """

    times: tuple[float, ...]
    rounds: tuple[tuple[str, int], ...]
    reviews: tuple[tuple[int, float], ...]

    def rate(self, tokens: int | None = None) -> float:
        """Tokens a second, over the first `tokens`, or all."""
        known = self.times[:tokens]
        return len(known) / known[-1]


def load_traces(path: Path) -> list[Trace]:
    """The traces in a JSON file."""
    return msgspec.json.decode(path.read_bytes(), type=list[Trace])


@dataclass
class Simulation:
    """One reply. `model` and `lookup` say who may guess; with `gamma` None that is auto's choice."""

    trace: Trace
    machine: Machine
    gamma: int | None = None
    model: bool = True
    lookup: bool = False
    beliefs: Beliefs = field(default_factory=Beliefs)
    seed: int = 0
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.costs = RoundCosts(self.clock)
        self.reviews: list[tuple[int, float]] = []

    def write(self) -> Written:
        """Write the trace's text, but for a last round's room."""
        self._look_first()
        pace, begun = self._pace(), self.clock.now
        text, end = list(self.trace.prompt), len(self.trace.prompt) + len(self.trace.tokens)
        times: list[float] = []
        rounds: list[tuple[str, int]] = []
        while len(text) < end:
            start, most = self.clock.now, end - len(text) - 1
            proposal = pace.propose(text, most) if pace and most else Proposal()
            outcome = self._verify(proposal, len(text), start, plain_before=bool(rounds) and not rounds[-1][1])
            text += outcome.written
            if pace:
                pace.learn(text, proposal, outcome)
            times += [self.clock.now - begun] * len(outcome.written)
            rounds.append((proposal.reason, len(proposal.tokens)))
        return Written(tuple(times), tuple(rounds), tuple(self.reviews))

    def take(self, milliseconds: float) -> float:
        """Let time pass; the seconds that were measured."""
        seconds = milliseconds / 1000 * (1 + self.machine.noise * self.dice.uniform(-1, 1))
        self.clock.now += seconds
        return seconds

    def _look_first(self) -> None:
        """Know what a first look at the models shows."""
        for width in (1, 1, 1, 4, 8, 16):
            self.costs.target.add(width, 0, self.take(1000 * self.machine.seconds(width)))
        self.costs.draft.add(1, 0, self.take(self.machine.run))
        self.costs.draft.add(16, 0, self.take(self.machine.run + 15 * self.machine.read))

    def _pace(self) -> Pace | None:
        model = TracedDraft(self) if self.model else None
        lookup = LookupDrafter() if self.lookup else None
        if self.gamma is None:
            return AutoPace(self.costs, self.beliefs, lookup, model)
        return FixedPace(self.gamma, lookup, model) if self.gamma else None

    def _verify(self, proposal: Proposal, known: int, start: float, *, plain_before: bool) -> Outcome:
        place, count = known - len(self.trace.prompt), len(proposal.tokens)
        width = max(count + 1, proposal.width)
        passed, rest = self.take(1000 * self.machine.seconds(width)), self.take(self.machine.row * (count + 1))
        if width > 1 or plain_before:
            self.costs.target.add(width, known, passed)
            self.costs.add_rest(count + 1, rest)
        tokens = self.trace.tokens[place : place + count + 1]
        if proposal.drafter == "lookup":
            overlaps = [float(guess == token) for guess, token in zip(proposal.tokens, tokens, strict=False)]
        else:
            overlaps = list(self.trace.overlaps[place : place + count])
        accepted = 0
        while accepted < count and self._accepts(proposal, place + accepted, overlaps[accepted]):
            accepted += 1
        reached = np.append(1.0, np.cumprod(overlaps))[:count].tolist()
        written = tokens[: accepted + 1]
        return Outcome(overlaps, reached, written, [1.0] * len(written), self.clock.now - start)

    def _accepts(self, proposal: Proposal, place: int, overlap: float) -> bool:
        known = None if proposal.drafter == "lookup" else self.trace.accepted[place]
        return self.dice.random() < overlap if known is None else bool(known)


class TracedDraft:
    """A `SleepyDrafter` that guesses as a trace says."""

    name = "model"
    usable = True

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._trace = simulation.trace
        self._held = len(self._trace.prompt) - 1

    def behind(self, text: Sequence[int]) -> int:
        return len(text) - 1 - self._held

    def review(self, text: Sequence[int], chances: Sequence[float]) -> Review:
        behind = self.behind(text)
        rows, end = min(behind, len(chances)), len(text) - len(self._trace.prompt)
        begun = self._simulation.clock.now
        self._evaluate(behind)
        self._simulation.costs.add_reviewed(rows, self._simulation.take(self._simulation.machine.row * rows))
        self._simulation.reviews.append((end, self._simulation.clock.now - begun))
        latest = slice(end - rows, end)
        return Review(behind, self._trace.confidences[latest], self._trace.overlaps[latest])

    def propose(self, text: Sequence[int], most: int, steps: Steps = EVERY_STEP) -> Proposal:
        place, unread = len(text) - len(self._trace.prompt), self.behind(text) + 1
        caught_up, runs = unread - 1, 0
        confidences: list[float] = []
        while len(confidences) < most and steps.runs():
            self._evaluate(unread)
            runs, unread = runs + 1, 1
            confidence = self._trace.confidences[place + len(confidences)]
            if not steps.takes(confidence):
                break
            confidences.append(confidence)
        tokens = self._trace.tokens[place : place + len(confidences)]
        return Proposal(self.name, tokens, (_LAW,) * len(tokens), tuple(confidences), runs, caught_up if runs else 0)

    def learn(self, text: Sequence[int]) -> None:
        self._held = min(self._held, len(text) - 1)

    def _evaluate(self, count: int) -> None:
        machine = self._simulation.machine
        seconds = self._simulation.take(machine.run + (count - 1) * machine.read)
        self._simulation.costs.draft.add(count, self._held, seconds)
        self._held += count


def made_trace(parts: Sequence[tuple[int, str]], *, seed: int = 0, prompt: int = 32) -> Trace:
    """A text of some parts, each so many tokens long and to a draft `predictable`, `hopeless` (as sure of itself as
    can be) or `unsure`. No token comes twice.
    """
    dice = random.Random(seed)
    confidences: list[float] = []
    overlaps: list[float] = []
    for length, kind in parts:
        low, high = {"predictable": (0.9, 0.995), "hopeless": (0.2, 0.9), "unsure": (0.03, 0.3)}[kind]
        confidences += [dice.uniform(low, high) for _ in range(length)]
        overlaps += [
            dice.uniform(0.95, 1.0) if kind == "predictable" else dice.uniform(0.0, 0.05) for _ in range(length)
        ]
    tokens = tuple(range(prompt, prompt + len(overlaps)))
    unknown = (None,) * len(tokens)
    return Trace("made", 0.8, "made", tuple(range(prompt)), tokens, tuple(confidences), unknown, tuple(overlaps))
