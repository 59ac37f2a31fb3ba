"""The screen of the X-ray: walking through the rounds of a reply."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.content import Content
from textual.widgets import Static

from specchat.app.chats.records import Step
from specchat.app.screens.xray import XrayScreen
from specchat.app.widgets import xray_view
from specchat.app.widgets.xray_text import Line, paint
from specchat.app.widgets.xray_view import XrayView
from support.rounds import make_step

PRIME = (
    make_step(own="A"),
    make_step(" prime| number", own=" has"),
    make_step(" exactly", " one| of", own=" two"),
    make_step("", " factors", own=" divisors"),
    make_step(" so|.", "", own=""),
)
LONG = tuple(make_step(f" word{number}", " no", own=" yes\n") for number in range(200))


class Host(App[None]):
    """Opens an X-ray."""

    def __init__(self, steps: tuple[Step, ...], title: str = "A title") -> None:
        super().__init__()
        self.xray = XrayScreen(steps, title)

    async def on_mount(self) -> None:
        await self.push_screen(self.xray)

    @property
    def view(self) -> XrayView:
        return self.xray.query_one(XrayView)

    @property
    def facts(self) -> str:
        """The first line on the marked round."""
        return str(self.xray.query_one("#facts", Static).content).split(" · ")[0]


@pytest.mark.parametrize("key", ["escape", "f3", "ctrl+r"])
async def test_it_closes(key: str) -> None:
    app = Host(PRIME)
    async with app.run_test() as pilot:
        assert app.screen is app.xray
        await pilot.press(key)
        assert app.screen is not app.xray


async def test_keys_walk_through_the_rounds() -> None:
    app = Host(PRIME)
    async with app.run_test() as pilot:
        seen = []
        for key in ("right", "n", "left", "p", "p", "n", "n", "n", "n", "n"):
            await pilot.press(key)
            seen.append(app.facts)
        assert seen == [f"round {position} of 5" for position in (2, 3, 2, 1, 1, 2, 3, 4, 5, 5)]


async def test_the_marked_round_is_brought_onto_the_screen() -> None:
    app = Host(LONG)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.mark(49)
        await pilot.press("n")
        top = app.view.scroll_offset.y
        assert top <= 50 < top + app.view.size.height


async def test_where_one_has_scrolled_to_the_walk_goes_on() -> None:
    app = Host(LONG)
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.scroll_to(y=100, animate=False, immediate=True)
        await pilot.press("n")
        assert app.view.marked == 100


async def test_a_click_marks_a_round() -> None:
    app = Host(PRIME)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.click(XrayView, offset=(30, 0))
        assert app.facts == "round 3 of 5"
        await pilot.click(XrayView, offset=(70, 0))
        await pilot.click(XrayView, offset=(5, 3))
        assert app.facts == "round 3 of 5"


async def test_another_width_sets_the_text_anew() -> None:
    app = Host(PRIME)
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.view.virtual_size.height == 1
        await pilot.resize_terminal(30, 24)
        await pilot.pause()
        assert app.view.virtual_size.height == 3


async def test_a_reply_of_nothing() -> None:
    app = Host(())
    async with app.run_test() as pilot:
        await pilot.press("n", "p")
        await pilot.click(XrayView, offset=(1, 0))
        assert app.facts == "Nothing was written."


async def test_content_is_shown_and_not_obeyed() -> None:
    hostile = "[@click=app.quit]x[/] [/INST]"
    app = Host((make_step(own=hostile),), f"{hostile}\x1b]52;c;aGk=\x07")
    async with app.run_test(size=(80, 24)) as pilot:
        assert app.xray.query(Static).first().render_line(0).text.rstrip() == f"X-ray  {hostile}"
        assert app.view.render_line(0).text.rstrip() == f"{hostile}│"
        assert await pilot.click(XrayView, offset=(2, 0))
        assert app.screen is app.xray


async def test_a_long_title_takes_one_row() -> None:
    app = Host(PRIME, "word " * 40)
    async with app.run_test(size=(80, 24)):
        title = app.xray.query(Static).first()
        assert title.size.height == 1
        assert title.render_line(0).text.rstrip().endswith("…")


async def test_only_the_lines_on_the_screen_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = 0

    def counting(line: Line, marked: int | None) -> Content:
        nonlocal painted
        painted += 1
        return paint(line, marked)

    monkeypatch.setattr(xray_view, "paint", counting)
    app = Host(LONG * 25)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.view.virtual_size.height == 5000
        assert painted < 5 * 24
