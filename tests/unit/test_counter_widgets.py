"""The counter beside the chat, its short forms, and the words it uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region

from specchat.app.widgets.counter import Counter
from specchat.app.widgets.panel import CounterState, Figures, Panel
from specchat.app.widgets.repaints import REPAINT_SECONDS, Repaints
from specchat.app.widgets.speedline import Sample
from specchat.app.widgets.strip import Strip, figures_line, first_line, reply_line, second_line
from specchat.app.widgets.words_help import WORDS, explain
from specchat.models.decoding.counters import count
from specchat.models.engine.messages import DrafterName
from specchat.settings.values import Speculation
from support.rounds import make_round

ROUNDS = [make_round(3, 3), make_round(3, 1), make_round(3, 2), make_round(0, 0)]
REPLY = count(ROUNDS)
STATE = CounterState(
    Speculation(gamma=3),
    "model",
    reply=REPLY,
    now=31.44,
    samples=(Sample(30.0, True), Sample(15.0, False)),
    session_on=replace(REPLY, tokens=1204, seconds=40.0),
    session_off=replace(REPLY, tokens=310, seconds=16.0),
    reason="3 guesses: more wouldn't pay",
)
AUTO = Speculation(gamma="auto")


class Host(App[None]):
    """Shows one panel."""

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self.panel = panel

    def compose(self) -> ComposeResult:
        yield self.panel

    def lines(self) -> list[str]:
        """The panel's text."""
        return [line.text.rstrip() for line in self.panel.query_one(Figures).lines]


class Clock:
    """Seconds that pass when told to, and what happens in them."""

    def __init__(self) -> None:
        self.now = 100.0
        self._later: list[tuple[float, Callable[[], None]]] = []

    def __call__(self) -> float:
        return self.now

    def call_later(self, seconds: float, callback: Callable[[], None]) -> None:
        self._later.append((self.now + seconds, callback))

    def wait(self, seconds: float) -> None:
        """Let time pass, and what is due in it happen."""
        end = self.now + seconds
        while due := [entry for entry in self._later if entry[0] <= end]:
            self._later.remove(due[0])
            self.now, callback = due[0]
            callback()
        self.now = end


async def panel_lines(panel: Panel, state: CounterState, width: int = 40) -> list[str]:
    """What `panel` shows of `state` on a terminal of `width` columns."""
    app = Host(panel)
    async with app.run_test(size=(width, 24)):
        panel.show(state)
        return app.lines()


# ------------------------------------------------------------------ the panel


async def test_the_panel_shows_every_figure() -> None:
    assert await panel_lines(Counter(), STATE) == [
        "DRAFT on · γ 3 · block rule",
        "model",
        "3 guesses: more wouldn't pay",
        "",
        "tok/s               25.0  now  31.4",
        "without             20.0",
        "speed-up           1.25×  estimated",
        "",
        "accepted          6 of 9    67 %",
        "target passes          4   2.5 each",
        "draft runs             9  c 0.10",
        "",
        "████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒░░",
        "█ draft     20 %    ▓ verify    70 %",
        "▒ sampling   5 %    ░ other      5 %",
        "",
        "█                               30 tok/s",
        "██",
        "▔·                             ▔on  ·off",
        "",
        "session on         1,204  tok ·  30.1/s",
        "session off          310  tok ·  19.4/s",
        "other texts: indicative, not measured",
    ]


async def test_before_the_first_reply_dashes_stand_where_the_figures_will() -> None:
    before = await panel_lines(Counter(), CounterState(drafter="model"))
    after = await panel_lines(Counter(), STATE)
    assert before[8:11] == [
        "accepted               –     – %",
        "target passes          –     – each",
        "draft runs             –  c –",
    ]
    assert before[12:15] == ["–", "█ draft      – %    ▓ verify     – %", "▒ sampling   – %    ░ other      – %"]
    for row in (*range(4, 11), 20, 21):
        assert labels(before[row]).items() <= labels(after[row]).items()


def labels(line: str) -> dict[str, int]:
    """Each word of a line and its column, but for the one between accepted and drafted."""
    return {match.group(): match.start() for match in re.finditer(r"[a-z/%×]+", line) if match.group() != "of"}


async def test_labels_stand_still_while_numbers_grow() -> None:
    big = CounterState(
        drafter="model", reply=replace(REPLY, accepted=4321, drafted=5432, target_passes=1500, tokens=50_000)
    )
    small, large = await panel_lines(Counter(), STATE), await panel_lines(Counter(), big)
    assert [labels(line) for line in small[4:11]] == [labels(line) for line in large[4:11]]


