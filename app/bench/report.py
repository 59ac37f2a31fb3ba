"""A document in words and tables, for people. What the words mean is in the README."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from specchat.app.bench.blocks import Block, Facts, Heading, Sentences, Table
from specchat.app.bench.document import Comparison, Document, File, SideResult
from specchat.app.bench.intervals import Verdict
from specchat.app.bench.prompts import BUILTIN, CHAT, kind_name
from specchat.app.bench.sides import LOOKUP
from specchat.app.figures import number
from specchat.app.words import _, plural, visible
from specchat.settings.values import Gamma

_POSITIONS = 8
"""As many positions' acceptance is shown; the document holds all."""


def blocks(document: Document) -> Iterator[Block]:
    """The whole report, the verdicts first."""
    yield Heading(_("specchat bench · {started}").format(started=document.started))
    if document.partial:
        yield Sentences((_("Partial: the benchmark ended before all replies were written."),))
    if not document.sides:
        yield Sentences((_("Nothing can be compared: no prompt was answered both with and without a draft."),))
    else:
        yield Facts(tuple((side_name(side), verdict_sentence(side.overall)) for side in document.sides))
    for sides in by_draft(document.sides).values():
        if len(sides) > 1:
            yield from _sweep(sides)
        yield from _side(best_told(sides), document)
    yield Heading(_("How it was measured"))
    yield Facts(tuple(conditions(document)))


def by_draft(sides: Sequence[SideResult]) -> dict[str, list[SideResult]]:
    """The sides of each draft, those of fixed γ first, the fewest guesses foremost."""
    drafts: dict[str, list[SideResult]] = {}
    for side in sides:
        drafts.setdefault(side.draft, []).append(side)
    return {draft: sorted(found, key=_gamma_order) for draft, found in drafts.items()}


def best_told(sides: Sequence[SideResult]) -> SideResult:
    """The side that is told of in full: the one that chooses γ itself, where there is one, else the fastest."""
    chosen = [side for side in sides if side.gamma == "auto"]
    return chosen[0] if chosen else max(sides, key=lambda side: side.overall.speed_up or 0.0)


def draft_name(draft: str) -> str:
    """What a draft is called: its file's name, without the folder."""
    return _("lookup") if draft == LOOKUP else visible(Path(draft).name)


def gamma_name(gamma: Gamma) -> str:
    """The number of guesses a round, or that it is chosen."""
    return _("auto") if gamma == "auto" else str(gamma)


def side_name(side: SideResult) -> str:
    """The draft, and its guesses a round."""
    return _("{draft}, γ {gamma}").format(draft=draft_name(side.draft), gamma=gamma_name(side.gamma))


def verdict_sentence(comparison: Comparison) -> str:
    """What a comparison comes to: `helps: 1.52× (1.44–1.60)`."""
    said = {
        "helps": _("helps: {ratio}× ({low}–{high})"),
        "hurts": _("hurts: {ratio}× ({low}–{high})"),
        "no_clear_difference": _("no clear difference: {ratio}× ({low}–{high})"),
        "one_repeat": _("{ratio}× in one repeat, which can't tell how sure that is"),
        "nothing": _("nothing was written"),
    }
    return said[comparison.verdict].format(
        ratio=number(comparison.speed_up, 2), low=number(comparison.low, 2), high=number(comparison.high, 2)
    )


def verdict_name(verdict: Verdict) -> str:
    """A verdict in a word or two, where its figures stand beside it."""
    return {
        "helps": _("helps"),
        "hurts": _("hurts"),
        "no_clear_difference": _("no clear difference"),
        "one_repeat": _("one repeat"),
        "nothing": _("nothing written"),
    }[verdict]


def _gamma_order(side: SideResult) -> float:
    return float("inf") if side.gamma == "auto" else side.gamma


