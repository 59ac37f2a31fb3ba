"""Page 3 with this machine's own numbers: what target and draft thought at a token of the last reply."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from specchat.app.figures import number
from specchat.app.lab.mine import Mine
from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.rows import Row, bar, cell, cut, fact, joined, plain
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.widgets.xray_tokens import visible_piece
from specchat.app.words import _
from specchat.models.engine.messages import Position, Word

MOST_WORDS = 7
_NAME, _BAR = 20, 18


class LawMine:
    """Shows the `position` that was asked for last; whoever shows this page fetches it (see `wanted`)."""

    def __init__(self, mine: Mine) -> None:
        self._mine = mine
        self.wanted = 0
        """The token to be looked at, from 0."""
        self.position: Position | None = None
        self._asked: int | None = None
        """The token that `position` or `failure` is about."""
        self.failure = ""
        """Why there is none, as a sentence."""

    @property
    def missing(self) -> str:
        """See `View`."""
        if self._mine.look is None or not self._mine.last_tokens:
            return _(
                "There is no reply yet whose tokens could be looked at. Open the Lab from the chat after a reply: what "
                "target and draft thought at each of its tokens is kept until the next one."
            )
        return self.failure

    @property
    def is_stale(self) -> bool:
        """Whether what is known is about another token than the one wanted."""
        return self._asked != self.wanted

    def take(self, token: int, position: Position) -> None:
        """The engine's answer about `token`; one that comes too late is dropped."""
        if token == self.wanted:
            self._asked, self.position, self.failure = token, position, ""

    def fail(self, token: int, failure: str) -> None:
        """Why the engine has no answer about `token`, as a sentence."""
        if token == self.wanted:
            self._asked, self.position, self.failure = token, None, failure

    @property
    def controls(self) -> Sequence[Control]:
        """Which token."""
        shown = _("{position} of {total}").format(position=self.wanted + 1, total=self._mine.last_tokens)
        return [Control(_("token of the last reply"), shown, self._move)]

    @property
    def deeds(self) -> Sequence[Deed]:
        """Quicker ways through a long reply."""
        return [
            Deed("r", _("10 tokens on"), lambda: self._move(10)),
            Deed("0", _("first token"), lambda: self._move(-self.wanted)),
        ]

    def figure(self, width: int) -> list[Row]:
        """A row for each likely word: what the target wanted, and what the draft did."""
        known = self.position
        if known is None:
            return [plain(_("asking the engine …"))]
        shown = list(known.words[:MOST_WORDS])
        for word in known.words[MOST_WORDS:]:  # what was written and what was guessed are always there
            if word.token in (known.token, known.guess):
                shown[-1] = word
        head = cell("", _NAME) + cell(_("target wanted (p)"), _BAR + 8) + _("draft guessed (q)")
        rest = known.words
        others_p = known.rest_p + sum(word.p for word in rest if word not in shown)
        others_q = None if known.rest_q is None else known.rest_q + sum(w.q or 0 for w in rest if w not in shown)
        rows = [plain(head), *(self._row(known, word) for word in shown)]
        rows += [_law_row(_("all others"), LABEL, others_p, others_q), self._facts(known)]
        return [cut(row, width) for row in rows]

    def words(self) -> str:
        """What happened at this token."""
        known = self.position
        if known is None:
            return ""
        written = _name(next((word for word in known.words if word.token == known.token), known.words[0]))
        if known.guess is None:
            said = _("“{written}” is the target's own: the draft had guessed nothing here.").format(written=written)
        elif known.accepted:
            said = _("The draft guessed “{written}”, and the rule kept it.").format(written=written)
        else:
            guess = _name(next(word for word in known.words if word.token == known.guess))
            said = _("The draft guessed “{guess}”. The rule refused it, and the target put “{written}” there.")
            said = said.format(guess=guess, written=written)
        if known.drafter == "lookup":
            said += " " + _("This guess came from lookup in the text, which is always sure of itself: its q is 100 %.")
        if known.overlap is not None:
            said += " " + _(
                "Here a guess is kept with a chance of {alpha}: as much as the two columns have in common, over all "
                "words."
            ).format(alpha=_percent(known.overlap))
        return f"{said} {self._margin(known)}".strip()

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {}

    def _margin(self, known: Position) -> str:
        """How sure the target was, where the temperature leaves nothing of it to be seen."""
        logits = sorted((word.logit for word in known.words if word.logit is not None), reverse=True)
        if max(word.p for word in known.words) < 0.9995 or len(logits) < 2:
            return ""
        times = math.exp(min(logits[0] - logits[1], 30))
        return _(
            "The sampling settings leave one word only. Before them the target found its first choice {times} times as "
            "likely as its second."
        ).format(times=f"{times:.1f}" if times < 100 else f"{times:,.0f}")

    def _row(self, known: Position, word: Word) -> Row:
        mark = "→" if word.token == known.token else " "
        if word.token == known.guess:
            mark = "✓" if known.accepted else "✗"
        style = VALUE if mark != " " else ""
        return _law_row(f"{mark} {_name(word)}", style, word.p, word.q)

    def _facts(self, known: Position) -> Row:
        parts: list[Row] = [((_("→ written  ✓ guessed and kept  ✗ guessed and refused"), LABEL),)]
        if known.overlap is not None:
            parts.append(fact("α", number(known.overlap, 2)))
        return joined(parts, "   ")

    def _move(self, by: int) -> None:
        self.wanted = step(self.wanted, by, 0, max(self._mine.last_tokens - 1, 0))


def _law_row(name: str, style: str, p: float, q: float | None) -> Row:
    spans: list[tuple[str, str]] = [
        (cell(name, _NAME), style),
        (cell(bar(p, 1, _BAR) if p >= 0.005 else "", _BAR), PLAIN),
        (cell(_percent(p), 6, right=True) + "  ", VALUE),
    ]
    if q is not None:
        spans += [
            (cell(bar(q, 1, _BAR, "▒") if q >= 0.005 else "", _BAR), ACCEPTED),
            (cell(_percent(q), 6, right=True), ""),
        ]
    return tuple(spans)


def _name(word: Word) -> str:
    return visible_piece(word.piece).replace("\n", "").strip(" ") or "␣"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.01 else "<1 %"
