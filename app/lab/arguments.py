"""What `specchat lab` is to do: its options judged, together with the settings file and the environment."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from specchat.app.command_line.arguments import typed_path, typed_settings
from specchat.app.command_line.parser import UsageError
from specchat.app.command_line.setting_options import option
from specchat.app.lab.choices import LAB_CHOICES, OF_PAGE, Choices
from specchat.models.errors import Params
from specchat.settings import sources
from specchat.settings.schema import Value
from specchat.settings.values import Look

PAGES = 6
ROUNDS_PAGE, MOST_GAMMA = 2, 8
"""The page with a narrower range of γ, since its passes must fit a line."""


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
    _insist_on_page(page, chosen)
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


def _insist_on_page(page: int | None, chosen: Mapping[str, Value]) -> None:
    """Raise `UsageError` for a slider that the figure doesn't have, or not that far."""
    for item in LAB_CHOICES:
        if page is not None and item.key in chosen and item.name not in OF_PAGE.get(page, ()):
            raise UsageError("lab_not_of_page", {"option": option(item), "page": page})
    gamma = chosen.get("lab.gamma", 1)
    if page == ROUNDS_PAGE and isinstance(gamma, int) and gamma > MOST_GAMMA:
        params: Params = {"name": "--gamma", "minimum": 1, "maximum": MOST_GAMMA, "value": gamma}
        raise UsageError("setting_whole_number", params)
