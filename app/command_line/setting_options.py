"""The options that set something, each made of a setting's declaration."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable
from typing import Any

from specchat.app.sentences import N_
from specchat.app.words import _
from specchat.settings.schema import Setting, Value
from specchat.settings.values import SCHEMA

_METAVARS: dict[type[Value], str] = {int: N_("N"), float: N_("X"), str: N_("TEXT")}


def option(item: Setting) -> str:
    """The option that sets `item`: the target's go by their bare names, the draft's begin with `--draft-`."""
    if item.key == "speculation.enabled":
        return "--speculation"
    prefix = "draft-" if item.section == "draft" else ""
    return f"--{prefix}{item.name.replace('_', '-')}"


def add_settings(
    group: argparse._ActionsContainer, section: str, without: Collection[str] = frozenset(), hidden: bool = False
) -> None:
    """Add the options of a section."""
    items = [item for item in SCHEMA if item.section == section and item.key not in without]
    add_items(group, items, hidden)


def add_items(group: argparse._ActionsContainer, items: Iterable[Setting], hidden: bool = False) -> None:
    """Add an option each. Only those that were typed come out of the parser, as text under their keys."""
    for item in items:
        help = argparse.SUPPRESS if hidden else _help(item)
        if item.kind is bool:
            kind: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        else:
            kind = {"metavar": "|".join(item.choices or (*item.words, _(_METAVARS[item.kind])))}
        group.add_argument(option(item), dest=item.key, default=argparse.SUPPRESS, help=help, **kind)


def _help(item: Setting) -> str:
    default = (_("on") if item.default else _("off")) if item.kind is bool else str(item.default)
    text = f"{_(item.help)} [{default}]" if default else _(item.help)
    return text.replace("%", "%%")  # argparse would fill in what follows a single one
