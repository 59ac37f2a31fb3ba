"""The prompts that wait for their turn, in a line or two above the one that is being typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets import Static

from specchat.app.display import clean
from specchat.app.words import _, plural


class Queued(Static):
    """Shows the prompt that was typed last, which is the one that comes back first; nothing where none waits."""

    DEFAULT_CSS = """
    Queued { height: auto; max-height: 3; padding: 0 2; color: $foreground-muted; }
    Queued.-empty { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False, classes="-empty")
        self._shown: list[str] = []

    def show(self, prompts: Sequence[str]) -> None:
        """Show these."""
        if self._shown == list(prompts):
            return
        self._shown = list(prompts)
        self.set_class(not prompts, "-empty")
        if prompts:
            self.update(_("waiting for its turn: {prompts} · ↑ takes it back").format(prompts=_named(prompts)))


def _named(prompts: Sequence[str]) -> str:
    last = " ".join(clean(prompts[-1]).split())
    more = len(prompts) - 1
    return last + plural(" (after {count} more)", " (after {count} more)", more).format(count=more) if more else last
