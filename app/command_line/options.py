"""The command line's options. Those of `ask` that set something are derived from the settings schema.

argparse splits the words; values are judged by `specchat.settings.sources`, as those of the settings file are.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence, Set
from difflib import get_close_matches

from specchat.app.bench.choices import CHOICES, SETTLED
from specchat.app.command_line.parser import Commands, Parser, UsageError
from specchat.app.command_line.setting_options import add_items, add_settings, option
from specchat.app.command_line.small_commands import (
    ACTIONS,
    add_completion,
    add_doctor,
    add_history,
    add_lab,
    add_models,
)
from specchat.app.lab.choices import LAB_CHOICES
from specchat.app.words import _
from specchat.settings.values import SCHEMA

COMMANDS = ("chat", "demo", "ask", "bench", "history", "lab", "models", "doctor", "completion")


_OF_SCREENS = ("look", "models")
"""Sections that count on the chat's screen alone."""
_OF_REPLIES = {option(item) for item in SCHEMA if item.section not in _OF_SCREENS} | {"--no-speculation"}
_OF_CHATS = {word for item in SCHEMA for word in (option(item), option(item).replace("--", "--no-", item.kind is bool))}
_OF_BENCHES = {
    option(item) for item in (*SCHEMA, *CHOICES) if item.section not in _OF_SCREENS and item.key not in SETTLED
}
_VALUED = (
    {"--target", "--draft", "--stop", "--rounds", "--prompts", "--repeat", "--output", "--plot"}
    | {option(item) for item in (*SCHEMA, *LAB_CHOICES) if item.kind is not bool}
    | {"--print", "--svg"}
)
_CHATTING = _OF_CHATS | {"--help", "--target", "--draft", "--plain"}
_KNOWN: Mapping[str | None, Set[str]] = {
    None: _CHATTING | {"--version"},
    "chat": _CHATTING,
    "demo": _CHATTING - {"--target", "--draft"},
    "ask": _OF_REPLIES | {"--help", "--target", "--draft", "--stop", "--rounds", "--json", "--raw"},
    "bench": _OF_BENCHES
    | {"--help", "--target", "--draft", "--prompts", "--json", "--csv", "--markdown", "--output", "--plot"},
    "models": {"--help", "--json"},
    "history": {"--help", "--json", "--csv"},
    "lab": {option(item) for item in LAB_CHOICES} | {"--help", "--print", "--json", "--svg"},
    "doctor": {"--help", "--json"},
    "completion": {"--help"},
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line's words. Without a command it is `chat`, except for `--help` and `--version`.

    Raises `UsageError`.
    """
    command = _command(arguments)
    if command is None and not {"-h", "--help", "--version"}.intersection(arguments):
        command, arguments = "chat", ["chat", *arguments]
    if command == "models":
        arguments = _with_action(arguments)
    parsed, rest = build_parser().parse_known_args(_joined(arguments, command))
    if rest:
        raise _misplaced(rest[0], command)
    return parsed


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
    add_models(commands)
    add_history(commands)
    add_lab(commands)
    add_doctor(commands)
    add_completion(commands)
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
    add_items(measure, CHOICES)


def _add_report(bench: argparse.ArgumentParser) -> None:
    report = bench.add_argument_group(_("output"))
    for form in ("JSON", "CSV", "Markdown"):
        report.add_argument(f"--{form.lower()}", action="store_true", help=_("Report as {form}.").format(form=form))
    report.add_argument("--output", metavar=_("FILE"), help=_("Write the report to FILE, and show the table as well."))
    report.add_argument("--plot", metavar=_("FILE"), help=_("Draw a picture: FILE ends in .svg or .png."))


def _add_models(command: argparse.ArgumentParser, about_target: str) -> None:
    models = command.add_argument_group(_("models"))
    models.add_argument("--target", metavar=_("PATH"), help=about_target)
    models.add_argument("--draft", metavar=_("PATH"), help=_("The GGUF that guesses, or `lookup`, or `none`."))


def _add_chat_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--plain", action="store_true", help=_("Line by line instead of on a screen, as for screen readers.")
    )
    _add_choices(command)
    add_settings(command.add_argument_group(_("screen")), "models")
    add_settings(command.add_argument_group(_("look")), "look")


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
    add_settings(command.add_argument_group(_("speculation")), "speculation", without)
    add_settings(command.add_argument_group(_("sampling")), "sampling")
    reply = command.add_argument_group(_("reply"))
    add_settings(reply, "reply", without)
    about = _("For the target. With --draft- in front (as in --draft-gpu-layers) for the draft.")
    add_settings(command.add_argument_group(_("engine"), about), "target")
    add_settings(command, "draft", hidden=True)
    return reply


def _command(arguments: Sequence[str]) -> str | None:
    """The command, which comes first; None where an option or nothing does. Raises `UsageError` for another word."""
    if not arguments or arguments[0].startswith("-"):
        return None
    if arguments[0] not in COMMANDS:
        raise UsageError("command_unknown", {"command": arguments[0], "commands": ", ".join(COMMANDS)})
    return arguments[0]


def _with_action(arguments: Sequence[str]) -> Sequence[str]:
    """The words of `models …`, of which none but `models` itself need be said to list them. Raises `UsageError`."""
    words = [word for word in arguments[1:2] if not word.startswith("-")]
    if not words:
        return arguments if {"-h", "--help"}.intersection(arguments) else [arguments[0], "list", *arguments[1:]]
    if words[0] not in ACTIONS:
        raise UsageError("models_unknown", {"word": words[0], "words": ", ".join(ACTIONS)})
    return arguments


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
        if tie and word.startswith("--") and name in _KNOWN[command] - _VALUED:
            raise UsageError("option_takes_no_value", {"option": name})
        if word.startswith("-h") and word != "-h":  # argparse would say it in words of its own
            raise _misplaced(word, command)
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
