"""Where the seconds of writing went, as one bar."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.words import _
from specchat.models.decoding.counters import Counters

_MARKS = (("█", ACCEPTED), ("▓", PLAIN), ("▒", LABEL), ("░", LABEL))
"""A mark and a colour for drafting, verifying, sampling and the rest."""


def time_bar(counters: Counters | None, width: int) -> Content:
    """Three lines: a bar of `width` cells and its legend with percentages, which add up to 100."""
    seconds = _seconds(counters)
    bar = [(mark * cells, colour) for (mark, colour), cells in zip(_MARKS, shares(seconds, width), strict=True)]
    percents = [f"{part:>3}" for part in shares(seconds, 100)] if sum(seconds) else ["  –"] * len(_MARKS)
    names = (_("draft"), _("verify"), _("sampling"), _("other"))
    entries = [
        Content.assemble((mark, colour), " ", (name.ljust(9), LABEL), (percent, VALUE), (" %", LABEL))
        for (mark, colour), name, percent in zip(_MARKS, names, percents, strict=True)
    ]
    column = width // 2
    return Content("\n").join(
        [
            Content.assemble(*bar) if sum(seconds) else Content("–"),
            entries[0].pad_right(column - entries[0].cell_length) + entries[1],
            entries[2].pad_right(column - entries[2].cell_length) + entries[3],
        ]
    )


def shares(parts: Sequence[float], total: int) -> list[int]:
    """`parts` as whole numbers that add up to `total` (largest remainders), all 0 if the parts are."""
    whole = sum(parts)
    if not whole:
        return [0] * len(parts)
    exact = [part / whole * total for part in parts]
    result = [int(part) for part in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: result[i] - exact[i])
    for i in by_remainder[: total - sum(result)]:
        result[i] += 1
    return result


def _seconds(counters: Counters | None) -> tuple[float, ...]:
    if counters is None:
        return (0.0,) * len(_MARKS)
    return (
        counters.seconds_draft,
        counters.seconds_verify,
        counters.seconds_sampling,
        max(counters.seconds_other, 0.0),  # float dust
    )