@pytest.mark.parametrize(
    ("state", "head", "short"),
    [
        (CounterState(AUTO, "both"), "DRAFT on · γ auto · block rule", "DRAFT on · auto · block"),
        (CounterState(Speculation(gamma=3), "lookup"), "DRAFT on · γ 3 · block rule", "DRAFT on · γ 3 · block"),
        (CounterState(replace(AUTO, enabled=False), "both"), "DRAFT off · γ auto · block rule", "DRAFT off · auto"),
        (CounterState(Speculation(gamma=0, rule="token"), "model"), "DRAFT off · γ 0 · token rule", "DRAFT off · γ 0"),
        (CounterState(AUTO, "none"), "NO DRAFT · the target alone", "NO DRAFT ·    – tok/s"),
    ],
)
async def test_what_is_on_is_said_first(state: CounterState, head: str, short: str) -> None:
    assert (await panel_lines(Counter(), state))[0] == head
    assert (await panel_lines(Strip(), state, width=80))[0].startswith(short)


@pytest.mark.parametrize(
    ("drafter", "said"), [("both", "lookup + model"), ("model", "model"), ("lookup", "lookup"), ("none", "")]
)
async def test_who_guesses_is_said(drafter: DrafterName, said: str) -> None:
    state = CounterState(AUTO, drafter)
    assert (await panel_lines(Counter(), state))[1] == said
    assert second_line(state, 80).plain.partition("each")[2] == (f" · {said}" if said else "")


async def test_plain_decoding_has_no_speed_up() -> None:
    plain = count([make_round(0, 0, on=False)])
    lines = await panel_lines(Counter(), replace(STATE, reply=plain))
    assert lines[6] == "speed-up               –  estimated"
    assert lines[8] == "accepted          0 of 0     – %"


async def test_what_is_waited_for_is_said() -> None:
    waiting = replace(STATE, stage="reading the prompt · 512 of 1,024")
    assert (await panel_lines(Counter(), waiting))[1] == "reading the prompt · 512 of 1,024"
    assert (await panel_lines(Strip(), waiting))[1] == "reading the prompt · 512 of 1,024"


# ------------------------------------------------------------------ the strip


def test_the_strips_lines() -> None:
    assert first_line(STATE, 76).plain == "DRAFT on · γ 3 · block · 25.0 tok/s · 1.25× est. · without 20.0 · now 31.4"
    assert second_line(STATE, 76).plain == "    6 of 9 accepted ·   4 passes · 2.5 each · 3 guesses: more wouldn't pay"


@pytest.mark.parametrize("enabled", [True, False])
def test_the_first_line_has_room_in_80_columns(enabled: bool) -> None:
    auto = replace(STATE, speculation=replace(AUTO, enabled=enabled))
    assert first_line(auto, 76).plain.endswith(" · auto · block · 25.0 tok/s · 1.25× est. · without 20.0 · now 31.4")


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (75, "DRAFT on · γ 3 · block · 25.0 tok/s · 1.25× est. · without 20.0 · now 31.4"),
        (71, "DRAFT on · γ 3 · 25.0 tok/s · 1.25× est. · without 20.0 · now 31.4"),
        (60, "DRAFT on · γ 3 · 25.0 tok/s · 1.25× est. · without 20.0"),
        (46, "DRAFT on · γ 3 · 25.0 tok/s · 1.25× est."),  # 50 columns
        (26, "DRAFT on · 25.0 tok/s"),
        (0, "DRAFT on"),
    ],
)
def test_the_first_line_leaves_out_what_matters_least(width: int, line: str) -> None:
    assert first_line(STATE, width).plain == line


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (60, "    6 of 9 accepted ·   4 passes · 2.5 each · 3 guesses: mo…"),
        (46, "    6 of 9 accepted ·   4 passes · 2.5 each"),
        (40, "    6 of 9 accepted ·   4 passes"),
    ],
)
def test_a_reason_is_cut_where_there_is_no_room(width: int, line: str) -> None:
    assert second_line(STATE, width).plain == line


def test_the_strips_labels_stand_still_while_numbers_grow() -> None:
    big = replace(STATE, reply=replace(REPLY, accepted=432, drafted=543, target_passes=150, seconds=1.5))
    for draw in (first_line, second_line):
        assert labels(draw(STATE, 80).plain) == labels(draw(big, 80).plain)


def test_a_finished_reply_has_one_line() -> None:
    assert reply_line(REPLY, 92) == "6 of 9 accepted · 4 passes · 2.5 each · 25.0 tok/s · 1.25× est. · F3 X-ray"
    assert figures_line(count([make_round(0, 0)])) == "1 pass · 1.0 each · 10.0 tok/s"
    unpriced = count([replace(make_round(3, 3), plain_seconds=None)])
    assert figures_line(unpriced) == "3 of 3 accepted · 1 pass · 4.0 each · 40.0 tok/s"


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (73, "432 of 543 accepted · 150 passes · 66.7 tok/s · 3.33× est. · F3 X-ray"),  # 80 columns
        (70, "432 of 543 accepted · 150 passes · 66.7 tok/s · 3.33× est. · F3 X-ray"),  # 120, beside the panel
        (53, "432 of 543 accepted · 66.7 tok/s · 3.33× est."),
        (43, "66.7 tok/s · 3.33× est. · F3 X-ray"),  # 50 columns
        (0, "66.7 tok/s"),
    ],
)
def test_a_finished_replys_line_leaves_out_what_matters_least(width: int, line: str) -> None:
    reply = replace(REPLY, accepted=432, drafted=543, target_passes=150, tokens=582, seconds=8.73)
    assert reply_line(reply, width) == line


