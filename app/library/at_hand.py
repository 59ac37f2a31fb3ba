"""The models that come with specchat."""

from __future__ import annotations

from pathlib import Path

from specchat.app.demo import is_current, standin_path
from specchat.app.words import _
from specchat.models.files.bundled import bundled_model
from specchat.settings.paths import Paths


def models_at_hand(paths: Paths) -> list[tuple[Path, str]]:
    """The models that need no looking for, each with what it is called."""
    bundled = bundled_model()
    if bundled is None:
        return []
    models = [(bundled, _("{name} (bundled)").format(name=bundled.stem))]
    standin = standin_path(paths.cache)
    if is_current(standin, bundled):
        models.append((standin, _("stand-in of `specchat demo`")))
    return models
