"""What the Lab's figures show, and measurements for them."""

from __future__ import annotations

from specchat.app.lab.mine import MeasuredPoint, Mine, Reply
from specchat.app.lab.page import View
from specchat.app.lab.rows import text_of
from specchat.models.decoding.cost import CostTable, WidthCost
from support.rounds import make_step

MILLISECONDS = {1: 77, 2: 132, 3: 148, 4: 120, 5: 158, 6: 190, 8: 195, 12: 276, 16: 297}
"""V(n) of a real machine (2 cores, a model of 1.3 billion parameters)."""
COSTS = CostTable(tuple(WidthCost(width, ms / 1000, 9) for width, ms in MILLISECONDS.items()), ())
DRAFT_COSTS = CostTable((WidthCost(1, 0.0077, 9),), ())
REPLY = Reply(
    "A prime number",
    (make_step(own="A"), make_step(" prime| number", own=" has"), make_step(" exactly", " one| of", own=" two")),
)


def measured(*points: MeasuredPoint) -> Mine:
    """A machine on which everything was measured but positions."""
    return Mine(COSTS, DRAFT_COSTS, (REPLY,), points)


def seen(view: View, width: int = 78) -> str:
    """The figure and its words, as they are shown."""
    return text_of(view.figure(width)) + "\n" + view.words()
