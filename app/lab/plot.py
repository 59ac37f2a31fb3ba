"""Columns drawn with characters: readable without colours, and in as little room as a small window has."""

from __future__ import annotations

from collections.abc import Sequence

from specchat.app.lab.rows import Row, Span, cell
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN, VALUE
from specchat.app.words import _

HEIGHT = 7
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_AXIS = 6


def columns(
    values: Sequence[float], best: int, chosen: int, points: Sequence[tuple[int, float]], width: int
) -> list[Row]:
    """A column for each γ from 0 on, with its value below it; the best in brackets, the chosen one bright.

    A line of dots marks 1×, plain decoding. `points` are (γ, value) that were measured, drawn as ●.
    """
    each = max((width - _AXIS) // len(values), 4)
    most = max(*values, 1.0, *(value for _gamma, value in points)) * 1.02
    rows = [_level(level, values, chosen, points, most, each) for level in reversed(range(HEIGHT))]
    gammas: list[Span] = [(cell("γ", _AXIS), LABEL)]
    speeds: list[Span] = [(cell(_("speed"), _AXIS), LABEL)]
    for gamma, value in enumerate(values):
        name, speed = str(gamma), f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"
        if gamma == best:
            name, speed = f"({name})", f"({speed})"
        style = VALUE if gamma in (best, chosen) else LABEL
        gammas.append((_centred(name, each), style))
        speeds.append((_centred(speed, each), style))
    return [*rows, tuple(gammas), tuple(speeds)]


def _level(
    level: int, values: Sequence[float], chosen: int, points: Sequence[tuple[int, float]], most: float, each: int
) -> Row:
    """One row of cells, `level` cells above the ground."""
    one = int(HEIGHT / most)
    at_one = level == min(one, HEIGHT - 1)
    top = f"{most * (level + 1) / HEIGHT:.1f}×" if level == HEIGHT - 1 else "1×" if at_one else ""
    spans: list[Span] = [(cell(top, _AXIS - 1, right=True) + " ", LABEL)]
    for gamma, value in enumerate(values):
        filled = min(max(round(8 * (value / most * HEIGHT - level)), 0), 8)
        char = _EIGHTHS[filled]
        marked = any(g == gamma and int(v / most * HEIGHT) == level for g, v in points)
        middle = "●" if marked else ""
        ground = "┄" if at_one else " "
        body = char * (each - 2) if filled else ground * (each - 2)
        if middle:
            half = (each - 2) // 2
            body = body[:half] + middle + body[half + 1 :]
        style = (ACCEPTED if value >= 1 else PLAIN) if filled else LABEL
        spans += [(ground, LABEL), (body, f"bold {style}" if gamma == chosen and filled else style), (ground, LABEL)]
    return tuple(spans)


def _centred(text: str, width: int) -> str:
    return text.center(width)
