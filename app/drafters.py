"""Who guesses: whoever usually does where nobody was chosen, and whoever can with the models that are loaded."""

from __future__ import annotations

from specchat.models.engine.messages import DrafterName, Loaded
from specchat.settings.values import Gamma

_WITHOUT_MODEL: dict[DrafterName, DrafterName] = {
    "both": "lookup",
    "model": "none",
    "lookup": "lookup",
    "none": "none",
}


def usual_drafter(*, has_draft: bool, gamma: Gamma) -> DrafterName:
    """All there are, where what doesn't pay isn't used; with a given number of guesses the draft model alone."""
    if not has_draft:
        return "lookup"
    return "both" if gamma == "auto" else "model"


def able_drafter(wanted: DrafterName, loaded: Loaded | None) -> DrafterName:
    """Who guesses if `wanted` is to. Before anything is loaded, nothing is known to stand against it."""
    if loaded is None:
        return wanted
    if not loaded.target.can_roll_back:
        return "none"
    return wanted if loaded.draft else _WITHOUT_MODEL[wanted]
