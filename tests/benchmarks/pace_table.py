"""Show what `--gamma auto` is worth: against every fixed γ, against plain decoding, and what it says of plain decoding.

    uv run python tests/benchmarks/make_pair.py target.gguf --widen 24576
    uv run python tests/benchmarks/make_pair.py noisy.gguf --noise 0.12
    uv run python tests/benchmarks/make_pair.py hopeless.gguf --keep 0-8,10,12
    PYTHONPATH=tests uv run python tests/benchmarks/pace_table.py --target target.gguf --noisy noisy.gguf \
        --hopeless hopeless.gguf --runs runs.jsonl

The good draft is the bundled model. Sides alternate as in `specchat bench`, whose runner this uses: the built-in
prompts of eight kinds, temperatures 0 and 0.8 without any other sampler, 128 tokens. Each reply is a line in the file
of --runs as soon as it is written; the same command goes on where it was interrupted, and --table prints what there is.
--only takes a part (`good`, `noisy`, `hopeless`, `lookup`), --kinds some of the prompts. Nothing else should run on the
machine, and it takes long: so every fixed γ is tried with a few tokens first, and where it reaches less than `KEPT` of
plain decoding there, it isn't tried again. The hopeless draft writes more tokens than the others.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import msgspec

from specchat.app.bench.prompts import builtin_prompts
from specchat.app.bench.runner import Began, Job, Run, Runner
from specchat.app.bench.sides import LOOKUP, Step, plan
from specchat.models.decoding.counters import count
from specchat.models.engine import messages
from specchat.models.engine.client import EngineClient
from specchat.models.files.bundled import bundled_model
from specchat.settings.values import Gamma, ModelOptions, Sampling, Settings
from support.json_lines import read

FIXED: tuple[Gamma, ...] = (1, 3, 5, 7, 11, 15)
TEMPERATURES = (0.0, 0.8)
TOKENS, LONG_TOKENS, FIRST_TOKENS = 128, 256, 64
SCREENING, SCREENING_TOKENS, KEPT = -1, 40, 0.8
"""The repeat in which each fixed γ is tried with so few tokens, and the share of plain decoding it must reach there."""
PASTED = ("edit", "summary")


class Record(msgspec.Struct, frozen=True):
    """One reply, as a line in the file. γ 0 is plain decoding."""

    part: str
    temperature: float
    kind: str
    gamma: Gamma
    repeat: int
    tokens: int
    speed: float
    """Tokens a second."""
    first_speed: float
    """The same of the first rounds, up to `FIRST_TOKENS` tokens."""
    without: float | None
    """What its own rounds say of plain decoding."""
    alpha: float | None
    tokens_per_pass: float


@dataclass(frozen=True)
class Part:
    """Replies of one draft at one temperature."""

    name: str
    draft: str
    temperature: float
    tokens: int
    gammas: tuple[Gamma, ...]
    kinds: tuple[str, ...]

    def steps(self, repeat: int, records: Sequence[Record]) -> list[Step]:
        """The replies of one repeat that are still to be written, in order."""
        prompts = [prompt for prompt in builtin_prompts() if prompt.kind in self.kinds]
        steps = plan([self.draft], self.gammas, prompts, max(repeat, 0) + 1)
        done = {(one.kind, one.gamma, one.repeat) for one in records if self.has(one)}
        if repeat == SCREENING:
            steps = tuple(replace(step, repeat=repeat) for step in steps if step.side.gamma != "auto")
        else:
            lost = self.lost(records)
            steps = tuple(step for step in steps if (step.prompt.kind, step.side.gamma) not in lost)
        wanted = [step for step in steps if step.repeat == repeat]
        return [step for step in wanted if (step.prompt.kind, step.side.gamma, step.repeat) not in done]

    def has(self, record: Record) -> bool:
        """Whether it is one of this part's."""
        return (record.part, record.temperature) == (self.name, self.temperature)

    def lost(self, records: Sequence[Record]) -> set[tuple[str, Gamma]]:
        """The fixed γs, by kind, that were too slow when they were tried."""
        tried = {(one.kind, one.gamma): one.speed for one in records if self.has(one) and one.repeat == SCREENING}
        return {place for place, speed in tried.items() if speed < KEPT * tried.get((place[0], 0), 0.0)}


