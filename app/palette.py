"""The command palette's entries: the actions of the chat screen."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from specchat.app.actions import ACTIONS, Action, shown_keys
from specchat.app.words import _


class Commands(Provider):
    """Offers every action that makes sense from there."""

    async def discover(self) -> Hits:
        """All of them, in their own order."""
        for action in _offered():
            yield DiscoveryHit(_(action.title), partial(self.screen.run_action, action.name), help=_help(action))

    async def search(self, query: str) -> Hits:
        """Those whose title or help has what is typed."""
        matcher = self.matcher(query)
        for action in _offered():
            title = _(action.title)
            score = max(matcher.match(title), matcher.match(_(action.help)) / 2)
            if score > 0:
                run = partial(self.screen.run_action, action.name)
                yield Hit(score, matcher.highlight(title), run, text=title, help=_help(action))


def _offered() -> list[Action]:
    return [action for action in ACTIONS if action.palette and action.place == "chat"]


def _help(action: Action) -> str:
    keys = shown_keys(action)
    return f"{keys} · {_(action.help)}" if keys else _(action.help)
