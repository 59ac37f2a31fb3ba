"""A chi-square test without scipy."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping


def chi_square_p(observed: Mapping[Hashable, int], law: Mapping[Hashable, float]) -> float:
    """The chance of outcomes at least as far from `law` as `observed`; cells expected below 5 are pooled.

    Wilson and Hilferty's normal approximation of the chi-square law, good to a few parts in a thousand. Outcomes
    the law excludes give 0.
    """
    total = sum(observed.values())
    if any(law.get(outcome, 0.0) == 0 for outcome in observed):
        return 0.0
    cells: list[tuple[float, float]] = []
    pooled = [0.0, 0.0]
    for outcome, probability in law.items():
        seen, expected = observed.get(outcome, 0), probability * total
        if expected < 5:
            pooled[0] += seen
            pooled[1] += expected
        else:
            cells.append((seen, expected))
    if pooled[1] > 0:
        cells.append((pooled[0], pooled[1]))
    degrees = len(cells) - 1
    if degrees == 0:
        return 1.0
    distance = sum((seen - expected) ** 2 / expected for seen, expected in cells)
    normal = ((distance / degrees) ** (1 / 3) - (1 - 2 / (9 * degrees))) / math.sqrt(2 / (9 * degrees))
    return 0.5 * math.erfc(normal / math.sqrt(2))
