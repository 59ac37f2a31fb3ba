"""The options of the commands that have few: models, history, lab, doctor and completion."""

from __future__ import annotations

import argparse

from specchat.app.command_line.parser import Commands
from specchat.app.command_line.setting_options import add_items
from specchat.app.lab.choices import LAB_CHOICES
from specchat.app.words import _

ACTIONS = ("list", "show", "check", "forget")
"""What `specchat models` can do."""
SHELLS = ("bash", "zsh", "fish", "powershell")


def add_models(commands: Commands) -> None:
    """Add `specchat models`."""
    models = commands.add_parser(
        "models",
        usage="specchat models [list | show | check | forget] …",
        help=_("List the models on this machine, and say which go together."),
        description=_("Find models where other programs keep them. Without a word more, list them."),
    )
    actions = models.add_subparsers(dest="action", title=_("what to do"), metavar=_("WORD"))
    file = _("A GGUF file, or a name as it is listed.")

    def add(name: str, about: str, *more: str, **files: str) -> argparse.ArgumentParser:
        words = " ".join(("specchat models", name, *files.values(), *more, "[--json]"))
        action: argparse.ArgumentParser = actions.add_parser(name, usage=words, help=about, description=about)
        for dest, metavar in files.items():
            action.add_argument(dest, metavar=metavar, help=file)
        action.add_argument("--json", action="store_true", help=_("Print one JSON object instead."))
        return action

    add("list", _("List them."))
    add("show", _("Say what is known of a model, and which drafts go with it."), file=_("MODEL"))
    check = _("Say whether a draft can guess for a target. The status is 0 if it can, 1 if not.")
    add("check", check, target=_("TARGET"), draft=_("DRAFT"))
    forget = _("Forget what was kept: of one file, of an added folder, or of all. Model files are left alone.")
    path = _("PATH")
    add("forget", forget, f"[{path}]").add_argument(
        "file", nargs="?", metavar=path, help=_("A file or a folder; without it, all.")
    )


def add_history(commands: Commands) -> None:
    """Add `specchat history`."""
    history = commands.add_parser(
        "history",
        usage="specchat history [--json|--csv]",
        help=_("Show what was measured, and what the chats sum up to."),
        description=_("Show comparisons, benchmarks and sums of chats by models, machine and kind of prompt."),
    )
    history.add_argument("--json", action="store_true", help=_("Print one JSON object instead."))
    history.add_argument("--csv", action="store_true", help=_("Print CSV instead."))


def add_lab(commands: Commands) -> None:
    """Add `specchat lab`."""
    lab = commands.add_parser(
        "lab",
        usage=_("specchat lab [OPTION …]"),
        help=_("See why it works."),
        description=_(
            "Figures that explain speculative decoding, with toys or with what was measured on this machine."
        ),
    )
    lab.add_argument(
        "--print", metavar=_("N"), help=_("Print the numbers of figure N, from 1 to 6, and open no screen.")
    )
    lab.add_argument("--json", action="store_true", help=_("Print them as one JSON object."))
    lab.add_argument("--svg", metavar=_("FILE"), help=_("Write the figure to FILE as well."))
    add_items(lab.add_argument_group(_("the figures' sliders")), LAB_CHOICES)


def add_doctor(commands: Commands) -> None:
    """Add `specchat doctor`."""
    doctor = commands.add_parser(
        "doctor",
        usage="specchat doctor [--json]",
        help=_("Show what specchat finds on this machine."),
        description=_("Show versions, devices, folders, and whether a GPU lies idle."),
    )
    doctor.add_argument("--json", action="store_true", help=_("Print one JSON object instead."))


def add_completion(commands: Commands) -> None:
    """Add `specchat completion`."""
    completion = commands.add_parser(
        "completion",
        usage=f"specchat completion {{{','.join(SHELLS)}}}",
        help=_("Print a script with which a shell completes specchat's commands and options."),
        description=_("Print a script for a shell. The README says where to put it."),
    )
    completion.add_argument("shell", choices=SHELLS, metavar=_("SHELL"), help=", ".join(SHELLS))
