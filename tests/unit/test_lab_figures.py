"""The Lab's toys: the numbers that they show are those of the papers and of their specification."""

from __future__ import annotations

import re

import numpy as np
import pytest

from specchat.app.lab.costs import CostToy
from specchat.app.lab.lab import PAGES, Lab
from specchat.app.lab.laws import LawToy
from specchat.app.lab.questions import Quiz, questions
from specchat.app.lab.rounds import RUNS, RoundsToy
from specchat.app.lab.rows import text_of, width_of
from specchat.app.lab.speed import SpeedToy
from specchat.app.lab.variants import Table
from support.labs import seen


def row(text: str, begun: str) -> str:
    """The row that begins so, without the spaces in it that only align it."""
    rows = (" ".join(line.split()) for line in text.splitlines())
    return next(row for row in rows if row.startswith(begun))


# ------------------------------------------------------------------ 1


def test_alone_five_checks_cost_one_write() -> None:
    shown = seen(CostToy())
    assert row(shown, "WRITE 5: 5 passes").endswith(" 65")
    assert row(shown, "CHECK 5: 1 pass").endswith(" 13")
    assert "5.0 times as fast" in shown
    assert "Both go on at once, so the longer one counts." in shown


def test_about_twelve_others_make_checking_as_dear_as_writing() -> None:
    toy = CostToy()
    while "takes as long as writing" not in seen(toy):
        toy.controls[0].change(1)
    assert toy.others == 12
    assert row(seen(toy), "CHECK 5").split()[-1] == row(seen(toy), "WRITE 5").split()[-1] == "65"


def test_with_a_few_others_checking_is_not_hidden_any_more() -> None:
    assert "no longer hidden" in seen(CostToy(3))
    assert "no longer hidden" not in seen(CostToy(1))


# ------------------------------------------------------------------ 2


@pytest.mark.parametrize(("text", "passes", "tokens"), [(0, "2.6", 10), (1, "5.3", 9)])
def test_the_texts_take_so_many_passes_on_average(text: int, passes: str, tokens: int) -> None:
    toy = RoundsToy(text)
    assert f"10,000 such texts: {passes} passes on average; without a draft {tokens}" in seen(toy)
    assert abs(toy.average.mean - float(passes)) <= 0.05
    assert RUNS >= 10_000
    assert "made up" in seen(toy)


def test_switching_the_text_brings_its_own_draft() -> None:
    toy = RoundsToy()
    toy.controls[1].change(1)
    assert "5.3 passes" in seen(toy)


@pytest.mark.parametrize("seed", range(1, 30))
@pytest.mark.parametrize("gamma", [1, 4, 8])
def test_every_run_writes_the_whole_text(seed: int, gamma: int) -> None:
    for text in (0, 1):
        toy = RoundsToy(text, gamma)
        toy.seed = seed
        rounds = toy.rounds
        assert sum(round.kept + 1 for round in rounds) == len(toy._text.tokens)
        assert all(round.kept <= round.guesses <= gamma for round in rounds)


def test_passes_are_made_one_by_one_or_all_at_once() -> None:
    lab = Lab()
    lab.turn(1)
    for made in (1, 2):
        assert lab.do("space")
        assert f"target passes {made} " in text_of(lab.figure(78))
    assert lab.do("a")
    assert "tokens written 10/10" in text_of(lab.figure(78))
    assert "Done in" in lab.words()
    assert not lab.do("x")


def test_a_refused_guess_is_marked_without_any_colour() -> None:
    toy = RoundsToy(1)
    toy.shown = len(toy.rounds)
    shown = seen(toy)
    assert re.search(r"✗\S+ →\S+ –", shown)


# ------------------------------------------------------------------ 3


def test_five_words_and_their_books() -> None:
    shown = seen(LawToy())
    assert "α, guesses kept 0.67 · refused 33 %" in shown
    kept = [re.search(r"(\d+) % \+ (\d+) %", row(shown, word)) for word in ("the", "a", "her", "my", "one")]
    assert [match.groups() for match in kept if match] == [
        ("20", "22"),
        ("26", "0"),
        ("10", "6"),
        ("5", "5"),
        ("6", "0"),
    ]
    assert "20 % guessed and kept + 22 % put in = 42 %" in shown


def test_many_draws_come_within_a_point_of_p_and_the_draft_alone_does_not() -> None:
    toy = LawToy()
    for _ in range(20):
        assert np.abs(toy.draws.written - toy.p).max() <= 0.02  # four standard errors
        toy.deeds[0].do()
    rule, draft = re.findall(r"([\d.]+) points", seen(LawToy()))
    assert float(rule) <= 1.0
    assert float(draft) == pytest.approx(22, abs=1)


def test_the_draft_can_be_changed_and_p_never_moves() -> None:
    toy = LawToy()
    before = toy.p.tolist()
    for control in toy.controls[1:]:
        control.change(-1)
        control.change(-1)
        control.change(1)
        assert toy.q.sum() == pytest.approx(1)
        assert toy.q.min() >= 0
    for _ in range(40):
        toy.controls[1].change(1)
    assert toy.q[0] == pytest.approx(0.95)
    for _ in range(40):
        toy.controls[1].change(-1)
    assert toy.q[0] == pytest.approx(0)
    assert toy.p.tolist() == before
    assert 0 <= toy.alpha < 0.67
    toy.deeds[1].do()
    assert "0.67" in seen(toy)


