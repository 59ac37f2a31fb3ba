"""From runs to the figures of each side: everything is counted from rounds, and compared pair by pair."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence

from specchat.app.bench.document import Comparison, Figures, RunResult, SideResult
from specchat.app.bench.intervals import SpeedUp, speed_ups
from specchat.app.bench.runner import Run
from specchat.app.bench.sides import PLAIN, Side
from specchat.models.decoding.counters import count

Pair = tuple[Run, Run]
"""A run with a draft, and the plain one of the same prompt, repeat and load."""


def compare(runs: Sequence[Run]) -> tuple[SideResult, ...]:
    """What each side brings, in the order in which they first come in `runs`; one without any pair is left out."""
    sides = dict.fromkeys(run.step.side for run in runs if run.step.side != PLAIN)
    kinds = sorted_kinds(runs)
    paired = {side: pairs_by_kind(runs, side, kinds) for side in sides}
    return tuple(_side_result(side, pairs) for side, pairs in paired.items() if any(pairs.values()))


def sorted_kinds(runs: Iterable[Run]) -> tuple[str, ...]:
    """The kinds of prompts in `runs`, in the order of the first repeat."""
    return tuple(dict.fromkeys(run.step.prompt.kind for run in sorted(runs, key=lambda run: run.step.repeat)))


def pairs_by_kind(runs: Iterable[Run], side: Side, kinds: Iterable[str]) -> dict[str, list[Pair]]:
    """For each kind, the runs of `side` with the plain ones they are compared with. Empty replies have no speed."""
    plain = {_place(run): run for run in runs if run.step.side == PLAIN and speed(run)}
    pairs: dict[str, list[Pair]] = {kind: [] for kind in kinds}
    for run in runs:
        if run.step.side == side and speed(run) and (other := plain.get(_place(run))):
            pairs[run.step.prompt.kind].append((run, other))
    return pairs


def of_side(runs: Sequence[Run], side: Side, kinds: Iterable[str]) -> tuple[list[Run], list[Run]]:
    """The runs of `side` to prompts of `kinds` that can be compared, and the plain ones they are compared with."""
    pairs = [pair for of_kind in pairs_by_kind(runs, side, sorted_kinds(runs)).values() for pair in of_kind]
    chosen = [pair for pair in pairs if pair[0].step.prompt.kind in set(kinds)]
    return [one for one, _other in chosen], [other for _one, other in chosen]


def speed(run: Run) -> float | None:
    """Tokens a second of one reply; None where nothing was written."""
    return count(run.rounds).tokens_per_second or None


def run_result(run: Run) -> RunResult:
    """A run as it stands in a document."""
    counters = count(run.rounds)
    return RunResult(
        loaded=run.step.loaded,
        draft=run.step.side.draft,
        gamma=run.step.side.gamma,
        kind=run.step.prompt.kind,
        repeat=run.step.repeat,
        seed=run.seed,
        tokens=counters.tokens,
        target_passes=counters.target_passes,
        seconds=counters.seconds,
        tokens_per_second=counters.tokens_per_second,
        seconds_prefill=run.prefill_seconds,
        seconds_first_token=run.first_token_seconds,
        stop_reason=run.stop_reason,
    )


def _place(run: Run) -> tuple[str, str, int]:
    return run.step.loaded, run.step.prompt.kind, run.step.repeat


def _side_result(side: Side, pairs: Mapping[str, Sequence[Pair]]) -> SideResult:
    logs = {kind: [_log_ratio(pair) for pair in of_kind] for kind, of_kind in pairs.items()}
    ratios = speed_ups(logs)
    kinds = {kind: _comparison({kind: pairs[kind]}, ratio) for kind, ratio in ratios.kinds.items()}
    overall = _comparison(pairs, ratios.overall)
    return SideResult(draft=side.draft, drafter=side.drafter, gamma=side.gamma, kinds=kinds, overall=overall)


def _log_ratio(pair: Pair) -> float:
    one, other = (speed(run) or math.nan for run in pair)
    return math.log(one / other)


def _comparison(pairs: Mapping[str, Sequence[Pair]], speed_up: SpeedUp) -> Comparison:
    return Comparison(
        with_draft=_figures([[one for one, _other in of_kind] for of_kind in pairs.values()]),
        without_draft=_figures([[other for _one, other in of_kind] for of_kind in pairs.values()]),
        speed_up=speed_up.ratio,
        low=speed_up.low,
        high=speed_up.high,
        pairs=speed_up.pairs,
        verdict=speed_up.verdict,
    )


def _figures(kinds: Sequence[Sequence[Run]]) -> Figures:
    """The figures of the runs of some kinds, each of them a list."""
    runs = [run for kind in kinds for run in kind]
    counters = count(round for run in runs for round in run.rounds)
    speeds = [_geometric_mean([speed(run) for run in kind]) for kind in kinds]
    return Figures(
        replies=len(runs),
        tokens=counters.tokens,
        tokens_per_second=_geometric_mean(speeds),
        tokens_per_second_without=counters.tokens_per_second_without,
        target_passes=counters.target_passes,
        tokens_per_pass=counters.tokens_per_pass,
        draft_runs=counters.draft_runs,
        drafted=counters.drafted,
        accepted=counters.accepted,
        rejected=counters.rejected,
        unused=counters.unused,
        acceptance_rate=counters.acceptance_rate,
        acceptance_by_position=counters.acceptance_by_position,
        alpha=counters.alpha,
        c=counters.c,
        seconds=counters.seconds,
        seconds_draft=counters.seconds_draft,
        seconds_verify=counters.seconds_verify,
        seconds_sampling=counters.seconds_sampling,
        seconds_other=counters.seconds_other,
        seconds_prefill=_median([run.prefill_seconds for run in runs]),
        seconds_first_token=_median([run.first_token_seconds for run in runs]),
    )


def _geometric_mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value]
    return statistics.geometric_mean(known) if known else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None