# ------------------------------------------------------------------ repainting


def painter() -> tuple[Clock, Repaints, list[float]]:
    """Repaints, and the times at which they were made."""
    clock = Clock()
    painted: list[float] = []
    return clock, Repaints(lambda: painted.append(clock.now), clock, clock.call_later), painted


def test_the_first_change_is_painted_at_once_and_the_next_ones_together() -> None:
    clock, repaints, painted = painter()
    repaints.ask()
    assert painted == [100.0]
    clock.wait(0.02)
    repaints.ask()
    repaints.ask()
    assert painted == [100.0]
    clock.wait(1.0)
    assert painted == [100.0, pytest.approx(100.0 + REPAINT_SECONDS)]


def test_a_change_after_a_pause_is_painted_at_once() -> None:
    clock, repaints, painted = painter()
    for _ in range(3):
        repaints.ask()
        clock.wait(REPAINT_SECONDS + 0.001)
    assert len(painted) == 3


def test_fast_rounds_are_painted_soon_and_at_most_fifteen_times_a_second() -> None:
    clock, repaints, painted = painter()
    asked: list[float] = []
    for _ in range(1000):
        asked.append(clock.now)
        repaints.ask()
        clock.wait(0.005)
    assert len(painted) <= 15 * 5 + 1
    clock.wait(1.0)
    assert all(any(ask <= paint <= ask + 0.1 for paint in painted) for ask in asked)


async def test_only_what_changed_is_repainted(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Host(Counter())
    async with app.run_test(size=(42, 24)):
        app.panel.show(STATE)
        repainted: list[Region] = []
        monkeypatch.setattr(Figures, "refresh", lambda _figures, *regions: repainted.extend(regions))
        app.panel.show(replace(STATE, now=99.0))
        [region] = repainted
        assert app.lines()[region.y : region.bottom] == ["tok/s               25.0  now  99.0"]
        app.panel.show(replace(STATE, now=99.0))
        assert repainted == [region]


async def test_a_hidden_panel_shows_the_latest_state_when_it_appears() -> None:
    app = Host(Counter())
    async with app.run_test(size=(40, 24)) as pilot:
        app.panel.display = False
        await pilot.pause()
        before = app.lines()
        app.panel.show(STATE)
        assert app.lines() == before
        app.panel.display = True
        await pilot.pause()
        assert app.lines() == await panel_lines(Counter(), STATE)


async def test_another_width_and_another_theme_are_for_all_lines() -> None:
    app = Host(Counter())
    async with app.run_test(size=(42, 24)) as pilot:
        app.panel.show(STATE)
        await pilot.resize_terminal(60, 24)
        app.panel.styles.width = 60
        await pilot.pause()
        figures = app.panel.query_one(Figures)
        assert {line.cell_length for line in figures.lines} == {figures.size.width}
        before = list(figures.lines)
        app.theme = "textual-light"
        await pilot.pause()
        assert not any(old == new for old, new in zip(before, figures.lines, strict=True))


# ------------------------------------------------------------------ words


def test_the_words_mean_what_the_readme_says() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    [table] = re.findall(r"## The words of the counter\n\n(.*?)\n\n", readme, re.DOTALL)
    rows = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table.split("\n")[2:]]
    assert rows == list(WORDS[: len(rows)])


@pytest.mark.parametrize("make", [Counter, Strip])
async def test_every_line_with_a_figure_explains_its_words(make: Callable[[], Panel]) -> None:
    app = Host(make())
    async with app.run_test(size=(42, 24)) as pilot:
        app.panel.show(STATE)
        figures = app.panel.query_one(Figures)
        for y, line in enumerate(app.lines()):
            await pilot.hover(figures, offset=(1, y))
            assert (figures.tooltip is None) == (not line), line


@pytest.mark.parametrize(
    "word", ["target passes", "passes", "each", "est.", "session on", "now", "without", "ctx", "γ"]
)
def test_words_are_found_under_the_name_they_are_shown_by(word: str) -> None:
    assert [name for name, meaning in WORDS if word.removeprefix("target ") in name or f"({word})" in meaning]


async def test_one_pass_is_not_called_passes() -> None:
    one, two = (CounterState(drafter="model", reply=count(ROUNDS[:number])) for number in (1, 2))
    assert " 1 pass ·" in second_line(one, 80).plain
    assert " 2 passes ·" in second_line(two, 80).plain


def test_an_unknown_word_is_a_mistake() -> None:
    assert explain("accepted", "c").plain == (
        "accepted  guesses that are in the text\nc  seconds of a draft run ÷ seconds of a target pass over one token"
    )
    with pytest.raises(KeyError):
        explain("no such word")
