"""Page 2: a reply, round by round. What the draft guesses, what the target keeps, and what that saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from specchat.app.figures import number
from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.rows import Row, Span, cut, fact, joined, plain, quoted
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.words import _
from specchat.models import theory

MOST_GAMMA = 8
RUNS = 10_000
REFUSED = "strike dim"


@dataclass(frozen=True, slots=True)
class Text:
    """Tokens of a text, wrong guesses for each, and each draft's chances to guess right. The chances are made up."""

    tokens: Sequence[str]
    wrong: Sequence[str]
    good: Sequence[float]
    weak: Sequence[float]


# Each token stands alone, so that a translation keeps their number.
def _texts() -> tuple[Text, Text]:
    days = (_("Monday"), _("Tuesday"), _("Wednesday"), _("Thursday"), _("Friday"))
    answer = (*(token for day in days[:4] for token in (day, ",")), days[4], ".")
    line = (_("Love"), _("tastes"), _("like"), _("rain"), _("on"), _("an"), _("old"), _("tin"), _("roof"))
    return (
        Text(
            answer,
            (_("Sunday"), ".") * 5,
            (0.64, 0.93, 0.95, 0.97, 0.97, 0.97, 0.97, 0.97, 0.97, 0.97),
            (0.30, 0.75, 0.55, 0.80, 0.60, 0.80, 0.62, 0.82, 0.65, 0.90),
        ),
        Text(
            line,
            (_("The"), _("is"), _("a"), _("wine"), _("and"), _("the"), _("empty"), _("house"), _("can")),
            (0.40, 0.60, 0.70, 0.55, 0.75, 0.80, 0.60, 0.55, 0.75),
            (0.23, 0.43, 0.51, 0.43, 0.66, 0.70, 0.43, 0.41, 0.61),
        ),
    )


@dataclass(frozen=True, slots=True)
class ToyRound:
    """One pass: from which token of the text on, how many guesses, and how many of them were right."""

    start: int
    guesses: int
    kept: int


