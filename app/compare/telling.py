"""A comparison in words, for the screen and for Markdown: the verdict, why it is so, and what to try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from specchat.app.bench.blocks import Block, Facts, Heading, Sentences, Table
from specchat.app.bench.document import Document, SideResult
from specchat.app.bench.prompts import kind_name
from specchat.app.bench.report import conditions, draft_name, percent, size, verdict_name, verdict_sentence
from specchat.app.bench.sides import LOOKUP
from specchat.app.compare.difference import Difference
from specchat.app.compare.document import Compared, Told
from specchat.app.compare.reason import Reason, best_gamma
from specchat.app.figures import number
from specchat.app.words import _, plural, visible

WORTH_TRYING = 1.03
"""A promise is told of if it is better than what was measured by this factor: less is noise."""

MOSTLY = 0.8
"""Share of the rounds that must have had guesses for a promise. Lookup finds them only here and there, and γ auto
guesses only where it seems to pay: what such rounds bring can't be had in all of them."""


def blocks(compared: Compared) -> Iterator[Block]:
    """The whole comparison."""
    measured = compared.measured
    yield Heading(_("specchat compare · {started}").format(started=measured.started))
    for asked in compared.prompts:
        yield Sentences((_("{kind}: {text}").format(kind=kind_name(asked.kind), text=one_line(asked.text, 400)),))
    yield from verdict(compared)
    yield Heading(_("How it was measured"))
    yield Facts(tuple(conditions(measured)))


def verdict(compared: Compared) -> Iterator[Block]:
    """What came of it, without how it was measured."""
    measured = compared.measured
    if measured.partial:
        yield Sentences((_("Partial: it ended before all replies were written."),))
    if not measured.sides:
        yield Sentences((_("Nothing can be compared: no prompt was answered both with and without a draft."),))
        return
    if len(measured.sides) > 1:
        yield ranking(measured)
        yield Sentences((_("Sorted by speed-up: each draft against the plain replies it alternated with."),))
    for side, told in zip(measured.sides, compared.sides, strict=True):
        yield from _side(side, told, measured)
    yield Sentences(tuple(texts(compared)))


def ranking(document: Document) -> Table:
    """All drafts, the fastest first, and the target alone among them."""
    rows = [(side.overall.speed_up or 0.0, _ranked(side, document)) for side in document.sides]
    plain = document.sides[0].overall.without_draft.tokens_per_second
    rows.append((1.0, (_("no draft"), number(plain), "1.00×", "–", "–", "")))
    rows.sort(key=lambda row: -row[0])
    header = (_("draft"), _("tok/s"), _("speed-up"), _("95 % interval"), _("memory"), _("verdict"))
    return Table(header, tuple(cells for _speed, cells in rows), words=1)


def _ranked(side: SideResult, document: Document) -> tuple[str, ...]:
    overall = side.overall
    memory = next((file.memory for file in document.drafts if file.path == side.draft), 0)
    return (
        draft_name(side.draft),
        number(overall.with_draft.tokens_per_second),
        f"{number(overall.speed_up, 2)}×",
        "–" if overall.low is None else f"{number(overall.low, 2)}–{number(overall.high, 2)}",
        size(memory) if memory else "–",
        verdict_name(overall.verdict),
    )


def _side(side: SideResult, told: Told, document: Document) -> Iterator[Block]:
    overall = side.overall
    speeds = _("{name}, γ {gamma}: {speed} tok/s, without {plain}").format(
        name=draft_name(side.draft),
        gamma=side.gamma,
        speed=number(overall.with_draft.tokens_per_second),
        plain=number(overall.without_draft.tokens_per_second),
    )
    repeats = plural("{count} pair of replies", "{count} pairs of replies", overall.pairs).format(count=overall.pairs)
    yield Sentences((verdict_sentence(overall), f"{speeds} · {repeats}"))
    if told.reason is None:
        nothing = _("Nothing was guessed, so there is nothing to take apart: {why}.")
        yield Sentences((nothing.format(why=_why_nothing(side)),))
        return
    yield reason_table(told.reason)
    yield Sentences((*_meaning(side, told.reason), *tries(side, told.reason, document)))


def _why_nothing(side: SideResult) -> str:
    if side.gamma == "auto":
        return _("guessing didn't seem to pay, or there was nothing to guess from")
    return _("the text didn't repeat itself") if side.draft == LOOKUP else _("the draft had no guess")