def _rows(side: SideResult, row: Callable[[Comparison], tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """A row for each kind, and one for all."""
    kinds = [(kind_name(kind), *row(comparison)) for kind, comparison in side.kinds.items()]
    return (*kinds, (_("all"), *row(side.overall)))


def _side(side: SideResult, document: Document) -> Iterator[Block]:
    yield Heading(side_name(side))
    yield Table(
        (_("kind"), _("tok/s"), _("without"), _("speed-up"), _("95 % interval"), _("verdict")),
        _rows(side, _speeds),
        words=1,
    )
    if any(comparison.verdict == "one_repeat" for comparison in side.kinds.values()):
        yield Sentences((_("Nothing was repeated, so there are no intervals; --repeat 3 gives them."),))
    yield Table(
        (_("kind"), _("α"), _("c"), _("accepted"), _("per pass"), _("accepted at position 1, 2, … (%)")),
        _rows(side, _guesses),
        words=1,
    )
    yield Table(
        (
            *(_("kind"), _("draft"), _("verify"), _("sampling"), _("other")),
            *(_("first token"), _("without"), _("estimate")),
        ),
        _rows(side, _times),
    )
    yield Sentences(tuple(_notes(side, document)))


def _speeds(comparison: Comparison) -> tuple[str, ...]:
    known = comparison.low is not None
    return (
        number(comparison.with_draft.tokens_per_second),
        number(comparison.without_draft.tokens_per_second),
        f"{number(comparison.speed_up, 2)}×",
        f"{number(comparison.low, 2)}–{number(comparison.high, 2)}" if known else "–",
        verdict_name(comparison.verdict),
    )


def _guesses(comparison: Comparison) -> tuple[str, ...]:
    figures = comparison.with_draft
    positions = [f"{share * 100:3.0f}" for share in figures.acceptance_by_position]
    more = [" …"] if len(positions) > _POSITIONS else []
    return (
        number(figures.alpha, 2),
        number(figures.c, 2),
        percent(figures.acceptance_rate),
        number(figures.tokens_per_pass, 2),
        " ".join([*positions[:_POSITIONS], *more]),
    )


def _times(comparison: Comparison) -> tuple[str, ...]:
    figures = comparison.with_draft
    parts = (figures.seconds_draft, figures.seconds_verify, figures.seconds_sampling, figures.seconds_other)
    return (
        *(percent(part / figures.seconds if figures.seconds else None) for part in parts),
        _seconds(figures.seconds_first_token),
        _seconds(comparison.without_draft.seconds_first_token),
        _estimate(comparison),
    )


def _estimate(comparison: Comparison) -> str:
    """How far the chat's estimate of plain decoding is from the plain replies."""
    estimate = comparison.with_draft.tokens_per_second_without
    measured = comparison.without_draft.tokens_per_second
    return f"{round((estimate / measured - 1) * 100):+d} %" if estimate and measured else "–"


def _notes(side: SideResult, document: Document) -> Iterator[str]:
    yield _(
        "all: of speeds, the geometric mean. without: plain replies, alternating with these. per pass: tokens a "
        "target pass. first token: from the prompt to the first token. estimate: how far the chat's own figure for "
        "plain decoding is from the plain replies."
    )
    draft = next((file for file in document.drafts if file.path == side.draft), None)
    if draft is not None and draft.memory:
        yield _("The draft takes {memory}.").format(memory=size(draft.memory))


def _sweep(sides: Sequence[SideResult]) -> Iterator[Block]:
    """Speeds by the number of guesses a round."""
    yield Heading(_("{draft}: tok/s by guesses a round (γ)").format(draft=draft_name(sides[0].draft)))
    header = (_("kind"), "0", *(gamma_name(side.gamma) for side in sides))
    kinds = list(sides[0].kinds)
    rows = [_sweep_row(kind_name(kind), [side.kinds.get(kind) for side in sides]) for kind in kinds]
    yield Table(header, (*rows, _sweep_row(_("all"), [side.overall for side in sides])))
    yield Table(
        (_("γ"), _("speed-up"), _("95 % interval"), _("α"), _("accepted"), _("tokens per pass"), _("verdict")),
        tuple(_sweep_line(side) for side in sides),
        words=1,
    )


def _sweep_row(label: str, comparisons: Sequence[Comparison | None]) -> tuple[str, ...]:
    """A kind's speeds, the plain one first, with a star at the greatest."""
    plain = next((found.without_draft.tokens_per_second for found in comparisons if found), None)
    speeds = [plain, *(found.with_draft.tokens_per_second if found else None for found in comparisons)]
    best = max((speed for speed in speeds if speed), default=None)
    return (label, *(f"{number(speed)}{'*' if speed and speed == best else ' '}" for speed in speeds))


def _sweep_line(side: SideResult) -> tuple[str, ...]:
    _speed, _without, ratio, interval, verdict = _speeds(side.overall)
    figures = side.overall.with_draft
    alpha, accepted = number(figures.alpha, 2), percent(figures.acceptance_rate)
    return gamma_name(side.gamma), ratio, interval, alpha, accepted, number(figures.tokens_per_pass, 2), verdict


def conditions(document: Document) -> Iterator[tuple[str, str]]:
    """What makes the measurement repeatable: models, machine, settings, versions."""
    chosen, machine = document.conditions, document.machine
    yield _("target"), _file(document.target)
    for draft in document.drafts:
        yield _("draft"), _file(draft)
    for file in (document.target, *document.drafts):
        if file.costs:
            yield _("V(n), ms"), f"{draft_name(file.path)}: {_costs(file)}"
    yield _("machine"), visible(" · ".join(_machine(document)))
    yield _("backend"), visible(" · ".join([machine.backend, *machine.devices]))
    sampling = chosen.sampling
    yield (
        _("sampling"),
        f"temperature {sampling.temperature:g} · top-k {sampling.top_k} · top-p {sampling.top_p:g} · "
        f"min-p {sampling.min_p:g} · seed {sampling.seed}",
    )
    named = {BUILTIN: _("built-in"), CHAT: _("of a chat")}
    prompts = named.get(document.prompts.source) or visible(document.prompts.source)
    yield _("prompts"), f"{prompts} · sha256 {document.prompts.sha256[:16]}…"
    tokens = plural("{count} token", "{count} tokens", chosen.max_tokens).format(count=chosen.max_tokens)
    repeats = plural("{count} repeat", "{count} repeats", chosen.repeats).format(count=chosen.repeats)
    yield _("replies"), " · ".join([tokens, repeats, _("{rule} rule").format(rule=chosen.rule)])
    yield _("versions"), visible(" · ".join(f"{name} {version}" for name, version in document.versions.items()))


def _machine(document: Document) -> Sequence[str]:
    machine = document.machine
    cores = _("{cores} cores, {threads} threads").format(cores=machine.cores or "?", threads=machine.threads or "?")
    return machine.cpu, cores, size(machine.memory), machine.platform


def _file(file: File) -> str:
    parts = [draft_name(file.path), visible(file.description), size(file.size), ", ".join(map(visible, file.devices))]
    return " · ".join([*parts, *([f"sha256 {file.sha256[:16]}…"] if file.sha256 else [])])


def _costs(file: File) -> str:
    widths: Mapping[int, float] = {cost.width: cost.seconds for cost in file.costs.widths} if file.costs else {}
    return " · ".join(f"{width}: {number(seconds * 1000)}" for width, seconds in widths.items())


def percent(share: float | None) -> str:
    """A share as a whole percentage; a dash while it is unknown."""
    return "–" if share is None else f"{share:.0%}".replace("%", " %")


def size(bytes: int) -> str:
    """Bytes in the unit that suits them."""
    if bytes >= 2**30:
        return _("{size:.1f} GiB").format(size=bytes / 2**30)
    return _("{size:.0f} MiB").format(size=bytes / 2**20)


def _seconds(value: float | None) -> str:
    return "–" if value is None else _("{seconds:.2f} s").format(seconds=value)
