"""What happened in one round of a reply, for the X-ray."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from textual.content import Content

from specchat.app.chats.records import Step
from specchat.app.figures import number
from specchat.app.reasons import reason_line
from specchat.app.widgets.look import LABEL, labelled
from specchat.app.widgets.xray_text import STYLES
from specchat.app.widgets.xray_tokens import Origin, tokens_of, visible_piece
from specchat.app.words import _, plural
from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round

_MARKS = {Origin.ACCEPTED: "✓", Origin.REJECTED: "✗", Origin.UNUSED: "–"}


def facts(step: Step, position: int, total: int) -> Content:
    """Four lines on the round at `position`, counted from 1: what came of it, its tokens, its times, its reason."""
    place = labelled(_("round {position} of {total}"), position=f"{position:,}", total=f"{total:,}")
    round = step.round
    return Content("\n").join([_line([place, *_outcome(round)]), _tokens(step), _times(round), _line(_why(round))])


def _outcome(round: Round) -> Iterator[Content]:
    if not round.guesses:
        yield labelled(_("nothing guessed") if round.speculating else _("nothing guessed, speculation was off"))
        return
    counters = count([round])
    drafter = _("lookup") if round.drafter == "lookup" else _("model")
    yield labelled(_("{count} drafted ({drafter})"), count=str(counters.drafted), drafter=drafter)
    yield labelled(_("{count} accepted"), count=str(counters.accepted))
    yield labelled(_("{count} rejected"), count=str(counters.rejected))
    yield labelled(_("{count} unused"), count=str(counters.unused))


def _tokens(step: Step) -> Content:
    """All its guesses, the unused ones too, and the target's own token."""
    return Content("   ").join(_token(*token) for token in tokens_of(step))


def _token(piece: bytes, origin: Origin) -> Content:
    shown = visible_piece(piece).replace("\n", "")
    word = shown.lstrip(" ") or "␣"
    return Content.assemble((_MARKS.get(origin, "→"), LABEL), " " * (len(shown) - len(word)), (word, STYLES[origin]))


def _times(round: Round) -> Content:
    counters = count([round])
    wrote = plural("{count} token in {ms} ms: ", "{count} tokens in {ms} ms: ", counters.tokens)
    parts = [
        labelled(_("draft {ms}"), ms=_ms(counters.seconds_draft)),
        labelled(_("verify {ms}"), ms=_ms(counters.seconds_verify)),
        labelled(_("sampling {ms}"), ms=_ms(counters.seconds_sampling)),
        labelled(_("other {ms}"), ms=_ms(counters.seconds_other)),
    ]
    return labelled(wrote, count=str(counters.tokens), ms=_ms(counters.seconds)) + _line(parts)


def _why(round: Round) -> Iterator[Content]:
    if reason := reason_line(round.reason, len(round.guesses)):
        yield labelled(reason)
    if count := round.padding:
        padding = plural("{count} token of padding", "{count} tokens of padding", count)
        yield labelled(padding, count=str(count))


def _ms(seconds: float) -> str:
    return number(1000 * seconds)


def _line(parts: Iterable[Content]) -> Content:
    return Content.styled(" · ", LABEL).join(parts)
