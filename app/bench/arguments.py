"""What `specchat bench` is to do: its options judged, together with the settings file and the environment."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from specchat.app.bench.choices import CHOICES, SETTLED, Choices
from specchat.app.bench.plot import ENDINGS
from specchat.app.bench.prompts import BUILTIN
from specchat.app.bench.sides import LOOKUP
from specchat.app.command_line.arguments import settings_notices, typed_path, typed_settings
from specchat.app.command_line.parser import UsageError
from specchat.settings import sources
from specchat.settings.values import SCHEMA, Settings

Form = Literal["text", "json", "csv", "markdown"]

_FORMS: Mapping[str, Form] = {".json": "json", ".csv": "csv", ".md": "markdown", ".markdown": "markdown"}
"""What a report's file is in by its ending, where nothing else was said."""


@dataclass(frozen=True, slots=True)
class BenchArguments:
    """What `specchat bench` was asked for.

    `target` is None where the bundled model is meant, and `prompts` where the built-in ones are. `drafts` are paths
    and `LOOKUP`, at least one, each once. `notices` are sentences about settings that were left out.
    """

    target: Path | None
    drafts: tuple[str, ...]
    prompts: Path | None
    choices: Choices
    settings: Settings
    form: Form
    output: Path | None
    plot: Path | None
    notices: tuple[str, ...]


def bench_arguments(parsed: argparse.Namespace, file: Path, environ: Mapping[str, str]) -> BenchArguments:
    """From its parsed options, the settings `file` and the environment. Raises `UsageError`."""
    given = vars(parsed)
    loaded = sources.load(file, environ, typed_settings(given, [item for item in SCHEMA if item.key not in SETTLED]))
    chosen = typed_settings(given, CHOICES)
    output, plot, prompts = (_file(f"--{name}", given[name]) for name in ("output", "plot", "prompts"))
    if plot is not None and plot.suffix.lower() not in ENDINGS:
        raise UsageError("bench_plot_ending", {"path": str(plot), "endings": ", ".join(ENDINGS)})
    return BenchArguments(
        target=_file("--target", parsed.target),
        drafts=_drafts(parsed.draft),
        prompts=None if parsed.prompts == BUILTIN else prompts,
        choices=Choices(**{item.name: chosen[item.key] for item in CHOICES if item.key in chosen}),  # type: ignore[arg-type]
        settings=loaded.settings,
        form=_form(parsed, output),
        output=output,
        plot=plot,
        notices=settings_notices(loaded.problems),
    )


def _file(option: str, text: str | None) -> Path | None:
    path = typed_path(option, text)
    return None if path is None else Path(path)


def _drafts(texts: Sequence[str]) -> tuple[str, ...]:
    paths = [typed_path("--draft", text) or "" for text in texts or [LOOKUP]]
    if "none" in paths:
        raise UsageError("bench_draft_none", {})
    return tuple(dict.fromkeys(path if path == LOOKUP else str(Path(path).absolute()) for path in paths))


def _form(parsed: argparse.Namespace, output: Path | None) -> Form:
    forms: list[Form] = [form for form in ("json", "csv", "markdown") if getattr(parsed, form)]
    if len(forms) > 1:
        raise UsageError("bench_one_form", {})
    if forms:
        return forms[0]
    return _FORMS.get(output.suffix.lower(), "text") if output else "text"
