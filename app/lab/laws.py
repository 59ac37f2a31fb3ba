"""Page 3: why the text stays the target's. One position, its words, and the accept-or-replace rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from specchat.app.figures import number
from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.rows import Row, bar, cell, cut, fact, joined, plain
from specchat.app.widgets.look import ACCEPTED, PLAIN, VALUE
from specchat.app.words import _
from specchat.models import theory

FIVE_P, FIVE_Q = (0.42, 0.26, 0.16, 0.10, 0.06), (0.20, 0.45, 0.10, 0.05, 0.20)
FOUR_P = (0.50, 0.30, 0.15, 0.05)
GUESSES = 4
DRAWS = {5: 10_000, 4: 20_000}
"""Draws by the preset's words."""
_STEP = 0.05
_BAR = 15


class LawToy:
    """Five words with a draft that can be changed word by word, or four with one that can be made more alike."""

    missing = ""

    def __init__(self, similarity: float | None = None) -> None:
        """The four words with a draft of this `similarity`, from 0 to 1, or the five."""
        self.is_five = similarity is None
        self.similarity = 0.6 if similarity is None else similarity
        self._q = np.array(FIVE_Q)
        self.seed = 1

    @property
    def p(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The target's law. Nothing changes it."""
        return np.array(FIVE_P if self.is_five else FOUR_P)

    @property
    def q(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The draft's law."""
        return self._q if self.is_five else (1 - self.similarity) / 4 + self.similarity * self.p

    @property
    def alpha(self) -> float:
        """Σ min(p, q)."""
        return theory.acceptance_rate(self.p, self.q)

    @property
    def controls(self) -> Sequence[Control]:
        """The preset, and what can be changed of its draft."""
        preset = _("five words") if self.is_five else _("four words")
        first = Control(_("example"), preset, self._switch)
        if not self.is_five:
            return [first, Control(_("how alike the draft is"), number(self.similarity), self._liken)]
        return [
            first,
            *(
                Control(_("draft's chance of “{word}”").format(word=word), _percent(self._q[i]), self._shifter(i))
                for i, word in enumerate(self._words)
            ),
        ]

    @property
    def deeds(self) -> Sequence[Deed]:
        """Other dice, and back to the beginning."""
        return [Deed("r", _("roll other dice"), self._reroll), Deed("0", _("the draft as it was"), self._reset)]

    @property
    def draws(self) -> theory.Draws:
        """What came out of many draws."""
        return _draws(tuple(self.p), tuple(self.q), DRAWS[self.p.size], self.seed)

    def figure(self, width: int) -> list[Row]:
        """A row for each word: p, q, how p comes about, and what many draws gave."""
        runs, books, draws = DRAWS[self.p.size], theory.account(self.p, self.q), self.draws
        head = plain(
            cell("", 8)
            + cell(_("target wants (p)"), _BAR + 6)
            + cell(_("draft guesses (q)"), _BAR + 6)
            + cell(_("kept + put in"), 15)
            + cell(_("{runs} draws").format(runs=f"{runs:,}"), 13, right=True)
        )
        rows = [self._row(i, books, draws) for i in range(self.p.size)]
        facts = [
            (_("α, guesses kept"), number(self.alpha, 2)),
            (_("refused"), _percent(books.refused)),
        ]
        if not self.is_five:
            each = number(float(theory.tokens_per_pass(self.alpha, GUESSES)), 2)
            facts.append((_("tokens a pass with four guesses"), each))
        written, guessed = (float(np.abs(law - self.p).max()) for law in (draws.written, draws.guessed))
        off = _("Largest error: {rule} points; if every guess were kept: {draft} points")
        said = off.format(rule=number(100 * written), draft=number(100 * guessed))
        books_row = joined([fact(label, value) for label, value in facts], " · ")
        return [cut(row, width) for row in (head, *rows, books_row, ((said, VALUE),))]

    def words(self) -> str:
        """What the rule does, for the draft as it is now."""
        if self.alpha > 0.995:
            return _(
                "The draft wants exactly what the target wants, so every guess is kept. Nothing is refused and nothing "
                "has to be put in its place: this is the best a draft can do."
            )
        if not self.is_five:
            return _(
                "The more alike the draft is to the target, the more of its guesses are kept ({alpha} of them now), "
                "and the more tokens one pass of the target yields. What comes out is the target's choice all the "
                "same: look at the last column."
            ).format(alpha=_percent(self.alpha))
        books = theory.account(self.p, self.q)
        most = int(np.argmax(books.replaced))
        return _(
            "“She opened …”: one of five words comes next. A guess that the draft likes too much is kept only now and "
            "then; a word that it likes too little is put in where others were refused. “{word}”: {kept} guessed and "
            "kept + {put} put in = {sum}, just what the target wants. Change the draft with + and −: p never moves, "
            "only α does, the share of guesses that are kept. A bad draft costs time, never the text."
        ).format(
            word=self._words[most],
            kept=_percent(books.accepted[most]),
            put=_percent(books.replaced[most]),
            sum=_percent(self.p[most]),
        )

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        books, draws = theory.account(self.p, self.q), self.draws
        laws = {
            "p": self.p,
            "q": self.q,
            "accepted": books.accepted,
            "replaced": books.replaced,
            "drawn": draws.written,
            "draft_alone": draws.guessed,
        }
        return {
            **{name: [round(float(x), 4) for x in law] for name, law in laws.items()},
            "alpha": round(self.alpha, 4),
            "refused": round(books.refused, 4),
            "guesses": GUESSES,
            "tokens_per_pass": round(float(theory.tokens_per_pass(self.alpha, GUESSES)), 4),
            "draws": DRAWS[self.p.size],
        }

    @property
    def _words(self) -> Sequence[str]:
        return (_("the"), _("a"), _("her"), _("my"), _("one"))[: self.p.size]

    def _row(self, i: int, books: theory.Accounting, draws: theory.Draws) -> Row:
        p, q = self.p[i], self.q[i]
        made = f"{_percent(books.accepted[i])} + {_percent(books.replaced[i])}"
        return (
            (cell(self._words[i], 8), VALUE),
            (cell(bar(p, 0.6, _BAR), _BAR), PLAIN),
            (cell(_percent(p), 6, right=True), VALUE),
            (cell(" " + bar(q, 0.6, _BAR - 1, "▒"), _BAR), ACCEPTED),
            (cell(_percent(q), 6, right=True), ""),
            (cell(made, 15, right=True), ""),
            (cell(_percent(draws.written[i], 1), 13, right=True), VALUE),
        )

    def _switch(self, _by: int) -> None:
        self.is_five = not self.is_five

    def _liken(self, by: int) -> None:
        self.similarity = step(round(10 * self.similarity), by, 0, 10) / 10

    def _shifter(self, i: int) -> Any:
        def shift(by: int) -> None:
            """Move one word's chance; the others share what is left as before."""
            now = float(self._q[i])
            chance = min(max(round(now + by * _STEP, 2), 0.0), 0.95)
            others = self._q.sum() - now
            if others <= 0:
                return
            self._q = self._q * (1 - chance) / others
            self._q[i] = chance

        return shift

    def _reroll(self) -> None:
        self.seed += 1

    def _reset(self) -> None:
        self._q, self.similarity, self.seed = np.array(FIVE_Q), 0.6, 1


@lru_cache(maxsize=64)
def _draws(p: tuple[float, ...], q: tuple[float, ...], runs: int, seed: int) -> theory.Draws:
    return theory.simulate_rule(p, q, runs, seed)


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"
