"""The line that says how far a benchmark is."""

from __future__ import annotations

import pytest

from specchat.app.bench.progress import ProgressLine, duration_left
from specchat.app.bench.runner import Began
from specchat.app.bench.sides import LOOKUP, PLAIN, Side, Step
from specchat.app.live import LiveLine, Place
from specchat.models.engine import messages
from support.benches import PROMPTS, make_run
from support.rounds import make_round
from support.screen import Screen, Terminal

PLAIN_STEP = Step("", PLAIN, PROMPTS[0], 0)
DRAFT_STEP = Step("/m/a.gguf", Side("/m/a.gguf", "auto"), PROMPTS[1], 0)


class Shown:
    """A progress line on a screen, at a time of the test's choosing."""

    def __init__(self, place: Place = Place.ALONE) -> None:
        self.screen = Screen(80, 5)
        self.now = 0.0
        out, err = Terminal(self.screen), Terminal(self.screen)
        self._line = LiveLine(out, err, place, lambda: 80)
        self.progress = ProgressLine(self._line, lambda: self.now)

    def show(self, *events: object) -> str:
        """What is on the screen after these events."""
        for event in events:
            self._line.clear()  # so that the next one is shown at once
            self.progress.show(event)  # type: ignore[arg-type]
        return "\n".join(self.screen.lines)


def written(tokens: int, seconds: float) -> messages.Written:
    return messages.Written(1, make_round(tokens - 1, tokens - 1, seconds=seconds), (), "")


def test_loading_is_shown_as_in_the_chat() -> None:
    assert Shown().show(messages.Progress(1, "draft", 250, 1000)) == "loading the draft: 25%"


def test_a_reply_is_named_with_its_number_and_speed() -> None:
    said = Shown().show(Began(DRAFT_STEP, 2, 48), written(3, 0.1))
    assert said == "2 of 48 · a.gguf, γ auto · story · 30.0 tok/s"
    assert Shown().show(Began(PLAIN_STEP, 1, 48)) == "1 of 48 · without · code · – tok/s"


def test_warming_up_is_called_that() -> None:
    step = Step("", Side(LOOKUP, 3), PROMPTS[0], 0)
    assert Shown().show(Began(step, 0, 48), written(3, 0.1)) == "warming up: lookup, γ 3"


def test_the_time_left_is_what_the_replies_so_far_took() -> None:
    shown = Shown()
    shown.show(Began(PLAIN_STEP, 0, 5))
    shown.now = 1000  # loading and warming up don't count
    shown.show(Began(PLAIN_STEP, 1, 5))
    shown.now = 1040
    shown.show(make_run(PLAIN_STEP, 10.0))
    assert "2 of 5 · 3 min left · without" in shown.show(Began(PLAIN_STEP, 2, 5))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s left"), (89, "89 s left"), (90, "2 min left"), (5000, "83 min left"), (6000, "1 h 40 min left")],
)
def test_durations_are_rough(seconds: float, said: str) -> None:
    assert duration_left(seconds) == said


def test_checksums_are_shown_too() -> None:
    shown = Shown()
    shown.progress.hashing(1, 4)
    assert shown.screen.lines == ["computing checksums: 25%"]
    shown.progress.clear()
    assert shown.screen.lines == []


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    assert Shown(Place.NOWHERE).show(Began(PLAIN_STEP, 1, 5), written(3, 0.1)) == ""