@pytest.mark.parametrize(
    ("similarity", "alpha", "tokens"), [(0.0, "0.70", "2.77"), (0.6, "0.88", "3.94"), (1.0, "1.00", "5.00")]
)
def test_the_more_alike_the_draft_the_more_tokens_a_pass(similarity: float, alpha: str, tokens: str) -> None:
    toy = LawToy(similarity)
    shown = seen(toy)
    assert f"α, guesses kept {alpha} ·" in shown
    assert f"tokens a pass with four guesses {tokens}" in shown
    assert "20,000 draws" in shown
    assert np.abs(toy.draws.written - toy.p).max() <= 0.01


# ------------------------------------------------------------------ 4


@pytest.mark.parametrize(
    ("alpha", "c", "gamma", "times"),
    [
        (0.7, 0.1, 1, "1.5"),
        (0.7, 0.1, 2, "1.8"),
        (0.7, 0.1, 4, "2.0"),
        (0.7, 0.1, 12, "1.5"),
        (0.3, 0.5, 4, "0.48"),
    ],
)
def test_so_much_faster(alpha: float, c: float, gamma: int, times: str) -> None:
    shown = seen(SpeedToy(alpha, c, gamma))
    assert f"γ {gamma}: {times}×" in shown
    assert f"{times}× as fast" in shown
    column = row(shown, "speed").split()[gamma + 1]
    assert column.strip("()") == times


def test_the_best_gamma_is_ringed() -> None:
    shown = seen(SpeedToy())
    assert re.findall(r"\((\d+)\)", row(shown, "γ 0")) == ["4"]
    assert "best γ 4" in shown
    assert re.findall(r"\((\d+)\)", row(seen(SpeedToy(0.3, 0.5)), "γ (0)")) == ["0"]


def test_alpha_must_be_greater_than_c() -> None:
    assert "no γ helps unless α is greater than c" in seen(SpeedToy(0.3, 0.5))
    assert "no γ helps" not in seen(SpeedToy(0.55, 0.5))
    assert "slower than with no draft" in seen(SpeedToy(0.3, 0.5))


@pytest.mark.parametrize(("alpha", "c", "gamma"), [(0.3, 0.5, 0), (0.5, 0.5, 1), (0.0, 0.0, 8)])
def test_what_is_as_fast_as_no_draft_is_not_called_slower(alpha: float, c: float, gamma: int) -> None:
    shown = seen(SpeedToy(alpha, c, gamma))
    assert f"γ {gamma}: 1.0×" in shown
    assert "is as fast as with no draft" in shown
    assert "slower" not in shown


def test_a_best_gamma_at_the_charts_end_is_not_explained_as_one_within_it() -> None:
    assert "so the best γ here is 4" in seen(SpeedToy())
    for toy in (SpeedToy(0.7, 0.0), SpeedToy(1.0, 0.1)):
        assert "the best γ shown here is the last, 12" in seen(toy)
        assert "so the best γ" not in seen(toy)


def test_plain_decoding_is_called_so() -> None:
    assert "that is writing without a draft" in seen(SpeedToy(gamma=0))


def test_the_formula_says_what_it_assumes() -> None:
    assert "The formula assumes" in seen(SpeedToy())


# ------------------------------------------------------------------ 5, 6


@pytest.mark.parametrize(
    ("number", "right"), [(0, "Three"), (1, "Nothing; only the time changes"), (2, "About half as fast")]
)
def test_the_right_answers(number: int, right: str) -> None:
    question = questions()[number]
    assert question.answers[question.right] == right
    quiz = Quiz()
    for _ in range(number):
        quiz.controls[0].change(1)
    for i, deed in enumerate(quiz.deeds):
        deed.do()
        assert ("Try again." in quiz.words()) == (i != question.right)
        assert ("✓" in seen(quiz)) == (i == question.right)
    assert len(set(question.replies)) == 3


def test_what_is_answered_stays() -> None:
    quiz = Quiz()
    quiz.deeds[1].do()
    quiz.controls[0].change(1)
    assert "1 of 3 answered rightly" in seen(quiz)
    quiz.controls[0].change(-1)
    assert "✓ b" in seen(quiz)


def test_the_table_says_whose_figures_they_are_and_what_runs_here() -> None:
    shown = seen(Table())
    assert row(shown, "▸ draft model").endswith("yes yes")
    assert row(shown, "prompt lookup").endswith("yes yes")
    for name, reported in (("skipping layers", "≤ 2×"), ("Medusa heads", "> 2.2×, 2.3–3.6×"), ("EAGLE", "2.7–3.5×")):
        assert reported in row(shown, name)
        assert row(shown, name).endswith("not yet")
    assert "authors' figures, for their models on their machines" in shown
    assert "vLLM" in shown


# ------------------------------------------------------------------ all


def every_state(lab: Lab) -> list[str]:
    """Walks through a page's states: each control to both ends, and each deed."""
    texts = []
    for number in range(len(lab.controls)):
        lab.select(number)
        for by in (1,) * 25 + (-1,) * 50:
            lab.change(by)
            texts.append(lab.words())
            assert all(width_of(row) <= 78 for row in lab.figure(78)), text_of(lab.figure(78))
            assert len(lab.figure(78)) <= 11
    for deed in lab.view.deeds:
        deed.do()
        texts.append(lab.words())
    return texts


@pytest.mark.parametrize("page", range(PAGES))
def test_each_page_fits_a_small_window_in_every_state(page: int) -> None:
    lab = Lab()
    lab.turn(page)
    texts = every_state(lab)
    assert all(0 < len(text) <= 440 for text in texts)
    assert len(set(texts)) > 1, "the words never change"
    assert len(lab.controls) + bool(lab.view.deeds) + len(lab.figure(78)) <= 16
    assert lab.figure(30)
