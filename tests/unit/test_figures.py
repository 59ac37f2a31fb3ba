"""The figures in words, on lines that fit, and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.cells import cell_len

from specchat.app.figures import NAMES, as_json, brief, number, summary
from specchat.models.decoding.counters import Counters, count

REPLY = Counters(
    target_passes=61,
    draft_runs=157,
    caught_up=2,
    drafted=157,
    accepted=118,
    rejected=33,
    tokens=179,
    seconds=5.7,
    seconds_draft=1.25,
    seconds_verify=4.05,
    seconds_sampling=0.3,
    alpha=0.786,
    c=0.111,
    tokens_per_second_without=19.3,
)
PLAIN = replace(
    REPLY, target_passes=179, draft_runs=0, caught_up=0, drafted=0, accepted=0, rejected=0, alpha=None, c=None
)
HUGE = replace(
    REPLY,
    target_passes=9_999,
    draft_runs=99_999,
    drafted=99_999,
    accepted=98_765,
    tokens=99_999,
    seconds=87.6,
    tokens_per_second_without=500.1,
)


def test_a_reply_with_a_draft() -> None:
    assert summary(REPLY) == [
        "179 tokens · 61 target passes · 2.93 tokens per pass",
        "118 of 157 accepted (75%) · 157 draft runs · α 0.79 · c 0.11",
        "31.4 tok/s · without a draft 19.3 · speed-up 1.63× (estimated)",
        "time: draft 22% · verify 71% · sampling 5% · other 2%",
    ]
    assert brief(REPLY) == "31.4 tok/s · 1.63× est. · 118 of 157 accepted (75%) · 61 target passes"


def test_a_plain_reply_has_nothing_to_say_of_guesses() -> None:
    assert summary(PLAIN) == [
        "179 tokens · 179 target passes · 1.00 tokens per pass",
        "31.4 tok/s",
        "time: draft 22% · verify 71% · sampling 5% · other 2%",
    ]
    assert brief(PLAIN) == "31.4 tok/s · 179 target passes"


def test_guesses_from_a_look_up_take_no_draft_runs() -> None:
    assert summary(replace(REPLY, draft_runs=0, c=None))[1] == "118 of 157 accepted (75%) · α 0.79"


def test_nothing_yet() -> None:
    assert summary(count([])) == [
        "0 tokens · 0 target passes · – tokens per pass",
        "– tok/s",
        "time: draft 0% · verify 0% · sampling 0% · other 0%",
    ]
    assert brief(count([])) == "– tok/s · 0 target passes"


def test_one_of_each_is_singular() -> None:
    one = replace(REPLY, tokens=1, target_passes=1, draft_runs=1, drafted=1, accepted=0)
    assert summary(one)[0] == "1 token · 1 target pass · 1.00 tokens per pass"
    assert "0 of 1 accepted (0%) · 1 draft run ·" in summary(one)[1]


def test_an_unknown_comparison_is_left_out_while_writing_and_a_dash_in_the_end() -> None:
    unknown = replace(REPLY, tokens_per_second_without=None)
    assert brief(unknown) == "31.4 tok/s · 118 of 157 accepted (75%) · 61 target passes"
    assert summary(unknown)[2] == "31.4 tok/s · without a draft – · speed-up –× (estimated)"


@pytest.mark.parametrize("counters", [REPLY, PLAIN, HUGE])
def test_every_line_fits_into_80_columns(counters: Counters) -> None:
    assert max(cell_len(line) for line in [brief(counters), *summary(counters)]) < 80


def test_json_has_every_counter_by_its_name() -> None:
    figures = json.loads(json.dumps(as_json(REPLY)))
    assert tuple(figures) == NAMES
    assert (figures["unused"], figures["acceptance_rate"]) == (6, 118 / 157)
    assert figures["seconds_other"] == pytest.approx(0.1)
    assert as_json(count([]))["speed_up"] is None


def test_numbers() -> None:
    assert (number(None), number(2.25, 0), number(0.126, 2)) == ("–", "2", "0.13")