def reason_table(reason: Reason) -> Table:
    """What was measured, and what each would have to be for the draft to pay, the others as they are."""
    never = _("no value would do")
    rows = (
        (
            "α",
            number(reason.alpha, 2),
            never if reason.alpha_needed is None else _("above {value}").format(value=number(reason.alpha_needed, 2)),
        ),
        (
            "c",
            number(reason.c, 2),
            never if reason.c_needed is None else _("below {value}").format(value=number(reason.c_needed, 2)),
        ),
        (
            _("V(γ+1)/V(1)"),
            number(reason.verify, 2),
            never if reason.verify_needed is None else _("below {value}").format(value=number(reason.verify_needed, 2)),
        ),
    )
    return Table((_("why"), _("here"), _("pays if")), rows, words=1)


def _meaning(side: SideResult, reason: Reason) -> Iterator[str]:
    if reason.share < 1:
        yield _("Guesses were made in {share} of the rounds; all this is of those rounds alone.").format(
            share=percent(reason.share)
        )
    if side.drafter == "both":
        yield _("Where the text repeats itself lookup guesses in the draft's place; α and c are of both together.")
    yield _(
        "A round made {gamma} guesses, brought {tokens} tokens and cost as much as {cost} tokens of plain decoding."
    ).format(gamma=number(reason.gamma), tokens=number(reason.tokens, 2), cost=number(reason.cost / reason.plain, 2))
    yield _(
        "α: how far the draft agrees with the target. c: one guess ÷ one plain pass. V(γ+1)/V(1): checking a round's "
        "guesses ÷ one plain pass. Each limit holds if the other two stay as they are."
    )


def tries(side: SideResult, reason: Reason, document: Document) -> Iterator[str]:
    """What may do better."""
    measured = side.overall.speed_up or 0.0
    costs: Mapping[int, float] = (
        {cost.width: cost.seconds for cost in document.target.costs.widths} if document.target.costs else {}
    )
    best = best_gamma(reason, costs)
    is_slow = side.overall.verdict == "hurts" or measured < 1
    if best and reason.share >= MOSTLY and side.gamma != best[0] and best[1] > max(measured * WORTH_TRYING, 1.0):
        yield _("Try γ {gamma}: by these figures about {ratio}×.").format(gamma=best[0], ratio=number(best[1], 2))
    if is_slow and side.gamma != "auto":
        yield _("Try γ auto, which guesses only where it pays.")
    if side.draft != LOOKUP and reason.c_needed is not None and reason.c >= reason.c_needed:
        yield _("Try a smaller draft: one guess must cost less than {c} of a plain pass.").format(
            c=number(reason.c_needed, 2)
        )
    if is_slow and all(other.draft != LOOKUP for other in document.sides):
        yield _("Try lookup, whose guesses cost nothing; it helps where a reply repeats its prompt.")
    if is_slow and (best is None or best[1] <= 1):
        yield _("For such prompts no draft is the fastest choice here.")


def texts(compared: Compared) -> Iterator[str]:
    """Whether the texts are the same, and why not."""
    if compared.measured.conditions.sampling.temperature > 0:
        yield _(
            "Above temperature 0 the texts may differ, since speculation draws its random numbers in another order. "
            "The distribution doesn't: each token follows the target's own probabilities, with a draft or without."
        )
        return
    for told in compared.sides:
        if told.same_text:
            said = _("At temperature 0 both sides wrote the same text, token for token.")
        elif told.difference:
            said = _parted(told.difference)
        else:
            continue
        yield said if len(compared.sides) == 1 else f"{draft_name(told.draft)}: {said}"


def _parted(difference: Difference) -> str:
    place = difference.position + 1
    if not difference.without and not difference.with_draft:
        said = _("Both sides wrote the same text at temperature 0, but of other tokens from token {position} on.")
        return " ".join([said.format(position=place), *_tie(difference)])
    said = _(
        "The texts part at token {position}, after “{shared}”: “{without}” without, “{with_draft}” with the draft."
    )
    said = said.format(
        position=place,
        shared=one_line(difference.shared, 40),
        without=one_line(difference.without, 30) or _("(the end)"),
        with_draft=one_line(difference.with_draft, 30) or _("(the end)"),
    )
    return " ".join([said, *_tie(difference)])


def _tie(difference: Difference) -> Iterator[str]:
    """How nearly the target's choice was a tie."""
    gap = difference.gap
    if gap is None:
        return
    first, second = (one_line(word.text, 20) for word in difference.words[:2])
    said = _("There the target's two likeliest tokens, “{first}” and “{second}”, are {gap} apart in logits.")
    yield said.format(first=first, second=second, gap=number(gap, 3))
    if difference.is_near_tie:
        yield _("That is a near-tie: a pass over several tokens rounds otherwise than one over a single token.")
    else:
        yield _("That is no near-tie, so rounding alone hardly explains it.")


def one_line(text: str, most: int) -> str:
    """Raw text as one safe line of at most `most` characters."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"
