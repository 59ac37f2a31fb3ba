"""The prompts that wait for their turn, in a line or two above the one that is being typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets import Static

from specchat.app.display import clean
from specchat.app.words import _, plural


class Queued(Static):
    """Shows the first prompt that waits; nothing at all where none does."""

    DEFAULT_CSS = """
    Queued { display: none; height: auto; max-height: 3; padding: 0 2; color: $foreground-muted; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._shown: list[str] = []

    def show(self, prompts: Sequence[str]) -> None:
        """Show these."""
        if self._shown == list(prompts):
            return
        self._shown = list(prompts)
        self.display = bool(prompts)
        if prompts:
            self.update(_("waiting for its turn: {prompts} · ↑ takes it back").format(prompts=_named(prompts)))


def _named(prompts: Sequence[str]) -> str:
    first = " ".join(clean(prompts[0]).split())
    more = len(prompts) - 1
    return first + plural(" (and {count} more)", " (and {count} more)", more).format(count=more) if more else first