class RoundsToy:
    """A text written pass by pass with seeded dice."""

    missing = ""

    def __init__(self, text: int = 0, gamma: int = 4) -> None:
        self.text = text
        self.gamma = gamma
        self.is_good = text == 0
        self.seed = 1
        self.shown = 0
        """Passes that have been made."""

    @property
    def controls(self) -> Sequence[Control]:
        """Guesses, text, draft."""
        text = (_("predictable: the days"), _("open-ended: a line of verse"))[self.text]
        return [
            Control(_("γ, guesses in a pass"), str(self.gamma), self._change_gamma),
            Control(_("text"), text, self._change_text),
            Control(_("draft"), _("good") if self.is_good else _("weak"), self._change_draft),
        ]

    @property
    def deeds(self) -> Sequence[Deed]:
        """Go on, go to the end, begin anew."""
        return [
            Deed("space", _("one pass"), self._step),
            Deed("a", _("all"), self._finish),
            Deed("r", _("other dice"), self._reroll),
        ]

    @property
    def rounds(self) -> list[ToyRound]:
        """All passes of this text with these dice."""
        rng, chances, last = np.random.default_rng(self.seed), self._chances, len(self._chances) - 1
        rounds: list[ToyRound] = []
        at = 0
        while at <= last:
            guesses = min(self.gamma, last - at)
            kept = 0
            while kept < guesses and rng.random() < chances[at + kept]:
                kept += 1
            rounds.append(ToyRound(at, guesses, kept))
            at += kept + 1
        return rounds

    @property
    def average(self) -> theory.Average:
        """Passes of such a text, over many dice."""
        return _average(tuple(self._chances), self.gamma)

    def figure(self, width: int) -> list[Row]:
        """A row for each pass made, and the counters."""
        made = self.rounds[: self.shown]
        total = len(self._text.tokens)
        rows: list[Row] = [cut(self._row(number, round), width) for number, round in enumerate(made, 1)]
        if not made:
            rows = [plain(_("Nothing is written yet. Space makes the first pass."))]
        rows.append(
            joined(
                [
                    fact(_("target passes"), str(len(made))),
                    fact(_("tokens written"), f"{sum(round.kept + 1 for round in made)}/{total}"),
                    fact(_("draft runs"), str(sum(round.guesses for round in made))),
                ],
                " · ",
            )
        )
        said = _("{runs} such texts: {passes} passes on average; without a draft {total}")
        rows.append(((said.format(runs=f"{RUNS:,}", passes=number(self.average.mean), total=total), VALUE),))
        return rows

    def words(self) -> str:
        """What the latest pass did."""
        made = self.rounds[: self.shown]
        if not made:
            return _(
                "Two models write together. The draft is small and quick: it guesses the next γ tokens. The target is "
                "big and slow, and it decides: in one pass it checks all guesses, keeps them up to the first it "
                "refuses, and adds one token of its own. Guesses and pass are a round. The chances with which this "
                "draft guesses right are made up."
            )
        said = self._said(len(made), made[-1])
        if len(made) < len(self.rounds):
            return said
        done = _(
            "Done in {passes} passes. What is saved depends on how well the draft guesses: try other dice, the other "
            "draft, the other text. What is written is the target's in any case."
        )
        return f"{said} {done.format(passes=len(made))}"

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {
            "text": "".join("AB"[self.text]),
            "draft": "good" if self.is_good else "weak",
            "gamma": self.gamma,
            "tokens": len(self._text.tokens),
            "runs": RUNS,
            "passes_simulated": round(self.average.mean, 4),
            "passes_standard_error": round(self.average.error, 4),
            "passes_expected": round(theory.passes_needed(self._chances, self.gamma), 4),
            "passes_without": len(self._text.tokens),
        }

    @property
    def _text(self) -> Text:
        return _texts()[self.text]

    @property
    def _chances(self) -> Sequence[float]:
        return self._text.good if self.is_good else self._text.weak

    def _said(self, number: int, round: ToyRound) -> str:
        """What a pass did."""
        if not round.guesses:
            said = _("Pass {number} wrote the last token, for which nothing had to be guessed.")
        elif round.kept == round.guesses:
            said = _(
                "Pass {number}: the target kept every guess (✓) and added a token of its own (+): {tokens} tokens for "
                "the time of one."
            )
        elif round.kept:
            said = _(
                "Pass {number}: of {guesses} guesses the target kept {kept} (✓). It refused the next (✗), put its own "
                "token there (→), and dropped what was guessed after it (–): {tokens} tokens for the time of one."
            )
        else:
            said = _(
                "Pass {number}: the target refused the first guess (✗) and put its own token there (→). What was "
                "guessed after it is dropped (–). One token, as without a draft: this time the guessing was for "
                "nothing."
            )
        return said.format(number=number, guesses=round.guesses, kept=round.kept, tokens=round.kept + 1)

    def _row(self, number: int, round: ToyRound) -> Row:
        text = self._text
        spans: list[Span] = [(_("pass {number}").format(number=number).ljust(8), LABEL)]
        for place in range(round.start, round.start + round.kept):
            spans += [(" ✓", LABEL), (quoted(text.tokens[place]), ACCEPTED)]
        own = round.start + round.kept
        if round.kept < round.guesses:
            spans += [
                (" ✗", LABEL),
                (quoted(text.wrong[own]), REFUSED),
                (" →", LABEL),
                (quoted(text.tokens[own]), PLAIN),
            ]
            spans.append((" –" * (round.guesses - round.kept - 1), LABEL))
        else:
            spans += [(" +", LABEL), (quoted(text.tokens[own]), PLAIN)]
        return tuple(spans)

    def _step(self) -> None:
        self.shown = min(self.shown + 1, len(self.rounds))

    def _finish(self) -> None:
        self.shown = len(self.rounds)

    def _reroll(self) -> None:
        self.seed += 1
        self.shown = min(self.shown, len(self.rounds))

    def _change_gamma(self, by: int) -> None:
        self.gamma = step(self.gamma, by, 1, MOST_GAMMA)
        self.shown = min(self.shown, len(self.rounds))

    def _change_text(self, _by: int) -> None:
        self.text, self.shown = 1 - self.text, 0
        self.is_good = self.text == 0

    def _change_draft(self, _by: int) -> None:
        self.is_good = not self.is_good
        self.shown = min(self.shown, len(self.rounds))


@lru_cache(maxsize=64)
def _average(chances: tuple[float, ...], gamma: int) -> theory.Average:
    return theory.simulate_passes(chances, gamma, RUNS, seed=1)
