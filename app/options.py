"""The command line's options. Those of `ask` that set something are derived from the settings schema.

argparse splits the words; values are judged by `specchat.settings.sources`, as those of the settings file are.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

from specchat.app.bench.choices import CHOICES, SETTLED
from specchat.app.lab.choices import LAB_CHOICES
from specchat.app.parser import Parser, UsageError, option
from specchat.app.sentences import N_
from specchat.app.words import _
from specchat.settings.schema import Setting, Value
from specchat.settings.values import SCHEMA

__all__ = ["COMMANDS", "UsageError", "build_parser", "option", "parse"]

COMMANDS = ("chat", "demo", "ask", "bench", "lab", "doctor")

_METAVARS: dict[type[Value], str] = {int: N_("N"), float: N_("X"), str: N_("TEXT")}


_OF_REPLIES = {option(item) for item in SCHEMA if item.section != "look"} | {"--no-speculation"}
_OF_CHATS = {word for item in SCHEMA for word in (option(item), option(item).replace("--", "--no-", item.kind is bool))}
_OF_BENCHES = {option(item) for item in (*SCHEMA, *CHOICES) if item.section != "look" and item.key not in SETTLED}
_VALUED = (
    {"--target", "--draft", "--stop", "--rounds", "--prompts", "--repeat", "--output", "--plot"}
    | {option(item) for item in (*SCHEMA, *LAB_CHOICES) if item.kind is not bool}
    | {"--print", "--svg"}
)
_CHATTING = _OF_CHATS | {"--help", "--target", "--draft", "--plain"}
_KNOWN: Mapping[str | None, Collection[str]] = {
    None: _CHATTING | {"--version"},
    "chat": _CHATTING,
    "demo": _CHATTING - {"--target", "--draft"},
    "ask": _OF_REPLIES | {"--help", "--target", "--draft", "--stop", "--rounds", "--json", "--raw"},
    "bench": _OF_BENCHES
    | {"--help", "--target", "--draft", "--prompts", "--json", "--csv", "--markdown", "--output", "--plot"},
    "lab": {option(item) for item in LAB_CHOICES} | {"--help", "--print", "--json", "--svg"},
    "doctor": {"--help", "--json"},
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line's words. Without a command it is `chat`, except for `--help` and `--version`.

    Raises `UsageError`.
    """
    command = _command(arguments)
    if command is None and not {"-h", "--help", "--version"}.intersection(arguments):
        command, arguments = "chat", ["chat", *arguments]
    parsed, rest = build_parser().parse_known_args(_joined(arguments, command))
    if rest:
        raise _misplaced(rest[0], command)
    return parsed


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def build_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="specchat",
        usage=_("specchat [COMMAND] [OPTION …]"),
        description=_("A local chat in which a small model guesses ahead for a big one, and shows what that brings."),
        epilog=_("`specchat COMMAND --help` tells more."),
    )
    parser.add_argument("--version", action="store_true", help=_("Show the version."))
    commands = parser.add_subparsers(dest="command", title=_("commands"), metavar=_("COMMAND"))
    _add_chat(commands)
    _add_demo(commands)
    _add_ask(commands)
    _add_bench(commands)
    _add_lab(commands)
    _add_doctor(commands)
    return parser


def _add_chat(commands: Commands) -> None:
    chat = commands.add_parser(
        "chat",
        usage=_("specchat [chat] [OPTION …]"),
        help=_("Chat on a screen (what `specchat` alone does)."),
        description=_("Chat with a model, on a screen that shows what the draft brings."),
    )
    _add_models(chat, _("The GGUF that writes; without it, the last one, or the bundled one."))
    _add_chat_options(chat)


def _add_demo(commands: Commands) -> None:
    demo = commands.add_parser(
        "demo",
        usage=_("specchat demo [OPTION …]"),
        help=_("Chat with a pair that shows what a draft can do."),
        description=_("Make a stand-in for a big model out of the bundled one, once, and chat with the two as a pair."),
    )
    _add_chat_options(demo)


def _add_ask(commands: Commands) -> None:
    ask = commands.add_parser(
        "ask",
        usage=_('specchat ask [OPTION …] ["PROMPT"]'),
        help=_("Write one reply."),
        description=_("Write one reply to standard output; figures about it go to standard error."),
    )
    _add_ask_options(ask)


def _add_bench(commands: Commands) -> None:
    bench = commands.add_parser(
        "bench",
        usage=_("specchat bench [OPTION …]"),
        help=_("Measure what drafts bring."),
        description=_("Let a target write with drafts and without, in turns, and tell how sure the difference is."),
    )
    models = bench.add_argument_group(_("models"))
    models.add_argument("--target", metavar=_("PATH"), help=_("The GGUF that writes; without it, the bundled one."))
    models.add_argument(
        "--draft",
        action="append",
        default=[],
        metavar=_("PATH"),
        help=_("A GGUF that guesses, or `lookup`; may be given again. [lookup]"),
    )
    _add_measure(bench)
    _add_report(bench)
    _add_choices(bench, SETTLED)


def _add_measure(bench: argparse.ArgumentParser) -> None:
    measure = bench.add_argument_group(_("measurement"))
    prompts = _("What is asked: a TOML file, or a text file with a prompt in each line. [builtin]")
    measure.add_argument("--prompts", metavar=_("FILE"), help=prompts)
    _add_items(measure, CHOICES)


