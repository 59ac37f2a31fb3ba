"""Page 4: how much faster. The papers' formula, and what this machine makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from specchat.app.figures import number
from specchat.app.lab.costs import passes_missing
from specchat.app.lab.mine import Mine
from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.plot import columns
from specchat.app.lab.rows import Row, fact, joined
from specchat.app.words import _
from specchat.models import theory

MOST_GAMMA = 12
_DIGITS = 2
_CLOSE = 0.05
"""Share of a column within which a measured point is said to agree with it."""


class SpeedToy:
    """Three sliders."""

    missing = ""
    deeds: Sequence[Deed] = ()

    def __init__(self, alpha: float = 0.7, c: float = 0.1, gamma: int = 4) -> None:
        self.alpha, self.c, self.gamma = alpha, c, gamma

    @property
    def controls(self) -> Sequence[Control]:
        """γ, α and c."""
        return [
            Control(_("γ, guesses in a pass"), str(self.gamma), self._change_gamma),
            Control(_("α, share of guesses kept"), number(self.alpha, _DIGITS), self._change_alpha),
            Control(_("c, cost of a guess"), number(self.c, _DIGITS), self._change_c),
        ]

    @property
    def best(self) -> int:
        """The γ of the greatest speed-up; 0 if none helps."""
        return theory.best_gamma(self.alpha, self.c, MOST_GAMMA)

    @property
    def speed_up(self) -> float:
        """Times as fast as without a draft, with the γ that is set."""
        return float(theory.speed_up(self.alpha, self.gamma, self.c))

    def figure(self, width: int) -> list[Row]:
        """A column for each γ, and the chosen one's figures."""
        curve = theory.speed_up(self.alpha, np.arange(MOST_GAMMA + 1), self.c)
        each = float(theory.tokens_per_pass(self.alpha, self.gamma))
        facts = [
            fact(_("γ {gamma}:").format(gamma=self.gamma), _("{times}×").format(times=shown(self.speed_up))),
            fact(_("tokens a pass"), number(each, 2)),
            fact(_("time of a round"), _("{passes} passes").format(passes=number(1 + self.gamma * self.c, 2))),
            fact(_("best γ"), str(self.best)),
        ]
        return [*columns(list(curve), self.best, self.gamma, (), width), joined(facts, " · ")]

    def words(self) -> str:
        """Whether it helps, and why."""
        said = _("A guess is kept with a chance of α = {alpha} and costs c = {c} of a target pass. ")
        said += self._speed() + self._best() if theory.can_help(self.alpha, self.c) else self._no_help()
        return said.format(
            alpha=number(self.alpha, 2),
            c=number(self.c, 2),
            gamma=self.gamma,
            times=shown(self.speed_up),
            best=self.best,
        )

    def _speed(self) -> str:
        if not self.gamma:
            return _("With γ 0 nothing is guessed: that is writing without a draft. ")
        return _("With γ {gamma} writing is {times}× as fast as without a draft. ")

    def _best(self) -> str:
        """Which γ is best, and what the formula leaves out."""
        best = _(
            "A later guess is kept only if all before it were, yet it costs the same: so the best γ here is {best} "
            "(in brackets). "
        )
        if self.best == MOST_GAMMA:
            best = _("More guesses would bring more still: the best γ shown here is the last, {best} (in brackets). ")
        return best + _(
            "The formula assumes that each guess is kept with the same chance, whatever came before, and that checking "
            "costs one pass whatever γ is."
        )

    def _no_help(self) -> str:
        why = _(
            "A guess that costs as much as it can bring, or more, never pays: no γ helps unless α is greater than c. "
        )
        if shown(self.speed_up) != shown(1):
            return why + _("With γ {gamma} writing is {times}× as fast: slower than with no draft at all.")
        return why + _("With γ {gamma} writing is as fast as with no draft at all.")

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {
            "alpha": self.alpha,
            "c": self.c,
            "gamma": self.gamma,
            "tokens_per_pass": round(float(theory.tokens_per_pass(self.alpha, self.gamma)), 4),
            "speed_up": round(self.speed_up, 4),
            "best_gamma": self.best,
            "can_help": theory.can_help(self.alpha, self.c),
        }

    def _change_gamma(self, by: int) -> None:
        self.gamma = step(self.gamma, by, 0, MOST_GAMMA)

    def _change_alpha(self, by: int) -> None:
        self.alpha = step(round(20 * self.alpha), by, 0, 20) / 20

    def _change_c(self, by: int) -> None:
        self.c = step(round(20 * self.c), by, 0, 20) / 20


