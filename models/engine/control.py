"""What the reading thread may tell the work that the main thread is doing."""

from __future__ import annotations

from dataclasses import replace

from specchat.models.engine.messages import Change, DrafterName
from specchat.settings.values import Speculation


class Stoppable:
    """Work that may be asked to end early. `cancelled` only ever turns from False to True."""

    def __init__(self) -> None:
        self.cancelled = False

    def stop(self) -> None:
        """Ask the work to end."""
        self.cancelled = True


class Control(Stoppable):
    """How a reply is to be written from its next round on.

    One thread changes it, another reads it; each change puts a whole new frozen value in place, so no lock is needed.
    """

    def __init__(self, speculation: Speculation, drafter: DrafterName) -> None:
        super().__init__()
        self.speculation = speculation
        self.drafter = drafter

    def change(self, change: Change) -> None:
        """Take over what `change` names and leave the rest as it is."""
        now = self.speculation
        self.speculation = replace(
            now,
            enabled=now.enabled if change.enabled is None else change.enabled,
            gamma=now.gamma if change.gamma is None else change.gamma,
            rule=now.rule if change.rule is None else change.rule,
        )
        if change.drafter is not None:
            self.drafter = change.drafter
