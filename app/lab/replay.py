"""Page 2 with this machine's own numbers: the rounds of a reply of the chat, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specchat.app.chats.records import Step
from specchat.app.figures import number
from specchat.app.lab.mine import Mine, Reply
from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.rounds import REFUSED
from specchat.app.lab.rows import Row, Span, cell, cut, fact, joined, plain, quoted
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.widgets.xray_tokens import Origin, tokens_of, visible_piece
from specchat.app.words import _, plural
from specchat.models.decoding.counters import Counters, count

SHOWN = 8
"""Passes that are shown at a time."""

_LOOKS = {
    Origin.ACCEPTED: ("✓", ACCEPTED),
    Origin.REJECTED: ("✗", REFUSED),
    Origin.REPLACEMENT: ("→", PLAIN),
    Origin.BONUS: ("+", PLAIN),
    Origin.PLAIN: ("", PLAIN),
}


class Replay:
    """One of the replies, of which the first `shown` rounds have been replayed."""

    def __init__(self, mine: Mine) -> None:
        self._replies = mine.replies
        self.chosen = max(len(mine.replies) - 1, 0)
        self.shown = 0

    @property
    def missing(self) -> str:
        """See `View`."""
        if self._replies:
            return ""
        return _("There is no reply yet. Let the chat write one, then its passes can be replayed here.")

    @property
    def controls(self) -> Sequence[Control]:
        """Which reply, and how far."""
        total = len(self._reply.steps)
        which = f"{self.chosen + 1}/{len(self._replies)} “{cell(self._reply.title, 30).rstrip()}”"
        return [
            Control(_("reply"), which, self._choose),
            Control(_("passes shown"), _("{position} of {total}").format(position=self.shown, total=total), self._move),
        ]

    @property
    def deeds(self) -> Sequence[Deed]:
        """Go on, go to the end, begin anew."""
        return [
            Deed("space", _("one pass"), lambda: self._move(1)),
            Deed("a", _("all"), lambda: self._move(len(self._reply.steps))),
            Deed("r", _("from the beginning"), lambda: self._move(-self.shown)),
        ]

    @property
    def counters(self) -> Counters:
        """The figures of what was replayed."""
        return count(step.round for step in self._reply.steps[: self.shown])

    def figure(self, width: int) -> list[Row]:
        """The latest passes, and the counters."""
        steps = self._reply.steps[: self.shown]
        first = max(len(steps) - SHOWN, 0)
        rows = [cut(_row(number, step), width) for number, step in enumerate(steps[first:], first + 1)]
        if not rows:
            rows = [plain(_("Space replays the first pass."))]
        now, whole = self.counters, count(step.round for step in self._reply.steps)
        said = _("The whole reply: {tokens} tokens in {passes} passes, {each} a pass").format(
            tokens=whole.tokens, passes=whole.target_passes, each=number(whole.tokens_per_pass, 2)
        )
        facts = [
            fact(_("target passes"), str(now.target_passes)),
            fact(_("tokens written"), str(now.tokens)),
            fact(_("draft runs"), str(now.draft_runs)),
            fact(_("kept"), _("{count} of {total}").format(count=now.accepted, total=now.drafted)),
        ]
        return [*rows, joined(facts, " · "), ((said, VALUE),)]

    def words(self) -> str:
        """What the latest pass did."""
        if not self.shown:
            return _(
                "This reply was really written here. Each row is one pass of the target: ✓ guesses that it kept, ✗ the "
                "one that it refused, → the token that it put there, + the one that it added after guesses that were "
                "all kept."
            )
        round = self._reply.steps[self.shown - 1].round
        if not round.guesses:
            return _("Nothing was guessed for this pass: it wrote one token, as without a draft.")
        who = _("lookup in the text") if round.drafter == "lookup" else _("the draft model")
        said = _(
            "Guesses for this pass, by {who}: {guesses}; kept: {kept}. Guessing took {draft} ms, the target's pass "
            "{verify} ms, and the text grew by {tokens}. Without guesses, every token takes a pass of its own."
        )
        return said.format(
            who=who,
            guesses=len(round.guesses),
            kept=round.accepted,
            draft=number(1000 * round.seconds_draft),
            verify=number(1000 * round.seconds_verify),
            tokens=plural("{count} token", "{count} tokens", round.tokens).format(count=round.tokens),
        )

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {}

    @property
    def _reply(self) -> Reply:
        return self._replies[self.chosen] if self._replies else Reply("", ())

    def _choose(self, by: int) -> None:
        self.chosen, self.shown = step(self.chosen, by, 0, len(self._replies) - 1), 0

    def _move(self, by: int) -> None:
        self.shown = step(self.shown, by, 0, len(self._reply.steps))


def _row(number: int, step: Step) -> Row:
    spans: list[Span] = [(_("pass {number}").format(number=number).ljust(9), LABEL)]
    for piece, origin in tokens_of(step):
        if origin is Origin.UNUSED:
            spans.append((" –", LABEL))
            continue
        mark, style = _LOOKS[origin]
        spans += [(f" {mark}", LABEL), (quoted(visible_piece(piece).replace("\n", "").strip(" ") or "␣"), style)]
    return tuple(spans)
