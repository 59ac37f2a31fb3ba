"""Why rounds guess as many tokens as they do, in about five words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import mode

from specchat.app.words import _, plural
from specchat.models.decoding.rounds import Reason, Round

STEADY_SECONDS = 1.0
"""Seconds of writing for which a reason stays on the screen."""

_PLAIN: Mapping[Reason, Callable[[], str]] = {
    "": lambda: "",
    "off": lambda: _("plain: the draft is off"),
    "no_drafter": lambda: _("plain: nobody guesses"),
    "no_rollback": lambda: _("plain: the target can't undo"),
    "fixed": lambda: _("plain: γ is 0"),
    "costly": lambda: _("plain: guessing wouldn't pay"),
    "unsure": lambda: _("plain: the draft is unsure"),
    "no_match": lambda: _("plain: no such text before"),
    "most": lambda: _("plain: no guess is allowed"),
    "room": lambda: _("plain: no room for guesses"),
    "plain": lambda: _("plain: guessing wouldn't pay"),
    "measuring": lambda: _("plain: measuring the cost"),
}
"""Of rounds without guesses."""

_GUESSED: Mapping[Reason, Callable[[int], str]] = {
    "fixed": lambda n: plural("{count} guess: γ is fixed", "{count} guesses: γ is fixed", n),
    "costly": lambda n: plural("{count} guess: more wouldn't pay", "{count} guesses: more wouldn't pay", n),
    "unsure": lambda n: plural("{count} guess: unsure of the next", "{count} guesses: unsure of the next", n),
    "no_match": lambda n: plural("{count} guess: the match ended", "{count} guesses: the match ended", n),
    "most": lambda n: plural("{count} guess: the most allowed", "{count} guesses: the most allowed", n),
    "room": lambda n: plural("{count} guess: no room for more", "{count} guesses: no room for more", n),
    "measuring": lambda n: plural("{count} guess: to see if it pays", "{count} guesses: to see if they pay", n),
}
"""Of rounds with guesses, where the reason can be one of those."""


def reason_line(reason: Reason, guesses: int) -> str:
    """`3 guesses: more wouldn't pay`; empty for rounds from before there were reasons."""
    if guesses and reason in _GUESSED:
        return _GUESSED[reason](guesses).format(count=guesses)
    return _PLAIN[reason]()


class SteadyReason:
    """The commonest of the latest rounds' reasons, which changes rarely enough to be read."""

    def __init__(self) -> None:
        self._line = ""
        self._rounds: list[Round] = []
        """Those since it was last chosen."""
        self._seconds = 0.0
        self._was_on = False

    def line(self, *, is_on: bool) -> str:
        """In words, while speculation is as it was in the latest round; else there is nothing to say yet."""
        return self._line if is_on == self._was_on else ""

    def add(self, round: Round) -> None:
        """Take in one more round. Where speculation was switched since the last, what was before doesn't count."""
        is_on = round.speculating and round.reason != "no_rollback"  # where it can't be on, whatever a person wants
        is_switched = is_on != self._was_on
        if is_switched:
            self._rounds.clear()
        self._rounds.append(round)
        self._seconds += round.seconds
        self._was_on = is_on
        if is_switched or not self._line or self._seconds >= STEADY_SECONDS:
            self._line = commonest_reason(self._rounds)
            self._rounds.clear()
            self._seconds = 0.0


def commonest_reason(rounds: Iterable[Round]) -> str:
    """The line of the commonest reason, with the commonest number of guesses among the rounds that have it."""
    rounds = list(rounds)
    reason = mode(round.reason for round in rounds)
    return reason_line(reason, mode(len(round.guesses) for round in rounds if round.reason == reason))
