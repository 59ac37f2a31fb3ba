"""The counter in two lines, for narrow terminals, and in one below a finished reply."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from textual.content import Content

from specchat.app.actions import BY_NAME, shown_keys
from specchat.app.figures import number
from specchat.app.widgets.counter import head_word, how
from specchat.app.widgets.look import LABEL, labelled
from specchat.app.widgets.panel import CounterState, Panel, Part
from specchat.app.words import _, plural
from specchat.models.decoding.counters import Counters

_DOT = " · "


class Strip(Panel):
    """Two lines that leave out their last parts where there is no room for them."""

    DEFAULT_CSS = """
    Strip {
        height: 2;
    }
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, id: str | None = None) -> None:
        parts = (
            Part(first_line, (_("drafter"), _("tok/s"), _("speed-up"), _("without"), _("now"))),
            Part(second_line, (_("accepted"), _("drafted"), _("target pass"), _("tokens per pass"), _("γ"), _("rule"))),
        )
        super().__init__(parts, clock=clock, id=id)


def first_line(state: CounterState, width: int) -> Content:
    """`DRAFT on · 31.4 tok/s · 1.63× est. · without 19.3`, and the speed of now."""
    return _fitting(
        [
            head_word(state),
            labelled(_("{speed} tok/s"), speed=number(state.figures.tokens_per_second).rjust(4)),
            labelled(_("{speed_up}× est."), speed_up=number(state.speed_up, 2).rjust(4)),
            labelled(_("without {speed}"), speed=number(state.figures.tokens_per_second_without).rjust(4)),
            labelled(_("now {speed}"), speed=number(state.now).rjust(4)),
        ],
        width,
    )


def second_line(state: CounterState, width: int) -> Content:
    """`118 of 157 accepted · 61 passes · 2.9 each · γ 3`, rule and drafter; or what is being waited for."""
    if state.stage:
        return Content.styled(state.stage, LABEL)
    parts = [
        labelled(_("{pair} accepted"), pair=state.accepted_of_drafted.rjust(10)),
        labelled(_("{count} passes"), count=state.count(state.figures.target_passes).rjust(3)),
        labelled(_("{each} each"), each=number(state.figures.tokens_per_pass).rjust(3)),
    ]
    who, gamma, rule = (Content.styled(word, LABEL) for word in how(state))
    return _fitting([*parts, gamma, rule, who], width)


def reply_line(counters: Counters) -> str:
    """What stands under a finished reply: its figures, and the key that shows more of it."""
    key = shown_keys(BY_NAME["xray"]).split()[0]
    return _DOT.join([figures_line(counters), _("{key} X-ray").format(key=key)])


def figures_line(counters: Counters) -> str:
    """A reply's figures: `118 of 157 accepted · 61 passes · 2.9 each · 31.4 tok/s · 1.63× est.`"""
    count = counters.target_passes
    parts = [
        plural("{count} pass", "{count} passes", count).format(count=count),
        _("{each} each").format(each=number(counters.tokens_per_pass)),
        _("{speed} tok/s").format(speed=number(counters.tokens_per_second)),
    ]
    if counters.drafted:
        pair = _("{accepted} of {drafted}").format(accepted=counters.accepted, drafted=counters.drafted)
        parts.insert(0, _("{pair} accepted").format(pair=pair))
        if counters.speed_up is not None:
            parts.append(_("{speed_up}× est.").format(speed_up=number(counters.speed_up, 2)))
    return _DOT.join(parts)


def _fitting(parts: Sequence[Content], width: int) -> Content:
    """The parts with dots between them, as many of the first ones as fit."""
    fitting = parts[0]
    for part in parts[1:]:
        longer = Content.assemble(fitting, (_DOT, LABEL), part)
        if longer.cell_length > width:
            break
        fitting = longer
    return fitting
