"""Tokens a second over time, and where speculation was on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from textual.content import Content

from specchat.app.figures import number
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN
from specchat.app.words import _
from specchat.models.decoding.counters import count
from specchat.models.decoding.rounds import Round

SAMPLE_SECONDS = 0.5
"""What one column of the line stands for, at least: rounds that take longer have a column of their own."""
NOW_SECONDS = 2.0
MOST_SAMPLES = 200

_ROWS = 2
_LEVELS = " ▁▂▃▄▅▆▇█"
_STEPS = len(_LEVELS) - 1
_SCALE_COLUMNS = 11
"""Kept to the right of the line for its scale and its legend; more where a language's legend needs more."""
_ON_MARK, _OFF_MARK = "▔", "·"


@dataclass(frozen=True, slots=True)
class Sample:
    """Tokens a second over some rounds, with speculation on in all of them or in none."""

    speed: float
    speculating: bool


class SpeedSamples:
    """Makes samples of rounds as they come. Seconds are those of writing, as the rounds report them."""

    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=MOST_SAMPLES)
        self._open: list[Round] = []
        """The rounds of the sample that isn't complete yet."""
        self._recent: deque[Round] = deque()
        self._recent_seconds = 0.0

    def add(self, round: Round) -> None:
        """Take in one more round."""
        if self._open and self._open[0].speculating != round.speculating:
            self._close()
        self._open.append(round)
        if sum(round.seconds for round in self._open) >= SAMPLE_SECONDS:
            self._close()
        self._recent.append(round)
        self._recent_seconds += round.seconds
        while self._recent_seconds - self._recent[0].seconds >= NOW_SECONDS:
            self._recent_seconds -= self._recent.popleft().seconds

    def end_reply(self) -> None:
        """Nothing is being written any more, so there is no speed of now. The samples stay."""
        self._close()
        self._recent.clear()
        self._recent_seconds = 0.0

    @property
    def now(self) -> float | None:
        """Tokens a second over the last `NOW_SECONDS` of writing; None while nothing is being written."""
        return count(self._recent).tokens_per_second

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The last `MOST_SAMPLES` complete samples, the oldest first."""
        return tuple(self._samples)

    def _close(self) -> None:
        speed = count(self._open).tokens_per_second
        if speed is not None:
            self._samples.append(Sample(speed, self._open[0].speculating))
        self._open.clear()


def speed_line(samples: Sequence[Sample], width: int) -> Content:
    """Three lines of `width` cells: bars over two of them, from 0 to the fastest, and marks for speculation below."""
    legend = _legend()
    columns = max(_SCALE_COLUMNS, legend.cell_length)
    shown = samples[-max(width - columns, 1) :]
    fastest = max((sample.speed for sample in shown), default=0.0)
    scale = _("{speed} tok/s").format(speed=number(fastest if shown else None, 0))
    sides = (
        Content.styled(scale.rjust(columns), LABEL),
        Content.blank(columns),
        legend.pad_left(columns - legend.cell_length),
    )
    rows = [_bars(shown, fastest, row) for row in reversed(range(_ROWS))] if shown else [Content(""), Content("–")]
    rows.append(_joined((_ON_MARK if sample.speculating else _OFF_MARK for sample in shown), shown))
    blank = max(width - columns, 0)
    return Content("\n").join(
        row.pad_right(blank - row.cell_length) + side for row, side in zip(rows, sides, strict=True)
    )


def _bars(samples: Sequence[Sample], fastest: float, row: int) -> Content:
    """The part of the bars in `row`, counted from the bottom."""
    heights = (_height(sample.speed, fastest) - row * _STEPS for sample in samples)
    return _joined((_LEVELS[min(max(height, 0), _STEPS)] for height in heights), samples)


def _joined(marks: Iterable[str], samples: Iterable[Sample]) -> Content:
    """A mark for each sample in its colour. Those of one colour are one piece, which is painted faster than many."""
    stretches = groupby(zip(marks, map(_colour, samples), strict=True), key=itemgetter(1))
    return Content.assemble(*(("".join(mark for mark, _ in stretch), colour) for colour, stretch in stretches))


def _height(speed: float, fastest: float) -> int:
    """In eighths of a row, at least one, so that a slow stretch isn't taken for a gap."""
    return max(1, round(speed / fastest * _ROWS * _STEPS)) if fastest else 1


def _colour(sample: Sample) -> str:
    return ACCEPTED if sample.speculating else PLAIN


def _legend() -> Content:
    return Content.assemble((_ON_MARK, ACCEPTED), (_("on"), LABEL), ("  ", ""), (_OFF_MARK, PLAIN), (_("off"), LABEL))
