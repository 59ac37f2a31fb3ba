"""How full the context is, and the row it stands in."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from specchat.app.widgets.context_meter import context_meter, short_context_meter
from specchat.app.widgets.title import TitleRow


@pytest.mark.parametrize(
    ("share", "meter"),
    [
        (None, "ctx ░░░░░   – %"),
        (0.0, "ctx ░░░░░   0 %"),
        (0.319, "ctx ▓▓░░░  31 %"),
        (0.999, "ctx ▓▓▓▓▓  99 %"),
        (1.0, "ctx ▓▓▓▓▓ 100 %"),
    ],
)
def test_the_meter_has_one_width(share: float | None, meter: str) -> None:
    assert context_meter(share).plain == meter
    assert short_context_meter(share).plain == meter[:4] + meter[10:]


class Host(App[None]):
    """Shows the row."""

    def compose(self) -> ComposeResult:
        yield TitleRow()


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (60, "Qwen3-8B ◂ Qwen3-0.6B              GPU   ctx ▓▓░░░  31 %"),
        (48, "Qwen3-8B ◂ Qwen3-0.6B  GPU   ctx ▓▓░░░  31 %"),
        (47, "Qwen3-8B ◂ Qwen3-0.6B       ctx ▓▓░░░  31 %"),
        (36, "Qwen3-8B ◂ Qwen3-0.6B  ctx  31 %"),
        (35, "Qwen3-8B ◂ Qwen3-0.…  ctx  31 %"),
    ],
)
async def test_the_row_gives_way_from_its_middle(columns: int, row: str) -> None:
    app = Host()
    async with app.run_test(size=(columns, 3)):
        title = app.query_one(TitleRow)
        title.show(Content("Qwen3-8B ◂ Qwen3-0.6B"), "GPU", 0.31)
        assert title.render().plain == row
