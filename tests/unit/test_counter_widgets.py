"""The counter beside the chat, its short forms, and the words it uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App, ComposeResult

from specchat.app.widgets.counter import Counter
from specchat.app.widgets.panel import REPAINT_SECONDS, CounterState, Panel, Part, Repaints
from specchat.app.widgets.speedline import Sample
from specchat.app.widgets.strip import Strip, figures_line, first_line, reply_line, second_line
from specchat.app.widgets.words_help import WORDS, explain
from specchat.models.decoding.counters import count
from specchat.settings.values import Speculation
from support.rounds import make_round

ROUNDS = [make_round(3, 3), make_round(3, 1), make_round(3, 2), make_round(0, 0)]
REPLY = count(ROUNDS)
STATE = CounterState(
    drafter="model",
    reply=REPLY,
    now=31.44,
    samples=(Sample(30.0, True), Sample(15.0, False)),
    session_on=replace(REPLY, tokens=1204, seconds=40.0),
    session_off=replace(REPLY, tokens=310, seconds=16.0),
    device="CUDA0 RTX 3060 · 7.9 of 12 GB",
)


class Host(App[None]):
    """Shows one panel."""

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self.panel = panel

    def compose(self) -> ComposeResult:
        yield self.panel

    def lines(self) -> list[str]:
        """The panel's text."""
        return [line.rstrip() for part in self.panel.query(Part) for line in part.render().plain.split("\n")]


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


async def panel_lines(panel: Panel, state: CounterState, width: int = 42) -> list[str]:
    """What `panel` shows of `state` on a terminal of `width` columns."""
    app = Host(panel)
    async with app.run_test(size=(width, 24)):
        panel.show(state)
        return app.lines()


# ------------------------------------------------------------------ the panel


async def test_the_panel_shows_every_figure() -> None:
    assert await panel_lines(Counter(), STATE) == [
        "DRAFT on · model · γ 3 · block rule",
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
        "CUDA0 RTX 3060 · 7.9 of 12 GB",
    ]


async def test_before_the_first_reply_dashes_stand_where_the_figures_will() -> None:
    before = await panel_lines(Counter(), CounterState(drafter="model"))
    after = await panel_lines(Counter(), STATE)
    assert before[6:9] == [
        "accepted               –     – %",
        "target passes          –     – each",
        "draft runs             –  c –",
    ]
    assert before[10:13] == ["–", "█ draft      – %    ▓ verify     – %", "▒ sampling   – %    ░ other      – %"]
    for row in (*range(2, 9), 18, 19):
        assert labels(before[row]).items() <= labels(after[row]).items()


def labels(line: str) -> dict[str, int]:
    """Each word of a line and its column, but for the one between accepted and drafted."""
    return {match.group(): match.start() for match in re.finditer(r"[a-z/%×]+", line) if match.group() != "of"}


async def test_labels_stand_still_while_numbers_grow() -> None:
    big = CounterState(
        drafter="model", reply=replace(REPLY, accepted=4321, drafted=5432, target_passes=1500, tokens=50_000)
    )
    small, large = await panel_lines(Counter(), STATE), await panel_lines(Counter(), big)
    assert [labels(line) for line in small[2:9]] == [labels(line) for line in large[2:9]]


@pytest.mark.parametrize(
    ("state", "head"),
    [
        (CounterState(drafter="lookup"), "DRAFT on · lookup · γ 3 · block rule"),
        (CounterState(Speculation(enabled=False), "model"), "DRAFT off · model · γ 3 · block rule"),
        (CounterState(Speculation(gamma=0, rule="token"), "model"), "DRAFT off · model · γ 0 · token rule"),
        (CounterState(), "NO DRAFT · the target alone"),
    ],
)
async def test_what_is_on_is_said_first(state: CounterState, head: str) -> None:
    assert (await panel_lines(Counter(), state))[0] == head
    assert (await panel_lines(Strip(), state))[0].startswith(head.partition(" · ")[0])


async def test_plain_decoding_has_no_speed_up() -> None:
    plain = count([make_round(0, 0, on=False)])
    lines = await panel_lines(Counter(), replace(STATE, reply=plain))
    assert lines[4] == "speed-up               –  estimated"
    assert lines[6] == "accepted          0 of 0     – %"


