"""The counter in two lines, for narrow terminals, and in one below a finished reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from textual.content import Content

from specchat.app.actions import BY_NAME, shown_keys
from specchat.app.figures import number
from specchat.app.widgets.counter import REASON_WORDS, drafter_word, head_word
from specchat.app.widgets.look import LABEL, labelled
from specchat.app.widgets.panel import CounterState, Panel, Part
from specchat.app.words import _, plural
from specchat.models.decoding.counters import Counters

_DOT = " · "

_LEAST_REASON = 12
"""Cells below which a reason isn't begun."""

_PASS_WORDS = (_("target pass, passes"), _("tokens per pass, each"))

FIGURE_WORDS = (_("accepted"), _("drafted"), *_PASS_WORDS, _("tok/s"), _("speed-up, est."))
"""Those of a reply's figures."""

_Ranked = tuple[int, Content]
"""Something to say, after its rank: where there is no room for all, those of the greatest rank are left out."""


class Strip(Panel):
    """Two lines that leave out what matters least where there is no room for it."""

    DEFAULT_CSS = """
    Strip {
        height: 2;
    }
    """

    def __init__(self, id: str | None = None) -> None:
        parts = (
            Part(first_line, (_("γ"), _("rule"), _("tok/s"), _("speed-up, est."), _("without"), _("now"))),
            Part(second_line, (_("accepted"), _("drafted"), *_PASS_WORDS, *REASON_WORDS)),
        )
        super().__init__(parts, id)


def first_line(state: CounterState, width: int) -> Content:
    """`DRAFT on · auto · block · 31.4 tok/s · 1.63× est. · without 19.3`, and the speed of now."""
    parts = [
        (0, head_word(state)),
        (1, labelled(_("{speed} tok/s"), speed=number(state.figures.tokens_per_second).rjust(4))),
        (2, labelled(_("{speed_up}× est."), speed_up=number(state.speed_up, 2).rjust(4))),
        (4, labelled(_("without {speed}"), speed=number(state.figures.tokens_per_second_without).rjust(4))),
        (5, labelled(_("now {speed}"), speed=number(state.now).rjust(4))),
    ]
    if state.drafter != "none":
        gamma, rule = state.speculation.gamma, state.speculation.rule
        guesses = gamma if gamma == "auto" else _("γ {gamma}").format(gamma=gamma)
        parts[1:1] = [(3, Content.styled(guesses, LABEL)), (6, Content.styled(rule, LABEL))]
    return _fitting(parts, width)


def second_line(state: CounterState, width: int) -> Content:
    """`118 of 157 accepted · 61 passes · 2.9 each · 3 guesses: more wouldn't pay`; or what is being waited for.

    Before there is a reason, it says who guesses.
    """
    if state.stage:
        return Content.styled(state.stage, LABEL)
    line = _fitting(
        [
            (0, labelled(_("{pair} accepted"), pair=state.accepted_of_drafted.rjust(10))),
            (
                1,
                labelled(_passes(state.figures.target_passes), count=state.count(state.figures.target_passes).rjust(3)),
            ),
            (2, labelled(_("{each} each"), each=number(state.figures.tokens_per_pass).rjust(3))),
        ],
        width,
    )
    why = state.reason or drafter_word(state)
    if not why or width - line.cell_length < _LEAST_REASON:
        return line
    return Content.assemble(line, (_DOT + why, LABEL)).truncate(width, ellipsis=True)


def reply_line(counters: Counters, width: int) -> str:
    """What stands under a finished reply: its figures, and the key that shows more of it."""
    key = shown_keys(BY_NAME["xray"]).split()[0]
    return _fitting([*_figures(counters), (3, Content(_("{key} X-ray").format(key=key)))], width).plain


def figures_line(counters: Counters) -> str:
    """A reply's figures: `118 of 157 accepted · 61 passes · 2.9 each · 31.4 tok/s · 1.63× est.`"""
    return _joined(part for _rank, part in _figures(counters)).plain


def _figures(counters: Counters) -> list[_Ranked]:
    count = counters.target_passes
    parts = [
        (4, _passes(count).format(count=count)),
        (5, _("{each} each").format(each=number(counters.tokens_per_pass))),
        (0, _("{speed} tok/s").format(speed=number(counters.tokens_per_second))),
    ]
    if counters.drafted:
        pair = _("{accepted} of {drafted}").format(accepted=counters.accepted, drafted=counters.drafted)
        parts.insert(0, (2, _("{pair} accepted").format(pair=pair)))
        if counters.speed_up is not None:
            parts.append((1, _("{speed_up}× est.").format(speed_up=number(counters.speed_up, 2))))
    return [(rank, Content(text)) for rank, text in parts]


def _passes(count: int) -> str:
    return plural("{count} pass", "{count} passes", count)


def _fitting(parts: Sequence[_Ranked], width: int) -> Content:
    """The most important parts that fit, which is at least one, with dots between them."""
    shown: set[int] = set()
    room = width + len(_DOT)
    for rank, part in sorted(parts, key=itemgetter(0)):
        needed = part.cell_length + len(_DOT)
        if needed <= room or not shown:
            shown.add(rank)
            room -= needed
    return _joined(part for rank, part in parts if rank in shown)


def _joined(parts: Iterable[Content]) -> Content:
    return Content.styled(_DOT, LABEL).join(parts)
