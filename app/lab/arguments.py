"""What `specchat lab` is to do: its options judged, together with the settings file and the environment."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from specchat.app.arguments import typed_path, typed_settings
from specchat.app.lab.choices import LAB_CHOICES, Choices
from specchat.app.options import UsageError
from specchat.settings import sources
from specchat.settings.values import Look

PAGES = 6


@dataclass(frozen=True, slots=True)
class LabArguments:
    """What was asked for: a figure's numbers (`print`, from 1) or its picture, or the screen where `print` is None."""

    print: int | None
    json: bool
    svg: Path | None
    choices: Choices
    look: Look


def lab_arguments(parsed: argparse.Namespace, file: Path, environ: Mapping[str, str]) -> LabArguments:
    """From its parsed options, the settings `file` and the environment. Raises `UsageError`."""
    chosen = typed_settings(vars(parsed), LAB_CHOICES)
    page = _page(parsed.print)
    if page is None and (parsed.json or parsed.svg is not None or chosen):
        raise UsageError("lab_without_page", {})
    svg = typed_path("--svg", parsed.svg)
    return LabArguments(
        print=page,
        json=parsed.json,
        svg=None if svg is None else Path(svg),
        choices=Choices(**{item.name: chosen[item.key] for item in LAB_CHOICES if item.key in chosen}),  # type: ignore[arg-type]
        look=sources.load(file, environ, {}).settings.look,
    )


def _page(text: str | None) -> int | None:
    if text is None:
        return None
    if text not in map(str, range(1, PAGES + 1)):
        raise UsageError("lab_no_page", {"page": text, "pages": PAGES})
    return int(text)
