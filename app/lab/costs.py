"""Page 1: why checking is cheap. A pass and what it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specchat.app.figures import number
from specchat.app.lab.mine import ENOUGH, Mine
from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.rows import EMPTY, Row, bar, cell, plain
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.words import _
from specchat.models.theory import PassToy

TOKENS = 5
MOST_OTHERS = 20
_NAMES = 27
"""Cells of the column with names."""
_MOST_ROWS = 9


class CostToy:
    """The two-number model of a pass, with other users on the same machine."""

    missing = ""
    deeds: Sequence[Deed] = ()

    def __init__(self, others: int = 0) -> None:
        self.others = others
        self._toy = PassToy()

    @property
    def controls(self) -> Sequence[Control]:
        """The slider."""
        return [Control(_("other users at the same time"), str(self.others), self._change)]

    @property
    def writing(self) -> float:
        """Units of time for writing five tokens."""
        return self._toy.writing(TOKENS, self.others)

    @property
    def checking(self) -> float:
        """Units of time for checking five."""
        return self._toy.checking(TOKENS, self.others)

    def figure(self, width: int) -> list[Row]:
        """What a pass carries, and five tokens written or checked."""
        most = self._toy.writing(TOKENS, MOST_OTHERS)
        compute = self._toy.compute * TOKENS * (self.others + 1)
        rows = (
            (_("move the weights, once"), self._toy.weights, "░", LABEL),
            (_("compute {count} tokens").format(count=TOKENS * (self.others + 1)), compute, "░", LABEL),
            (_("WRITE {count}: {count} passes").format(count=TOKENS), self.writing, "█", PLAIN),
            (_("CHECK {count}: 1 pass").format(count=TOKENS), self.checking, "█", ACCEPTED),
        )
        drawn = [_bar_row(name, units, f"{units:g}", most, width, char, style) for name, units, char, style in rows]
        said = _("Checking {count} is {ratio} times as fast as writing {count}.")
        if self.writing <= self.checking:
            said = _("Checking {count} takes as long as writing {count}.")
        verdict: Row = ((said.format(count=TOKENS, ratio=number(self.writing / self.checking)), VALUE),)
        asked = _("In one pass over {count} tokens for each user, the machine must (units of time):")
        title = plain(asked.format(count=TOKENS))
        both = _("Both go on at once, so the longer one counts. {count} tokens take:")
        return [title, *drawn[:2], EMPTY, plain(both.format(count=TOKENS)), *drawn[2:], verdict]

    def words(self) -> str:
        """Alone, with a few others, with many."""
        count = TOKENS * (self.others + 1)
        if count <= self._toy.weights:
            return _(
                "A model writes token by token (a token is a word or a piece of one). For each, the machine must move "
                "all of the model's weights past its processor: that takes 13 units of time, computing the token only "
                "1. A pass over five tokens moves the same weights once. So if five tokens are there already, as "
                "guesses, all five are checked in the time of writing one. Add other users with +."
            )
        if self.checking < self.writing:
            return _(
                "With {others} others at the same time, a pass that checks five tokens for everybody computes {count} "
                "tokens. That now takes longer than moving the weights, so checking is no longer hidden behind them. "
                "It is still cheaper than writing: the weights are moved once and not five times."
            ).format(others=self.others, count=count)
        return _(
            "With {others} others the machine computes all the time, and moving the weights no longer matters. "
            "Checking five tokens costs as much as writing five, so guesses bring nothing. That is why a busy server "
            "gains little from a draft, and a machine with one user, such as yours, can gain much."
        ).format(others=self.others)

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {
            "others": self.others,
            "weights": self._toy.weights,
            "compute": self._toy.compute,
            "tokens": TOKENS,
            "writing": self.writing,
            "checking": self.checking,
        }

    def _change(self, by: int) -> None:
        self.others = step(self.others, by, 0, MOST_OTHERS)


class CostMine:
    """The measured V(n) beside n passes over one token."""

    controls: Sequence[Control] = ()
    deeds: Sequence[Deed] = ()

    def __init__(self, mine: Mine) -> None:
        self._mine = mine

    @property
    def missing(self) -> str:
        """See `View`."""
        return passes_missing(self._mine)

    @property
    def last_cheaper(self) -> int:
        """The widest measured pass that is cheaper than as many passes over one token; 1 if none is."""
        passes = self._mine.passes
        return max((n for n, ms in passes.items() if n > 1 and ms < n * passes[1]), default=1)

    @property
    def cheapest(self) -> int:
        """The measured width with the least time per token."""
        return min(self._mine.passes, key=lambda n: self._mine.passes[n] / n)

    @property
    def bargains(self) -> list[int]:
        """Widths that cost no more than a narrower one."""
        passes = self._mine.passes
        return [n for n, ms in passes.items() if any(m < n and ms <= other for m, other in passes.items())]

    def figure(self, width: int) -> list[Row]:
        """A row for each width: the pass, and where writing as many tokens would end."""
        passes = self._shown
        most = max(passes) * self._mine.passes[1]
        head = plain(
            cell(_("tokens"), 7)
            + cell(_("ms"), 6, right=True)
            + cell(_("apart"), 8, right=True)
            + _("  █ one pass over them  ┊ apart: as many passes over one")
        )
        return [head, *(self._row(n, ms, most, width) for n, ms in passes.items())]

    def words(self) -> str:
        """What the bars mean."""
        passes, last = self._mine.passes, self.last_cheaper
        if last == 1:
            said = _("On this machine no pass over several tokens is cheaper than writing them, so no draft can help.")
        else:
            said = _(
                "On this machine a pass over one token takes {one} ms, and one over {n} tokens {many} ms: {ratio} "
                "times as fast as {n} passes."
            ).format(one=_ms(passes[1]), n=last, many=_ms(passes[last]), ratio=number(last * passes[1] / passes[last]))
            wider = _("Up to {n} tokens, the widest pass measured, checking can be cheaper than writing.")
            if last < max(passes):
                wider = _("Beyond {n} tokens checking is no longer cheaper than writing.")
            said += " " + wider.format(n=last)
        marked = _("★ marks the width with the least time per token, {n}").format(n=self.cheapest)
        if self.bargains:
            marked += _(", ↓ widths that cost no more than a narrower one: specchat fills passes up to those")
        return f"{said} {marked}."

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {"milliseconds": {str(n): round(ms, 3) for n, ms in self._mine.passes.items()}}

    @property
    def _shown(self) -> dict[int, float]:
        """At most so many widths as there is room for: the narrow ones, and the widest."""
        widths = list(self._mine.passes)
        if len(widths) > _MOST_ROWS:
            widths = [*widths[: _MOST_ROWS - 1], widths[-1]]
        return {n: self._mine.passes[n] for n in widths}

    def _row(self, n: int, ms: float, most: float, width: int) -> Row:
        room = width - 28
        apart = n * self._mine.passes[1]
        drawn = bar(ms, most, room)
        end = max(1, round(room * apart / most))
        rest = " " * (end - 1 - len(drawn)) + "┊" if end > len(drawn) else ""
        marks = ("★" if n == self.cheapest else "") + ("↓" if n in self.bargains else "")
        return (
            (f"{n:>3} ", VALUE),
            (cell(marks, 3), VALUE),
            (cell(_ms(ms), 6, right=True), ""),
            (cell(f"┊{_ms(apart)}", 8, right=True), LABEL),
            ("  ", ""),
            (drawn, ACCEPTED if ms < apart else PLAIN),
            (rest, LABEL),
        )


def passes_missing(mine: Mine) -> str:
    """What must be done before it is known what passes cost; empty where it is."""
    if len(mine.passes) > 1:
        return ""
    if mine.target and mine.target.widths:
        return _(
            "Too little has been measured yet: what a pass costs is shown after {count} such passes, and those over "
            "one token are needed to compare the others with. Let the chat write one reply with the draft, and one "
            "without (F2)."
        ).format(count=ENOUGH)
    return _(
        "Nothing has been measured yet. Load a pair of models in the chat (`specchat demo` has one) and let it "
        "write a reply or two: what passes cost is measured meanwhile."
    )


def _ms(value: float) -> str:
    return number(value, 0 if value >= 10 else 1)


def _bar_row(name: str, units: float, shown: str, most: float, width: int, char: str, style: str) -> Row:
    room = width - _NAMES - 7
    return ((cell(name, _NAMES), ""), (bar(units, most, room, char), style), (f" {shown}", VALUE))