def parts(given: argparse.Namespace) -> Iterator[Part]:
    """All that is to be measured."""
    kinds = tuple(prompt.kind for prompt in builtin_prompts() if prompt.kind in (given.kinds or [prompt.kind]))
    drafts = {"good": given.good, "noisy": given.noisy, "hopeless": given.hopeless}
    for temperature in TEMPERATURES:
        for name, draft in drafts.items():
            if draft is not None:
                tokens = LONG_TOKENS if name == "hopeless" else TOKENS
                yield Part(name, str(draft.absolute()), temperature, tokens, (*FIXED, "auto"), kinds)
    yield Part("lookup", LOOKUP, 0.0, TOKENS, ("auto",), tuple(kind for kind in PASTED if kind in kinds))


# ------------------------------------------------------------------ measuring


async def measure(given: argparse.Namespace, wanted: Sequence[Part], records: list[Record]) -> None:
    """Write the replies that `records` lacks, and keep each at once."""
    with given.runs.open("ab") as file:
        file.write(b"\n")  # ends a line that was cut off
        async with EngineClient(given.runs.with_suffix(".log")) as engine:
            for repeat in range(SCREENING, given.repeat):
                for part in wanted:
                    steps = part.steps(repeat, records)
                    tokens = SCREENING_TOKENS if repeat == SCREENING else part.tokens
                    async for run in replies(engine, given, replace(part, tokens=tokens), steps):
                        file.write(msgspec.json.encode(record(part, run)) + b"\n")
                        file.flush()
                        records.append(record(part, run))


async def replies(engine: EngineClient, given: argparse.Namespace, part: Part, steps: list[Step]) -> AsyncIterator[Run]:
    """The runs of these steps, shown as they come."""
    sampling = Sampling(temperature=part.temperature, top_k=0, top_p=1.0, min_p=0.0)
    options = ModelOptions(threads=given.threads, ctx=2048)
    settings = Settings(sampling=sampling, target=options, draft=options)
    job = Job(str(given.target.absolute()), tuple(steps), settings, part.tokens, seed=2, fresh=False)
    async with aclosing(Runner(engine, job).run()) as events:
        async for event in events:
            if isinstance(event, messages.Notice):
                print(event, file=sys.stderr)
            elif isinstance(event, Began):
                said = f"{part.name} T={part.temperature:g} {event.number}/{event.total}"
                print(f"\r{said:40}", end="", file=sys.stderr, flush=True)
            elif isinstance(event, Run):
                yield event


def key(part: Part, step: Step) -> tuple[str, float, str, Gamma, int]:
    return part.name, part.temperature, step.prompt.kind, step.side.gamma, step.repeat


def record(part: Part, run: Run) -> Record:
    """What is kept of a run."""
    counters = count(run.rounds)
    written = accumulate(round.tokens for round in run.rounds)
    first = next((i for i, tokens in enumerate(written, 1) if tokens >= FIRST_TOKENS), len(run.rounds))
    return Record(
        *key(part, run.step),
        tokens=counters.tokens,
        speed=counters.tokens_per_second or 0.0,
        first_speed=count(run.rounds[:first]).tokens_per_second or 0.0,
        without=counters.tokens_per_second_without,
        alpha=counters.alpha,
        tokens_per_pass=counters.tokens_per_pass or 0.0,
    )


# ------------------------------------------------------------------ the tables


@dataclass(frozen=True)
class Cell:
    """All replies of one part to one kind of prompt at one temperature."""

    temperature: float
    kind: str
    records: tuple[Record, ...]

    def speed(
        self, gamma: Gamma, repeats: Iterable[int] | None = None, of: Callable[[Record], float] = lambda r: r.speed
    ) -> float:
        """The median over repeats (or some of them); 0 where there is none."""
        chosen = None if repeats is None else set(repeats)
        values = [of(r) for r in self.records if r.gamma == gamma and (chosen is None or r.repeat in chosen)]
        return statistics.median(values) if values else 0.0


def cells(records: Sequence[Record], part: str) -> list[Cell]:
    """The cells of a part that have both plain and `auto` replies."""
    records = [record for record in records if record.repeat != SCREENING]
    places = dict.fromkeys((r.temperature, r.kind) for r in records if r.part == part)
    found = [
        Cell(*place, tuple(r for r in records if (r.part, r.temperature, r.kind) == (part, *place))) for place in places
    ]
    return [cell for cell in found if cell.speed(0) and cell.speed("auto")]


