"""Page 5: three questions. Each wrong choice gets its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specchat.app.lab.page import Control, Deed, step
from specchat.app.lab.rows import EMPTY, Row, plain
from specchat.app.widgets.look import ACCEPTED, LABEL, VALUE
from specchat.app.words import _

LETTERS = "abc"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answers, which of them is right (from 0), and what is said to each."""

    asked: str
    answers: tuple[str, str, str]
    right: int
    replies: tuple[str, str, str]


def questions() -> tuple[Question, Question, Question]:
    """All of them."""
    return (_of_a_pass(), _of_a_worse_draft(), _of_a_dear_draft())


def _of_a_pass() -> Question:
    return Question(
        _("The draft made four guesses. Two were kept, the third was refused. How many tokens did this pass write?"),
        (_("Two"), _("Three"), _("Five")),
        1,
        (
            _(
                "The two guesses are there, but a pass never ends with a refusal: the target puts its own token in "
                "the place of the third guess. Page 2 shows it as →."
            ),
            _(
                "Right: the two guesses that were kept, and the target's own token in the place of the third. The "
                "fourth is dropped, since it was a guess after a wrong word."
            ),
            _(
                "Five would be four guesses kept and one token added. What comes after a refused guess is dropped, "
                "since it was guessed after a word that isn't in the text."
            ),
        ),
    )


def _of_a_worse_draft() -> Question:
    return Question(
        _("A much worse draft is plugged in. What changes in the text?"),
        (_("It gets worse"), _("It gets shorter"), _("Nothing; only the time changes")),
        2,
        (
            _(
                "No: whatever the draft guesses, a word comes out exactly as often as the target wants it. Page 3 "
                "shows the sum: kept + put in. A worse draft is refused more often, and that costs time."
            ),
            _(
                "No: where the text ends is decided by the target, like every other token. A worse draft only "
                "makes more passes necessary."
            ),
            _(
                "Right: nothing but time. Fewer guesses are kept, so more passes are needed; what is written "
                "follows the target all the same."
            ),
        ),
    )


def _of_a_dear_draft() -> Question:
    return Question(
        _("Guesses are kept with a chance of α = 0.3, each costs c = 0.5 of a pass, and γ is 4. How fast is that?"),
        (_("About twice as fast as without a draft"), _("As fast as without"), _("About half as fast")),
        2,
        (
            _(
                "A pass brings 1.4 tokens, that is true; but four guesses cost as much as two more passes. 1.4 "
                "tokens in the time of 3 passes is less than one a pass. Set it on page 4."
            ),
            _(
                "It would be if guesses cost nothing when they are refused. Here four of them cost two passes, "
                "each time. Set it on page 4."
            ),
            _(
                "Right, 0.48×: four guesses cost as much as two passes and bring 1.4 tokens in the time of 3. No "
                "number of guesses helps unless α is greater than c. specchat then stops guessing by itself (γ "
                "auto)."
            ),
        ),
    )


class Quiz:
    """One question at a time, and what was answered."""

    missing = ""

    def __init__(self) -> None:
        self.at = 0
        self.answers: dict[int, int] = {}

    @property
    def controls(self) -> Sequence[Control]:
        """Which question."""
        shown = _("{position} of {total}").format(position=self.at + 1, total=len(questions()))
        return [Control(_("question"), shown, self._move)]

    @property
    def deeds(self) -> Sequence[Deed]:
        """The answers."""
        labels = (_("the first"), _("the second"), _("the third"))
        return [Deed(LETTERS[i], label, self._answerer(i)) for i, label in enumerate(labels)]

    def figure(self, width: int) -> list[Row]:
        """The question and its answers, with a mark at the one that was chosen."""
        question, chosen = questions()[self.at], self.answers.get(self.at)
        rows: list[Row] = [*(((line, VALUE),) for line in _wrapped(question.asked, width)), EMPTY]
        for i, answer in enumerate(question.answers):
            mark = " " if chosen != i else "✓" if i == question.right else "✗"
            rows.append(((f" {mark} ", VALUE), (f"{LETTERS[i]}  ", LABEL), (answer, ACCEPTED if mark == "✓" else "")))
        right = sum(self.answers.get(i) == question.right for i, question in enumerate(questions()))
        said = _("{right} of {total} answered rightly").format(right=right, total=len(questions()))
        return [*rows, EMPTY, plain(said)]

    def words(self) -> str:
        """What is said to the answer."""
        chosen = self.answers.get(self.at)
        if chosen is None:
            return _(
                "Press a, b or c; + goes to the next question. All that is needed is on the pages before: ← goes back, "
                "and the answers stay."
            )
        said = questions()[self.at].replies[chosen]
        return said if chosen == questions()[self.at].right else f"{said} {_('Try again.')}"

    def numbers(self) -> Mapping[str, Any]:
        """See `View`."""
        return {"questions": [{"question": q.asked, "answer": q.answers[q.right]} for q in questions()]}

    def _move(self, by: int) -> None:
        self.at = step(self.at, by, 0, len(questions()) - 1)

    def _answerer(self, i: int) -> Any:
        def answer() -> None:
            self.answers[self.at] = i

        return answer


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, max(width, 20))
