"""The history in words and tables, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from specchat.app.bench.blocks import Block, Heading, Sentences, Table
from specchat.app.bench.prompts import kind_name
from specchat.app.chats.records import Setup
from specchat.app.figures import number
from specchat.app.history.records import ChatSums, Entry, Guesser, History, Source
from specchat.app.words import _, visible


def blocks(history: History) -> Iterator[Block]:
    """All of it, by target and machine."""
    if not history.entries and not history.chats:
        yield Sentences((_("Nothing is known yet: F4 in the chat compares a prompt, `specchat bench` measures more."),))
    for place in _places([*(entry.setup for entry in history.entries), *(sums.setup for sums in history.chats)]):
        yield Heading(place_name(*place))
        entries = [entry for entry in history.entries if _place(entry.setup) == place]
        chats = [sums for sums in history.chats if _place(sums.setup) == place]
        if entries:
            yield _measured(entries)
        if chats:
            yield _chats(chats)
            yield Sentences((indicative(),))


def indicative() -> str:
    """What sums of chats are worth."""
    return _("Chats: speculation on and off wrote different texts, so the speeds are indicative, not measured.")


def source_name(source: Source) -> str:
    """Where a measurement was made."""
    return {"compare": _("compare"), "tournament": _("tournament"), "bench": _("bench")}[source]


def guesser_name(setup: Setup, guesser: Guesser) -> str:
    """What guessed: a file's name, lookup, or both."""
    draft = visible(setup.draft)
    if guesser == "lookup":
        return _("lookup")
    if guesser == "none":
        return _("no draft")
    return _("lookup + {draft}").format(draft=draft) if guesser == "both" else draft


def place_name(target: str, machine: str) -> str:
    """A target on a machine, in a line."""
    if not machine:
        return visible(target) or _("unknown model")
    return _("{target} on {machine}").format(target=visible(target), machine=visible(machine))


def day(moment: datetime) -> str:
    """The day, here."""
    return f"{moment.astimezone():%Y-%m-%d}"


def interval(low: float | None, high: float | None) -> str:
    """`1.36–1.50`, or a dash where nothing was repeated."""
    return "–" if low is None or high is None else f"{number(low, 2)}–{number(high, 2)}"


def _places(setups: Iterable[Setup]) -> Sequence[tuple[str, str]]:
    return list(dict.fromkeys(map(_place, setups)))


def _place(setup: Setup) -> tuple[str, str]:
    return setup.target, setup.machine


def _measured(entries: Sequence[Entry]) -> Table:
    header = (_("measured"), _("speed-up"), _("95 % interval"), _("tok/s"), _("without"), _("α"), _("γ"))
    rows = tuple(
        (
            day(entry.when),
            f"{number(entry.speed_up, 2)}×",
            interval(entry.low, entry.high),
            number(entry.on.tokens_per_second),
            number(entry.off.tokens_per_second),
            number(entry.on.alpha, 2),
            entry.gamma,
            kind_name(entry.kind) if entry.kind else _("all"),
            guesser_name(entry.setup, entry.guesser),
        )
        for entry in entries
    )
    return Table((*header, _("kind"), _("draft")), rows, words=2)


def _chats(chats: Sequence[ChatSums]) -> Table:
    header = (_("chats"), _("replies"), _("on: tokens"), _("tok/s"), _("off: tokens"), _("tok/s"), _("α"))
    rows = tuple(
        (
            day(sums.when),
            str(sums.replies),
            f"{sums.on.tokens:,}",
            number(sums.on.tokens_per_second),
            f"{sums.off.tokens:,}",
            number(sums.off.tokens_per_second),
            number(sums.on.alpha, 2),
            kind_name(sums.kind),
            guesser_name(sums.setup, sums.guesser),
        )
        for sums in chats
    )
    return Table((*header, _("kind"), _("draft")), rows, words=2)
