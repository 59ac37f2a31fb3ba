"""What a chat is called."""

from __future__ import annotations

from rich.cells import cell_len, chop_cells

from specchat.app.display import clean

MOST_CELLS = 60
_SEARCHED = 1000
"""Characters of a message that are looked through for a title, so that a pasted book takes no time."""


def title_of(text: str) -> str:
    """The title of a chat that begins with `text`: its first line that isn't blank, safe to show, cut to `MOST_CELLS`.

    Empty where there is no such line.
    """
    lines = (" ".join(line.split()) for line in clean(text.lstrip()[:_SEARCHED]).splitlines())
    title = next(filter(None, lines), "")
    if cell_len(title) <= MOST_CELLS:
        return title
    return chop_cells(title, MOST_CELLS - 1)[0] + "…"
