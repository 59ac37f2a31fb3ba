"""Speed over time, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from specchat.app.widgets.speedline import MOST_SAMPLES, Sample, SpeedSamples, speed_line
from specchat.app.widgets.timebar import shares, time_bar
from specchat.models.decoding.counters import count
from support.rounds import make_round

# ------------------------------------------------------------------ speed over time


def test_a_sample_takes_half_a_second_of_writing() -> None:
    samples = SpeedSamples()
    for _ in range(9):
        samples.add(make_round(3, 3, seconds=0.125))
    assert samples.samples == (Sample(32.0, True), Sample(32.0, True))


def test_a_sample_never_mixes_on_and_off() -> None:
    samples = SpeedSamples()
    for on in (True, False, True):
        samples.add(make_round(3 * on, 3 * on, on=on, seconds=0.25))
    samples.end_reply()
    assert samples.samples == (Sample(16.0, True), Sample(4.0, False), Sample(16.0, True))


def test_speculation_without_guesses_counts_as_on() -> None:
    samples = SpeedSamples()
    samples.add(make_round(0, 0, seconds=0.5))
    assert samples.samples == (Sample(2.0, True),)


def test_now_is_the_last_two_seconds_of_writing() -> None:
    samples = SpeedSamples()
    assert samples.now is None
    samples.add(make_round(3, 3, seconds=1.0))
    assert samples.now == pytest.approx(4.0)
    for _ in range(4):
        samples.add(make_round(0, 0, seconds=0.5))
    assert samples.now == pytest.approx(2.0)
    samples.end_reply()
    assert samples.now is None


def test_samples_are_bounded() -> None:
    samples = SpeedSamples()
    for _ in range(MOST_SAMPLES + 7):
        samples.add(make_round(seconds=0.5))
    assert len(samples.samples) == MOST_SAMPLES


def test_the_line_marks_where_speculation_was_on() -> None:
    samples = [Sample(40.0, True), Sample(20.0, True), Sample(10.0, False), Sample(0.1, False)]
    assert speed_line(samples, 20).plain.split("\n") == [
        "█           40 tok/s",
        "██▄▁                ",
        "▔▔··       ▔on  ·off",
    ]


def test_the_line_shows_the_latest_samples_that_fit() -> None:
    samples = [Sample(float(speed), True) for speed in range(1, 101)]
    rows = [row[:10] for row in speed_line(samples, 21).plain.split("\n")]
    assert rows == ["▇▇▇▇▇▇████", "██████████", "▔▔▔▔▔▔▔▔▔▔"]


# ------------------------------------------------------------------ where the time goes


@pytest.mark.parametrize("parts", [(1, 1, 1, 0), (0.2, 0.7, 0.05, 0.05), (1e-9, 5, 0, 0), (3, 3, 3, 3)])
def test_shares_add_up(parts: Sequence[float]) -> None:
    for total in (0, 1, 7, 38, 100):
        assert sum(shares(parts, total)) == total
    assert all(abs(share - 100 * part / sum(parts)) < 1 for share, part in zip(shares(parts, 100), parts, strict=True))


def test_each_part_of_the_bar_has_its_own_character() -> None:
    bar = time_bar(count([make_round()]), 20).plain.split("\n")[0]
    assert bar == "████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒░"
