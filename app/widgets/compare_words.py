"""What is said while a comparison is made."""

from __future__ import annotations

from textual.content import Content

from specchat.app.bench.blocks import as_text
from specchat.app.bench.prompts import kind_name
from specchat.app.bench.report import draft_name, gamma_name, verdict_sentence
from specchat.app.bench.runner import LeftOut, Stalled
from specchat.app.bench.sides import Side
from specchat.app.compare.document import Compared
from specchat.app.compare.session import Session
from specchat.app.compare.telling import verdict
from specchat.app.screens.turns import STAGES
from specchat.app.widgets.look import ACCEPTED, VALUE
from specchat.app.words import _, sentence
from specchat.models.errors import CodedError

_STYLES = {"helps": f"{VALUE} {ACCEPTED}", "hurts": f"{VALUE} $text-error"}


def progress(session: Session) -> str:
    """How far it is, and how long it will still take; empty before anything is known."""
    if session.stage and (session.stage.stage != "prefill" or not session.began):
        return STAGES[session.stage.stage]().format(share=session.stage.done / max(session.stage.total, 1))
    began = session.began
    if began is None:
        return ""
    who = side_words(began.step.side)
    if not began.number:
        return _("warming up: {side}").format(side=who)
    parts = [_("{number} of {total}").format(number=began.number, total=began.total)]
    parts += [text for text in (session.time.left, who) if text]
    if len(session.order.prompts) > 1:
        parts.append(kind_name(began.step.prompt.kind))
    return " · ".join([*parts, _("Esc stops and keeps what is measured")])


def notice(event: CodedError | LeftOut | Stalled) -> str:
    """What a person must hear of."""
    match event:
        case LeftOut(draft):
            return _("{draft} is left out.").format(draft=draft_name(draft))
        case Stalled():
            return _("The machine stood still during a reply, so that is written anew.")
        case _:
            return sentence(event.code, event.params)


def told(compared: Compared, width: int) -> Content:
    """The verdict and the reason, laid out for `width` columns; the verdict stands out, also without colours."""
    sides = [side.overall for side in compared.measured.sides]
    styles = {verdict_sentence(overall): _STYLES.get(overall.verdict, VALUE) for overall in sides}
    lines = as_text(verdict(compared), width).splitlines()
    return Content("\n").join(Content.styled(line, styles.get(line, "")) for line in lines)


def side_words(side: Side) -> str:
    """Who writes."""
    if not side.draft:
        return _("without")
    return _("{draft}, γ {gamma}").format(draft=draft_name(side.draft), gamma=gamma_name(side.gamma))