def against_best_fixed(cell: Cell) -> float:
    """Auto ÷ the fixed γ (0 among them) that was best on half of the repeats, both on the other half.

    Each half chooses once, and the two ratios' geometric mean counts. A single repeat has to do for both.
    """
    repeats = sorted({r.repeat for r in cell.records})
    halves = (repeats[::2], repeats[1::2]) if len(repeats) > 1 else (repeats, repeats)
    fixed = {r.gamma for r in cell.records if r.gamma != "auto"}
    ratios = []
    for choosing, scoring in (halves, halves[::-1]):
        best = max(fixed, key=lambda gamma: cell.speed(gamma, choosing))
        if cell.speed(best, scoring) and cell.speed("auto", scoring):
            ratios.append(cell.speed("auto", scoring) / cell.speed(best, scoring))
    return statistics.geometric_mean(ratios) if ratios else float("nan")


def row(label: str, found: Sequence[Cell], ratio: Callable[[Cell], float]) -> str:
    """A table's row: the geometric mean over the cells, and the worst one."""
    values = {cell: ratio(cell) for cell in found}
    worst = min(values, key=lambda cell: values[cell])
    mean = statistics.geometric_mean(values.values())
    return f"| {label} | {len(found)} | {mean:.3f} | {values[worst]:.3f} | {worst.kind}, T={worst.temperature:g} |"


def tables(records: Sequence[Record]) -> Iterator[str]:
    """Everything that is to be shown, as Markdown."""
    yield "| ratio | cells | geometric mean | worst | where |"
    yield "|---|---:|---:|---:|---|"
    for part in ("good", "noisy", "hopeless"):
        if found := cells(records, part):
            yield row(f"{part} draft: auto ÷ best fixed γ", found, against_best_fixed)
            yield row(f"{part} draft: auto ÷ plain", found, lambda cell: cell.speed("auto") / cell.speed(0))
    if found := cells(records, "hopeless"):
        yield row(f"hopeless, first {FIRST_TOKENS} tokens: auto ÷ plain", found, first_ratio)
    if found := cells(records, "lookup"):
        yield row("lookup, pasted text, T=0: auto ÷ plain", found, lambda cell: cell.speed("auto") / cell.speed(0))
    yield from without_table(records)
    for part in ("good", "noisy", "hopeless"):
        yield from speed_table(records, part)


def first_ratio(cell: Cell) -> float:
    return cell.speed("auto", of=lambda r: r.first_speed) / cell.speed(0, of=lambda r: r.first_speed)


def without_table(records: Sequence[Record]) -> Iterator[str]:
    """How far *without*, as auto's own rounds have it, is from the plain replies."""
    ratios = [
        cell.speed("auto", of=lambda r: r.without or 0.0) / cell.speed(0)
        for part in ("good", "noisy", "hopeless", "lookup")
        for cell in cells(records, part)
    ]
    if ratios:
        off = statistics.median(abs(ratio - 1) for ratio in ratios)
        yield f"\n*without* ÷ plain: median {statistics.median(ratios):.3f}, median distance from 1 {off:.3f}"


def speed_table(records: Sequence[Record], part: str) -> Iterator[str]:
    """Median tok/s of every side in every cell."""
    found = cells(records, part)
    gammas = sorted({r.gamma for cell in found for r in cell.records}, key=lambda g: 99 if g == "auto" else g)
    if found:
        yield f"\n{part} draft, tok/s\n"
        yield f"| T | kind | {' | '.join(f'γ {gamma}' for gamma in gammas)} |"
        yield f"|---:|---|{'---:|' * len(gammas)}"
    for cell in found:
        speeds = " | ".join(f"{speed:.1f}" if (speed := cell.speed(gamma)) else "–" for gamma in gammas)
        yield f"| {cell.temperature:g} | {cell.kind} | {speeds} |"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--good", type=Path, default=bundled_model())
    parser.add_argument("--noisy", type=Path)
    parser.add_argument("--hopeless", type=Path)
    parser.add_argument("--runs", type=Path, required=True, help="where replies are kept, as JSON lines")
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=["good", "noisy", "hopeless", "lookup"])
    parser.add_argument("--kinds", nargs="+")
    parser.add_argument("--table", action="store_true", help="measure nothing more")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    records = read(given.runs, Record)
    if not given.table:
        try:
            asyncio.run(measure(given, [part for part in parts(given) if part.name in given.only], records))
        except KeyboardInterrupt:
            print("\ninterrupted: the same command goes on from here", file=sys.stderr)
    print(file=sys.stderr)
    print("\n".join(tables(records)))


if __name__ == "__main__":
    main()
