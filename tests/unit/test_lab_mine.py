"""The Lab with a machine's own measurements, and what it says where there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specchat.app.chats.records import Message
from specchat.app.lab.costs import CostMine
from specchat.app.lab.lab import Lab
from specchat.app.lab.mine import MeasuredPoint, Mine, replies_of
from specchat.app.lab.position import LawMine
from specchat.app.lab.replay import Replay
from specchat.app.lab.speed import SpeedMine
from specchat.models.decoding.cost import CostTable, WidthCost
from specchat.models.engine.messages import Position, Word
from support.labs import COSTS, DRAFT_COSTS, REPLY, measured, seen
from support.rounds import make_step


@pytest.mark.parametrize("page", range(4))
def test_without_measurements_each_page_says_what_to_do_first(page: int) -> None:
    lab = Lab()
    lab.turn(page)
    lab.switch()
    assert lab.figure(78) == [(("Nothing to show yet.", "dim"),)]
    assert "chat" in lab.words()
    assert lab.controls == ()
    assert not lab.do("space")
    lab.change(1)


@pytest.mark.parametrize("page", [4, 5])
def test_pages_without_measurements_stay_as_they_are(page: int) -> None:
    lab = Lab()
    lab.turn(page)
    before = lab.figure(78)
    lab.switch()
    assert lab.figure(78) == before


# ------------------------------------------------------------------ 1


def test_what_passes_cost_is_drawn_beside_as_many_passes() -> None:
    view = CostMine(measured())
    shown = seen(view)
    for begun in ("1        77     ┊77", "4 ↓     120    ┊308", "16 ★     297   ┊1232"):
        assert begun in shown
    assert view.last_cheaper == 16
    assert view.bargains == [4]
    assert "one over 16 tokens 297 ms: 4.1 times as fast" in shown


def test_a_reply_that_brought_too_few_measurements_is_not_taken_for_none() -> None:
    for widths in ((WidthCost(1, 0.1, 2), WidthCost(2, 0.1, 9)), (WidthCost(1, 0.1, 9),)):
        mine = Mine(CostTable(widths, ()), DRAFT_COSTS, (REPLY,))
        assert mine.alpha is not None
        for view in (CostMine(mine), SpeedMine(mine)):
            assert "one without (F2)" in view.missing
    assert "Nothing has been measured" in CostMine(Mine(CostTable((), ()))).missing


def test_where_checking_stops_paying_is_said() -> None:
    table = CostTable(tuple(WidthCost(n, s, 9) for n, s in ((1, 0.1), (2, 0.15), (3, 0.4))), ())
    assert "Beyond 2 tokens" in seen(CostMine(Mine(table)))
    dear = CostTable(tuple(WidthCost(n, s, 9) for n, s in ((1, 0.1), (2, 0.25), (3, 0.4))), ())
    assert "no draft can help" in seen(CostMine(Mine(dear)))
    assert "the least time per token, 1." in seen(CostMine(Mine(dear)))


def test_more_widths_than_there_is_room_for() -> None:
    many = CostTable(tuple(WidthCost(n, 0.1 + n / 100, 9) for n in range(1, 33)), ())
    assert len(CostMine(Mine(many)).figure(78)) <= 11
    assert " 32 " in seen(CostMine(Mine(many)))


# ------------------------------------------------------------------ 2


def test_a_reply_is_replayed_round_by_round() -> None:
    view = Replay(measured())
    assert "3 passes, 2.00 a pass" in seen(view)
    for _ in range(3):
        view.deeds[0].do()
    shown = seen(view)
    assert "pass 3    ✓exactly ✗one – →two" in shown
    assert "target passes 3 · tokens written 6 · draft runs 5 · kept 3 of 5" in shown
    assert "Guesses for this pass, by the draft model: 3; kept: 1." in shown
    view.deeds[2].do()
    view.deeds[0].do()
    assert "Nothing was guessed" in view.words()


def test_any_reply_can_be_chosen_and_none_is_obeyed() -> None:
    hostile = replace(REPLY, steps=(make_step(own="\x1b]52;c;aGk=\x07 [/b]"),))
    view = Replay(Mine(replies=(REPLY, hostile)))
    assert view.chosen == 1
    view.deeds[1].do()
    assert "\x1b" not in seen(view)
    view.controls[0].change(-1)
    assert "3 passes" in seen(view)


def test_replies_come_from_the_chats_messages() -> None:
    messages = [
        Message(1, 1, "user", "Why?"),
        Message(2, 1, "assistant", "So\x1b[2J it\nis. " * 100, steps=REPLY.steps),
        Message(3, 1, "assistant", "From another time"),
    ]
    [reply] = replies_of(messages)
    assert reply.title.startswith("So it is. So")
    assert len(reply.title) <= 200


# ------------------------------------------------------------------ 3

WORDS = (Word(5, b" two", 0.7, 0.2, 9.0), Word(6, b" one", 0.2, 0.7, 8.0), Word(7, b"\x1b[2J", 0.05, 0.0, 6.0))


def looking(position: Position) -> LawMine:
    async def look(_token: int) -> Position:
        raise AssertionError

    view = LawMine(Mine(look=look, last_tokens=25))
    view.take(0, position)
    return view


def test_a_position_names_the_words_and_what_became_of_the_guess() -> None:
    view = looking(Position(0, 5, WORDS, 0.05, 0.1, 6, False, "model", 0.45))
    shown = seen(view)
    assert "→ two" in shown
    assert "✗ one" in shown
    assert "The draft guessed “one”. The rule refused it, and the target put “two” there." in shown
    assert "chance of 45 %" in shown
    assert "\x1b" not in shown


def test_a_guess_that_was_kept_and_a_token_without_one() -> None:
    kept = looking(Position(0, 5, WORDS, 0.05, 0.1, 5, True, "model", 0.45))
    assert "The draft guessed “two”, and the rule kept it." in seen(kept)
    assert "✓ two" in seen(kept)
    alone = looking(Position(0, 5, (Word(5, b"two", 0.9, logit=1.0),), 0.1))
    assert "the draft had guessed nothing here" in seen(alone)
    assert "α" not in seen(alone)


def test_why_lookup_is_certain_is_said() -> None:
    sure = (Word(5, b" two", 0.7, 1.0, 9.0), Word(6, b" one", 0.2, 0.0, 8.0))
    assert "came from lookup in the text" in seen(looking(Position(0, 5, sure, 0.1, 0.0, 5, True, "lookup", 0.7)))
    assert "lookup" not in seen(looking(Position(0, 5, sure, 0.1, 0.0, 5, True, "model", 0.7)))


def test_where_one_word_is_left_the_lead_over_the_second_is_told() -> None:
    greedy = (Word(5, b"two", 1.0, 1.0, 9.0), Word(6, b"one", 0.0, 0.0, 8.0))
    assert "2.7 times as likely as its second" in seen(looking(Position(0, 5, greedy, 0.0, 0.0, 5, True, "model", 1.0)))


def test_a_late_answer_about_another_token_is_dropped() -> None:
    view = looking(Position(0, 5, WORDS, 0.05))
    view.controls[0].change(1)
    assert view.is_stale
    view.take(0, Position(0, 6, WORDS, 0.05))
    assert view.is_stale
    view.fail(1, "Gone.")
    assert view.missing == "Gone."


# ------------------------------------------------------------------ 4


def test_the_curve_has_this_machines_costs() -> None:
    view = SpeedMine(measured())
    shown = seen(view)
    assert "α 0.70 · c 0.10 · V(5)/V(1) 2.05" in shown
    assert view.curve[4] == pytest.approx(2.7731 / (158 / 77 + 0.4), rel=1e-3)
    assert "promises 2.0× for γ 4" in shown
    assert "comparison" in shown
    assert "●" not in "\n".join(shown.splitlines()[:7])


@pytest.mark.parametrize(
    ("factor", "said"), [(1.2, "20 % above their"), (0.8, "20 % below their"), (1.01, "within 5 %")]
)
def test_measured_points_are_drawn_and_compared_in_words(factor: float, said: str) -> None:
    curve = SpeedMine(measured()).curve
    shown = seen(SpeedMine(measured(MeasuredPoint(3, factor * curve[3]), MeasuredPoint(5, factor * curve[5]))))
    assert "\n".join(shown.splitlines()[:7]).count("●") == 2
    assert said in shown


def test_points_on_both_sides_do_not_pass_for_points_that_agree() -> None:
    curve = SpeedMine(measured()).curve
    shown = seen(SpeedMine(measured(MeasuredPoint(3, 1.3 * curve[3]), MeasuredPoint(5, 0.7 * curve[5]))))
    assert "from 30 % below their columns to 30 % above" in shown
    assert "within" not in shown


def test_widths_between_and_beyond_those_measured() -> None:
    mine = measured()
    assert mine.pass_cost(7) == pytest.approx((190 + 195) / 2 / 77)
    assert mine.pass_cost(32) == pytest.approx(2 * 297 / 77)
    assert Mine(replace(COSTS, widths=COSTS.widths[1:])).passes == {}
