"""A document's comparisons as CSV, for spreadsheets: a line for each side and kind, and one for all kinds."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

import msgspec

from specchat.app.bench.document import Comparison, Document, SideResult
from specchat.app.words import visible

ALL_KINDS = "(all)"
"""Stands for the kind in the line about all of them."""


def as_csv(document: Document) -> str:
    """The lines, headed by the figures' names in JSON, of both sides of a comparison; what isn't known is empty."""
    rows = [row for side in document.sides for row in _rows(document.target.path, side)]
    written = StringIO()
    writer = csv.DictWriter(written, list(rows[0]) if rows else ["target"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _rows(target: str, side: SideResult) -> Iterator[dict[str, object]]:
    for kind, comparison in [*side.kinds.items(), (ALL_KINDS, side.overall)]:
        yield {
            "target": visible(target),
            "draft": visible(side.draft),
            "drafter": side.drafter,
            "gamma": side.gamma,
            "kind": visible(kind),
            **_flat(comparison),
        }


def _flat(comparison: Comparison) -> dict[str, object]:
    fields = msgspec.structs.asdict(comparison)
    with_draft, without_draft = fields.pop("with_draft"), fields.pop("without_draft")
    for prefix, figures in (("draft", with_draft), ("plain", without_draft)):
        for name, value in msgspec.structs.asdict(figures).items():
            fields[f"{prefix}_{name}"] = (
                " ".join(f"{share:.4f}" for share in value) if isinstance(value, tuple) else value
            )
    return fields
