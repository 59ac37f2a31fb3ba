"""A benchmark as a picture: speed-ups by kind with their intervals, and after a sweep the speed by γ."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specchat.app.bench.document import Document, File, SideResult
from specchat.app.bench.prompts import kind_name
from specchat.app.bench.report import best_told, by_draft, draft_name, side_name
from specchat.app.bench.sides import LOOKUP
from specchat.app.words import _

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENDINGS = (".svg", ".png")

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe & Ito's, which people with any kind of colour vision tell apart."""
_GREY = "#777777"
_ROW = 0.42
"""Inches for a kind and a side."""


def save_plot(document: Document, path: Path) -> None:
    """Draw `document` into a file whose ending is one of `ENDINGS`. Raises `OSError`."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of its caches, which is no news to anyone here
    from matplotlib import rc_context

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "specchat", "font.size": 9, "text.parse_math": False}):
        figure = draw(document)
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else None
        figure.savefig(path, format=path.suffix.lower()[1:], dpi=150, metadata=metadata)


def draw(document: Document) -> Figure:
    """The picture: a panel of speed-ups, and one for each draft that was swept."""
    from matplotlib.figure import Figure

    drafts = by_draft(document.sides)
    told = [best_told(sides) for sides in drafts.values()]
    swept = [sides for sides in drafts.values() if len(sides) > 1]
    rows = max((len(side.kinds) for side in told), default=0) + 1
    height = 1.6 + _ROW * rows * (1 + 0.35 * (len(told) - 1))
    figure = Figure(figsize=(6.4 + 5.2 * len(swept), max(height, 4.2)), layout="constrained")
    panels = figure.subfigures(1, 1 + len(swept), squeeze=False)[0]
    _draw_speed_ups(panels[0].subplots(), told)
    for panel, sides in zip(panels[1:], swept, strict=True):
        _draw_sweep(panel.subplots(), sides, document)
    for panel in panels if told else ():
        panel.legend(loc="outside lower center", frameon=False)
    figure.suptitle(_title(document), fontsize="medium")
    return figure


def _title(document: Document) -> str:
    conditions = document.conditions
    said = _("{target} on {machine}\ntemperature {temperature:g} · {tokens} tokens · {repeats} repeats").format(
        target=draft_name(document.target.path),
        temperature=conditions.sampling.temperature,
        tokens=conditions.max_tokens,
        repeats=conditions.repeats,
        machine=document.machine.cpu,
    )
    return f"{said} · {_('partial')}" if document.partial else said


def _draw_speed_ups(axes: Axes, sides: Sequence[SideResult]) -> None:
    kinds = list(dict.fromkeys(kind for side in sides for kind in side.kinds))
    labels = [*(kind_name(kind) for kind in kinds), _("all")]
    for number, side in enumerate(sides):
        shift = (number - (len(sides) - 1) / 2) * 0.7 / len(sides)
        found = [*(side.kinds.get(kind) for kind in kinds), side.overall]
        for row, comparison in enumerate(found):
            if comparison is None or comparison.speed_up is None:
                continue
            low, high = comparison.low or comparison.speed_up, comparison.high or comparison.speed_up
            axes.errorbar(
                comparison.speed_up,
                row + shift,
                xerr=[[comparison.speed_up - low], [high - comparison.speed_up]],
                fmt="D" if row == len(kinds) else "o",
                color=_COLOURS[number % len(_COLOURS)],
                capsize=3,
                label=side_name(side) if row == len(kinds) else None,
            )
    axes.axvline(1, color=_GREY, linewidth=1)
    axes.axhline(len(kinds) - 0.5, color=_GREY, linewidth=0.5)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlabel(_("speed-up over plain decoding, with 95 % interval"))
    axes.grid(axis="x", alpha=0.3)


def _draw_sweep(axes: Axes, sides: Sequence[SideResult], document: Document) -> None:
    fixed = [side for side in sides if side.gamma != "auto"]
    plain = fixed[0].overall.without_draft.tokens_per_second or 0.0
    speeds = {0: plain} | {_number(side): side.overall.with_draft.tokens_per_second or 0.0 for side in fixed}
    axes.plot(list(speeds), list(speeds.values()), "o-", color=_COLOURS[0], label=_("measured, γ fixed"))
    axes.axhline(plain, color=_GREY, linewidth=1, label=_("plain decoding"))
    for side in sides:
        if side.gamma == "auto":
            auto = side.overall.with_draft.tokens_per_second or 0.0
            axes.axhline(auto, color=_COLOURS[1], linestyle="--", label=_("γ auto"))
    if curve := papers_curve(fixed, document.target):
        axes.plot(list(curve), list(curve.values()), ":", color=_COLOURS[2], label=_("papers' formula"))
    axes.set_title(draft_name(sides[0].draft), fontsize="medium")
    axes.set_xticks(list(speeds))
    axes.set_xlabel(_("guesses a round (γ)"))
    axes.set_ylabel(_("tok/s, geometric mean of all kinds"))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)


def papers_curve(fixed: Sequence[SideResult], target: File) -> dict[int, float]:
    """Tokens a second by γ after Leviathan et al. 2022 (Theorem 3.8), with a pass that costs what it was measured to.

    (1 − α^(γ+1)) / (1 − α) tokens take γ·c·V(1) + V(γ+1) seconds, if each guess is accepted with probability α
    whatever came before. α and c are means over the sides, weighted by their guesses. Empty where V or c isn't known,
    as it is for lookup, which doesn't guess in every round.
    """
    costs = {cost.width: cost.seconds for cost in target.costs.widths} if target.costs else {}
    figures = [side.overall.with_draft for side in fixed if side.draft != LOOKUP]
    known = [(f.alpha, f.c, f.drafted) for f in figures if f.alpha is not None and f.c is not None]
    if not costs or 1 not in costs or not known:
        return {}
    weight = sum(drafted for _alpha, _c, drafted in known)
    alpha = sum(alpha * drafted for alpha, _c, drafted in known) / weight
    c = sum(c * drafted for _alpha, c, drafted in known) / weight
    widest = max(_number(side) for side in fixed)
    return {
        gamma: sum(alpha**i for i in range(gamma + 1)) / (gamma * c * costs[1] + seconds)
        for gamma in range(widest + 1)
        if (seconds := between(costs, gamma + 1)) is not None
    }


def between(costs: Mapping[int, float], width: int) -> float | None:
    """The cost of a width, on a straight line between the measured ones around it; None beyond them."""
    below = max((known for known in costs if known <= width), default=None)
    above = min((known for known in costs if known >= width), default=None)
    if below is None or above is None:
        return None
    share = (width - below) / (above - below) if above > below else 0.0
    return costs[below] + share * (costs[above] - costs[below])


def _number(side: SideResult) -> int:
    return 0 if side.gamma == "auto" else side.gamma
