"""Text in the cells of a terminal."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size


def filled(text: str, width: int) -> str:
    """`text` in exactly `width` cells: filled up with blanks, or cut, which `…` shows."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return f"{set_cell_size(text, max(width - 1, 0))}…" if width else ""
