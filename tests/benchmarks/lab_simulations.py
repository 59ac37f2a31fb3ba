"""Time the Lab's simulations: each must take at most 50 ms for 10,000 runs or more.

    uv run python tests/benchmarks/lab_simulations.py

Prints the median of 20 runs of each.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from specchat.app.lab.laws import FIVE_P, FIVE_Q
from specchat.app.lab.rounds import RUNS, RoundsToy
from specchat.models import theory

LIMIT_MS = 50


def median_ms(work: Callable[[], object]) -> float:
    """Of 20 runs."""
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return 1000 * statistics.median(times)


def main() -> None:
    verse = RoundsToy(text=1)._text.weak
    cases: list[tuple[str, Callable[[], object]]] = [
        (f"{RUNS:,} texts, pass by pass", lambda: theory.simulate_passes(verse, 4, RUNS, seed=1)),
        ("20,000 draws by the rule", lambda: theory.simulate_rule(FIVE_P, FIVE_Q, 20_000, seed=1)),
        ("20,000 passes", lambda: theory.simulate_tokens_per_pass(0.7, 12, 20_000, seed=1)),
    ]
    for name, work in cases:
        print(f"{name:32}{median_ms(work):8.2f} ms   (limit {LIMIT_MS} ms)")


if __name__ == "__main__":
    main()