class SpeedMine:
    """α, c and V(γ+1) as measured, with the points that comparisons found."""

    deeds: Sequence[Deed] = ()

    def __init__(self, mine: Mine) -> None:
        self._mine = mine
        self.gamma = 4

    @property
    def missing(self) -> str:
        """See `View`."""
        if self._mine.alpha is not None and (self._mine.c is not None or not self._mine.passes):
            return passes_missing(self._mine)
        return _(
            "α and c are not known yet. Let a draft model guess in a reply or two of the chat: α is how far its "
            "guesses agree with the target, c what one of them costs, and what passes cost is measured meanwhile."
        )

    @property
    def controls(self) -> Sequence[Control]:
        """γ alone: the rest is as it was measured."""
        return [Control(_("γ, guesses in a pass"), str(self.gamma), self._change_gamma)]

    @property
    def curve(self) -> list[float]:
        """The speed-up for each γ, with what passes cost here."""
        alpha, c = self._mine.alpha or 0.0, self._mine.c or 0.0
        costs = [self._mine.pass_cost(gamma + 1) for gamma in range(MOST_GAMMA + 1)]
        return [theory.speed_up_with_costs(alpha, gamma, c, costs) for gamma in range(MOST_GAMMA + 1)]

    @property
    def best(self) -> int:
        """The γ of the greatest speed-up on this machine."""
        return int(np.argmax(self.curve))

    def figure(self, width: int) -> list[Row]:
        """Columns with this machine's costs, the measured points, and the figures behind them."""
        curve, mine = self.curve, self._mine
        facts = [
            fact(_("γ {gamma}:").format(gamma=self.gamma), _("{times}×").format(times=shown(curve[self.gamma]))),
            fact("α", number(mine.alpha, 2)),
            fact("c", number(mine.c, 2)),
            fact(f"V({self.gamma + 1})/V(1)", number(mine.pass_cost(self.gamma + 1), 2)),
            fact(_("best γ"), str(self.best)),
        ]
        points = [(point.gamma, point.speedup) for point in mine.points if point.gamma <= MOST_GAMMA]
        return [*columns(curve, self.best, self.gamma, points, width), joined(facts, " · ")]

    def words(self) -> str:
        """How this machine differs from the formula, and the measured points from both."""
        alpha, c = self._mine.alpha or 0.0, self._mine.c or 0.0
        plain = float(theory.speed_up(alpha, self.gamma, c))
        said = _(
            "The papers' formula takes a pass over {tokens} tokens to cost as much as one over a single token, and "
            "promises {plain}× for γ {gamma}. Here it costs {cost} times as much, which leaves {here}×. "
        ).format(
            tokens=self.gamma + 1,
            gamma=self.gamma,
            plain=shown(plain),
            cost=number(self._mine.pass_cost(self.gamma + 1), 2),
            here=shown(self.curve[self.gamma]),
        )
        return said + self._compared()

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {}

    def _compared(self) -> str:
        near = [point for point in self._mine.points if 0 < point.gamma <= MOST_GAMMA]
        if not near:
            return _("A comparison in the chat at a fixed γ puts measured points (●) beside these columns.")
        curve = self.curve
        off = [point.speedup / curve[point.gamma] - 1 for point in near]
        if max(map(abs, off)) < _CLOSE:
            return _("The measured points (●) are within {off} of their columns.").format(off=_percent(_CLOSE))
        if min(off) < -_CLOSE and max(off) > _CLOSE:
            return _(
                "The measured points (●) lie from {below} below their columns to {above} above: α differs from text to "
                "text, and the formula leaves out that guesses are not independent, and what sampling takes."
            ).format(below=_percent(-min(off)), above=_percent(max(off)))
        mean = float(np.mean(off))
        if mean > 0:
            return _(
                "The measured points (●) lie {off} above their columns on average: the formula is the token rule's, "
                "and the block rule keeps more; α also differs from text to text, and what passes cost from time to "
                "time."
            ).format(off=_percent(mean))
        return _(
            "The measured points (●) lie {off} below their columns on average: guesses are not independent, for a hard "
            "place makes several fail together, and sampling and bookkeeping take time that the formula leaves out."
        ).format(off=_percent(-mean))

    def _change_gamma(self, by: int) -> None:
        self.gamma = step(self.gamma, by, 0, MOST_GAMMA)


def shown(times: float) -> str:
    """A speed-up as it is shown: below 1 with two digits, where one would hide how slow it is."""
    return number(times, 1 if times >= 0.995 else 2)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
