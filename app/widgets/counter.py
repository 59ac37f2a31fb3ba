"""The counter beside the chat: is the draft on, what does it bring, and why."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from specchat.app.figures import number
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE, labelled
from specchat.app.widgets.panel import CounterState, Panel, Part
from specchat.app.widgets.speedline import speed_line
from specchat.app.widgets.timebar import time_bar
from specchat.app.words import _
from specchat.models.decoding.counters import Counters

REASON_WORDS = (_("pays"), _("plain"), _("measuring"), _("unsure, match"), _("room, allowed"))
"""Those that explain a reason."""

_VALUE_ENDS = 24
"""The column in which every value ends; its label is to its left, what belongs to it to its right."""


class Counter(Panel):
    """The side panel, made for 39 columns."""

    DEFAULT_CSS = """
    Counter { width: 100%; height: auto; }
    """

    def __init__(self, id: str | None = None) -> None:
        def gap() -> Part:
            return Part(lambda _state, _width: Content(""))

        parts = (
            Part(head, (_("γ"), _("rule"))),
            Part(who, (_("drafter"),)),
            Part(lambda state, _width: Content.styled(state.reason, LABEL), REASON_WORDS),
            gap(),
            Part(speed, (_("tok/s"), _("now"))),
            Part(without, (_("without"),)),
            Part(speed_up, (_("speed-up, est."),)),
            gap(),
            Part(accepted, (_("accepted"), _("drafted"), _("acceptance rate"), _("rejected"), _("unused"))),
            Part(target_passes, (_("target pass, passes"), _("tokens per pass, each"))),
            Part(draft_runs, (_("draft run"), _("c"))),
            gap(),
            Part(lambda s, width: time_bar(s.reply, width), (_("draft, verify, sampling, other"),), height=3),
            gap(),
            Part(lambda s, width: speed_line(s.samples, width), (_("tok/s"),), height=3),
            gap(),
            Part(lambda s, _width: session(_("session on"), s.session_on), (_("session on, off"),)),
            Part(lambda s, _width: session(_("session off"), s.session_off), (_("session on, off"),)),
            Part(lambda s, _width: indicative(s), (_("session on, off"),)),
        )
        super().__init__(parts, id)


def head(state: CounterState, _width: int) -> Content:
    """What is on: the first thing to see."""
    if state.drafter == "none":
        return Content.assemble(head_word(state), (_(" · the target alone"), LABEL))
    rule = {"block": _("block rule"), "token": _("token rule")}[state.speculation.rule]
    gamma = _("γ {gamma}").format(gamma=state.speculation.gamma)
    return Content.assemble(head_word(state), (f" · {gamma} · {rule}", LABEL))


def head_word(state: CounterState) -> Content:
    """Whether anything is guessed."""
    if state.drafter == "none":
        return Content.styled(_("NO DRAFT"), f"{VALUE} {PLAIN}")
    if state.is_on:
        return Content.styled(_("DRAFT on"), f"{VALUE} {ACCEPTED}")
    return Content.styled(_("DRAFT off"), f"{VALUE} {PLAIN}")


def who(state: CounterState, _width: int) -> Content:
    """Who guesses; or what is being waited for."""
    return Content.styled(state.stage or drafter_word(state), LABEL)


def drafter_word(state: CounterState) -> str:
    """Who guesses, if anybody does."""
    return {"both": _("lookup + model"), "model": _("model"), "lookup": _("lookup"), "none": ""}[state.drafter]


def speed(state: CounterState, _width: int) -> Content:
    """Tokens a second, of the reply and now."""
    now = labelled(_("now {speed}"), speed=number(state.now).rjust(5))
    return _row(_("tok/s"), number(state.figures.tokens_per_second), now)


def without(state: CounterState, _width: int) -> Content:
    """What the target would reach alone."""
    return _row(_("without"), number(state.figures.tokens_per_second_without))


def speed_up(state: CounterState, _width: int) -> Content:
    """How much faster than that."""
    value = state.speed_up
    return _row(_("speed-up"), "–" if value is None else f"{number(value, 2)}×", labelled(_("estimated")))


def accepted(state: CounterState, _width: int) -> Content:
    """Accepted and drafted, and the rate."""
    rate = state.figures.acceptance_rate
    percent = number(None if rate is None else 100 * rate, 0).rjust(4)
    return _row(_("accepted"), state.accepted_of_drafted, labelled(_("{rate} %"), rate=percent))


def target_passes(state: CounterState, _width: int) -> Content:
    """Passes, and tokens for each."""
    each = labelled(_("{each} each"), each=number(state.figures.tokens_per_pass).rjust(4))
    return _row(_("target passes"), state.count(state.figures.target_passes), each)


def draft_runs(state: CounterState, _width: int) -> Content:
    """Runs of the draft model, and what one costs."""
    c = labelled(_("c {c}"), c=number(state.figures.c, 2))
    return _row(_("draft runs"), state.count(state.figures.draft_runs), c)


def session(label: str, counters: Counters | None) -> Content:
    """Tokens and tokens a second of this session's rounds of one kind."""
    tokens = "–" if counters is None else f"{counters.tokens:,}"
    per_second = number(None if counters is None else counters.tokens_per_second).rjust(5)
    return _row(label, tokens, labelled(_("tok · {speed}/s"), speed=per_second))


def indicative(state: CounterState) -> Content:
    """What the two sums are worth beside each other, once there are both."""
    both = state.session_on is not None and state.session_off is not None
    return Content.styled(_("other texts: indicative, not measured") if both else "", LABEL)


def _row(label: str, value: str, more: Content | str = "") -> Content:
    return Content.assemble((label, LABEL), (value.rjust(_VALUE_ENDS - cell_len(label)), VALUE), "  ", more)