async def test_what_is_waited_for_is_said() -> None:
    waiting = replace(STATE, stage="reading the prompt · 512 of 1,024")
    assert (await panel_lines(Counter(), waiting))[1] == "reading the prompt · 512 of 1,024"
    assert (await panel_lines(Strip(), waiting))[1] == "reading the prompt · 512 of 1,024"


async def test_a_devices_name_is_shown_and_not_obeyed() -> None:
    lines = await panel_lines(Counter(), replace(STATE, device="[@click=app.quit]GPU[/] \x1b[31m\x07x"))
    assert lines[-1] == "[@click=app.quit]GPU[/] x"


# ------------------------------------------------------------------ the strip


def test_the_strips_lines() -> None:
    assert first_line(STATE, 80).plain == "DRAFT on · 25.0 tok/s · 1.25× est. · without 20.0 · now 31.4"
    assert second_line(STATE, 80).plain == "    6 of 9 accepted ·   4 passes · 2.5 each · γ 3 · block rule · model"


def test_what_has_no_room_is_left_out_from_the_end() -> None:
    assert first_line(STATE, 50).plain == "DRAFT on · 25.0 tok/s · 1.25× est. · without 20.0"
    assert second_line(STATE, 50).plain == "    6 of 9 accepted ·   4 passes · 2.5 each · γ 3"
    for width in range(8, 100):
        assert first_line(STATE, width).cell_length <= width


def test_the_strips_labels_stand_still_while_numbers_grow() -> None:
    big = replace(STATE, reply=replace(REPLY, accepted=432, drafted=543, target_passes=150, seconds=1.5))
    for draw in (first_line, second_line):
        assert labels(draw(STATE, 80).plain) == labels(draw(big, 80).plain)


def test_a_finished_reply_has_one_line() -> None:
    assert reply_line(REPLY) == "6 of 9 accepted · 4 passes · 2.5 each · 25.0 tok/s · 1.25× est. · F3 X-ray"
    assert figures_line(count([make_round(0, 0)])) == "1 pass · 1.0 each · 10.0 tok/s"
    unpriced = count([replace(make_round(3, 3), plain_seconds=None)])
    assert figures_line(unpriced) == "3 of 3 accepted · 1 pass · 4.0 each · 40.0 tok/s"


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


async def test_the_last_state_is_painted_without_another_one() -> None:
    app = Host(Counter())
    async with app.run_test(size=(42, 24)) as pilot:
        app.panel.show(STATE)
        app.panel.show(replace(STATE, stage="loading"))
        while app.lines()[1] != "loading":
            await pilot.pause()


async def test_only_what_changed_is_repainted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    app = Host(Counter(clock=clock))
    async with app.run_test(size=(42, 24)) as pilot:
        app.panel.show(STATE)
        await pilot.pause()
        repainted: list[str] = []
        monkeypatch.setattr(Part, "refresh", lambda part, *_: repainted.append(part.render().plain))
        clock.wait(1.0)
        app.panel.show(replace(STATE, now=99.0))
        assert repainted == ["tok/s               25.0  now  99.0"]


# ------------------------------------------------------------------ words


def test_the_words_mean_what_the_readme_says() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    [table] = re.findall(r"## The words of the counter\n\n(.*?)\n\n", readme, re.DOTALL)
    rows = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table.split("\n")[2:]]
    assert rows == list(WORDS[: len(rows)])


async def test_every_part_with_a_figure_explains_its_words() -> None:
    for panel in (Counter(), Strip()):
        app = Host(panel)
        async with app.run_test(size=(42, 24)):
            panel.show(replace(STATE, device=""))
            for part in panel.query(Part):
                assert part.tooltip is not None or not part.render().plain


def test_an_unknown_word_is_a_mistake() -> None:
    assert explain("accepted", "c").plain == (
        "accepted  guesses that are in the text\nc  seconds of a draft run ÷ seconds of a target pass over one token"
    )
    with pytest.raises(KeyError):
        explain("no such word")
