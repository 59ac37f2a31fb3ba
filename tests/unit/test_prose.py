"""Text that grows on the screen: what is laid out anew, what is painted anew, and what stays."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Region

from specchat.app.widgets.prose import SPARE_LINES, Prose

WORDS = "A prime number has exactly two divisors. "
TEXT = f"# Title\n\n{WORDS * 3}\n\n- one\n- two\n\n```python\nx = 1\ny = 2\n```\n\nThe end."


class Host(App[None]):
    """Shows one text."""

    def __init__(self, prose: Prose) -> None:
        super().__init__()
        self.prose = prose

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield self.prose


def texts(prose: Prose) -> list[str]:
    return [line.text.rstrip() for line in prose.lines]


async def test_what_grew_looks_like_what_was_there_from_the_start() -> None:
    grown, whole = Prose(), Prose(TEXT)
    async with Host(whole).run_test(size=(60, 40)):
        pass
    async with Host(grown).run_test(size=(60, 40)) as pilot:
        for char in TEXT:
            grown.add(char)
        await pilot.pause()
        assert grown.lines == whole.lines
        assert "The end." in texts(grown)


async def test_lines_that_look_as_before_are_the_same_strips() -> None:
    prose = Prose(TEXT)
    async with Host(prose).run_test(size=(60, 40)):
        before = list(prose.lines)
        prose.add(" Or not.\n\nNo.")
        assert [a is b for a, b in zip(before, prose.lines, strict=False)] == [True] * (len(before) - 1) + [False]


async def test_only_lines_that_changed_are_painted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    prose = Prose()
    async with Host(prose).run_test(size=(60, 40)) as pilot:
        prose.add(f"{WORDS * 3}\n\nAnd")
        await pilot.pause()
        last = len(prose.lines) - 1
        painted: list[tuple[Region, ...]] = []
        monkeypatch.setattr(prose, "refresh", lambda *regions, **_: painted.append(regions))
        prose.add(" so on")
        assert painted == [(Region(0, last, 60, 1),)]
        prose.add(" ")
        assert len(painted) == 1


async def test_a_text_that_grows_has_lines_to_spare_and_none_in_the_end() -> None:
    prose = Prose()
    async with Host(prose).run_test(size=(60, 40)) as pilot:
        heights = []
        for number in range(20):
            prose.add(f"- item {number}\n")
            await pilot.pause()
            assert len(prose.lines) <= prose.size.height <= len(prose.lines) + SPARE_LINES
            heights.append(prose.size.height)
        assert len(set(heights)) <= 20 / SPARE_LINES
        prose.settle()
        await pilot.pause()
        assert prose.size.height == len(prose.lines) == 20


async def test_another_width_lays_all_out_anew() -> None:
    prose = Prose(WORDS * 3)
    async with Host(prose).run_test(size=(60, 40)) as pilot:
        assert len(prose.lines) == 3
        await pilot.resize_terminal(130, 40)
        await pilot.pause()
        assert len(prose.lines) == 1
        assert {line.cell_length for line in prose.lines} == {130}


async def test_another_theme_paints_all_in_other_colours() -> None:
    prose = Prose(WORDS)
    async with Host(prose).run_test(size=(60, 40)) as pilot:
        before = list(prose.lines)
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert prose.lines != before
        assert texts(prose) == [line.text.rstrip() for line in before]


async def test_a_part_of_the_lines_can_be_painted() -> None:
    prose = Prose("one\n\ntwo")
    async with Host(prose).run_test(size=(60, 40)):
        assert [strip.text for strip in prose.render_lines(Region(1, 0, 3, 5))] == ["ne ", "   ", "wo ", "   ", "   "]