def _add_report(bench: argparse.ArgumentParser) -> None:
    report = bench.add_argument_group(_("output"))
    for form in ("JSON", "CSV", "Markdown"):
        report.add_argument(f"--{form.lower()}", action="store_true", help=_("Report as {form}.").format(form=form))
    report.add_argument("--output", metavar=_("FILE"), help=_("Write the report to FILE, and show the table as well."))
    report.add_argument("--plot", metavar=_("FILE"), help=_("Draw a picture: FILE ends in .svg or .png."))


def _add_lab(commands: Commands) -> None:
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
    _add_items(lab.add_argument_group(_("the figures' sliders")), LAB_CHOICES)


def _add_doctor(commands: Commands) -> None:
    doctor = commands.add_parser(
        "doctor",
        usage="specchat doctor [--json]",
        help=_("Show what specchat finds on this machine."),
        description=_("Show versions, devices, folders, and whether a GPU lies idle."),
    )
    doctor.add_argument("--json", action="store_true", help=_("Print one JSON object instead."))


def _add_models(command: argparse.ArgumentParser, about_target: str) -> None:
    models = command.add_argument_group(_("models"))
    models.add_argument("--target", metavar=_("PATH"), help=about_target)
    models.add_argument("--draft", metavar=_("PATH"), help=_("The GGUF that guesses, or `lookup`, or `none`."))


def _add_chat_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--plain", action="store_true", help=_("Line by line instead of on a screen, as for screen readers.")
    )
    _add_choices(command)
    _add_settings(command.add_argument_group(_("look")), "look")


def _add_ask_options(ask: argparse.ArgumentParser) -> None:
    ask.add_argument(
        "prompt", nargs="?", metavar=_("PROMPT"), help=_("What to ask; without it, standard input is read.")
    )
    _add_models(ask, _("The GGUF that writes; without it, the bundled one."))
    output = ask.add_argument_group(_("output"))
    output.add_argument("--json", action="store_true", help=_("Print one JSON object instead."))
    output.add_argument("--rounds", metavar=_("FILE"), help=_("Write the rounds to FILE as JSON lines."))
    reply = _add_choices(ask)
    reply.add_argument(
        "--stop", action="append", default=[], metavar=_("TEXT"), help=_("End before this text; may be given again.")
    )
    reply.add_argument("--raw", action="store_true", help=_("Use no chat template: the model continues the prompt."))


def _add_choices(command: argparse.ArgumentParser, without: Collection[str] = frozenset()) -> argparse._ArgumentGroup:
    """Add what the settings file can set, too, but for the keys in `without`; returns the group about the reply."""
    _add_settings(command.add_argument_group(_("speculation")), "speculation", without)
    _add_settings(command.add_argument_group(_("sampling")), "sampling")
    reply = command.add_argument_group(_("reply"))
    _add_settings(reply, "reply", without)
    about = _("For the target. With --draft- in front (as in --draft-gpu-layers) for the draft.")
    _add_settings(command.add_argument_group(_("engine"), about), "target")
    _add_settings(command, "draft", hidden=True)
    return reply


def _add_settings(
    group: argparse._ActionsContainer, section: str, without: Collection[str] = frozenset(), hidden: bool = False
) -> None:
    """Add the options of a section."""
    items = [item for item in SCHEMA if item.section == section and item.key not in without]
    _add_items(group, items, hidden)


def _add_items(group: argparse._ActionsContainer, items: Iterable[Setting], hidden: bool = False) -> None:
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


def _command(arguments: Sequence[str]) -> str | None:
    """The command, which comes first; None where an option or nothing does. Raises `UsageError` for another word."""
    if not arguments or arguments[0].startswith("-"):
        return None
    if arguments[0] not in COMMANDS:
        raise UsageError("command_unknown", {"command": arguments[0], "commands": ", ".join(COMMANDS)})
    return arguments[0]


def _joined(arguments: Sequence[str], command: str | None) -> list[str]:
    """The words, each value tied to its option by `=`, so that argparse takes no `-3` for an option itself."""
    words = list(arguments)
    joined: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            return [*joined, word, *words]
        if word in _VALUED and words and words[0].partition("=")[0] not in _KNOWN[command]:
            word = f"{word}={words.pop(0)}"
        name, tie, value = word.partition("=")
        if name in _VALUED and (not tie or value == "--"):  # argparse would lose a value of two dashes
            raise UsageError("option_needs_value", {"option": name})
        joined.append(word)
    return joined


def _misplaced(word: str, command: str | None) -> UsageError:
    """Why there is no place for `word`."""
    if not word.startswith("-"):
        if command == "ask":
            return UsageError("argument_extra", {"argument": word})
        return UsageError("argument_stray", {"argument": word, "command": command or "chat"})
    name = word.partition("=")[0]
    longer = sorted(known for known in _KNOWN[command] if known.startswith(name) and len(name) > 2)
    if near := longer or get_close_matches(name, _KNOWN[command], 1):
        return UsageError("option_unknown_near", {"option": name, "nearest": near[0]})
    help = f"specchat {command} --help" if command else "specchat --help"
    return UsageError("option_unknown", {"option": name, "help": help})
