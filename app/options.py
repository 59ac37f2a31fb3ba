"""The command line's options. Those of `ask` that set something are derived from the settings schema.

argparse splits the words; values are judged by `specchat.settings.sources`, as those of the settings file are.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from specchat.app.words import _, sentence
from specchat.settings import sources
from specchat.settings.schema import Setting, Value
from specchat.settings.values import SCHEMA, Settings

COMMANDS = ("ask", "doctor")

_METAVARS: dict[type[Value], str] = {int: "N", float: "X", str: "TEXT"}


class UsageError(Exception):
    """The command line can't be understood. `code` and `params` are for `specchat.app.words.sentence`."""

    def __init__(self, code: str, params: Mapping[str, str | int | float]) -> None:
        super().__init__(code)
        self.code = code
        self.params = dict(params)


@dataclass(frozen=True, slots=True)
class AskArguments:
    """What `specchat ask` was asked for.

    `prompt` is None where it is to be read from standard input, `target` where the bundled model is meant, and
    `draft` where nothing was said; else it is `lookup`, `none` or a path. `notices` are sentences about settings
    that were left out.
    """

    prompt: str | None
    target: Path | None
    draft: str | None
    settings: Settings
    speculation_on: bool
    stop: tuple[str, ...]
    raw: bool
    json: bool
    rounds: Path | None
    notices: tuple[str, ...]


def option(item: Setting) -> str:
    """The option that sets `item`: the target's go by their bare names, the draft's begin with `--draft-`."""
    if item.key == "speculation.enabled":
        return "--speculation"
    prefix = "draft-" if item.section == "draft" else ""
    return f"--{prefix}{item.name.replace('_', '-')}"


_VALUED = {"--target", "--draft", "--stop", "--rounds"} | {option(item) for item in SCHEMA if item.kind is not bool}
_SWITCHES = {"--help", "--json", "--raw", "--speculation", "--no-speculation"}
_KNOWN: Mapping[str | None, Collection[str]] = {
    None: {"--help", "--version"},
    "ask": _VALUED | _SWITCHES,
    "doctor": {"--help", "--json"},
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line's words. Its `command` is None where there is none. Raises `UsageError`."""
    command = _command(arguments)
    parsed, rest = build_parser().parse_known_args(_joined(arguments) if command == "ask" else arguments)
    if rest:
        raise _misplaced(rest[0], command)
    return parsed


def ask_arguments(parsed: argparse.Namespace, file: Path, environ: Mapping[str, str]) -> AskArguments:
    """What `ask` is to do, from its parsed options, the settings `file` and the environment. Raises `UsageError`."""
    target, rounds = _path("--target", parsed.target), _path("--rounds", parsed.rounds)
    loaded = sources.load(file, environ, _typed(vars(parsed)))
    return AskArguments(
        prompt=None if parsed.prompt in (None, "-") else sources.encodable(parsed.prompt),
        target=None if target is None else Path(target),
        draft=_path("--draft", parsed.draft),
        settings=loaded.settings,
        speculation_on=loaded.settings.speculation.enabled,
        stop=_stops(parsed.stop),
        raw=parsed.raw,
        json=parsed.json,
        rounds=None if rounds is None else Path(rounds),
        notices=settings_notices(loaded.problems),
    )


def settings_notices(problems: Sequence[sources.Problem]) -> tuple[str, ...]:
    """A sentence for each problem of the settings file and the environment, and what follows from it."""
    return tuple(f"{sentence(problem.code, problem.params)} {_('It is left out.')}" for problem in problems)


class Parser(argparse.ArgumentParser):
    """Complains by raising `UsageError`, takes no abbreviations, and leaves room for long names in its help."""

    def __init__(self, **options: Any) -> None:
        columns = partial(argparse.HelpFormatter, max_help_position=34)
        super().__init__(add_help=False, allow_abbrev=False, formatter_class=columns, **options)
        self.add_argument("-h", "--help", action="help", help=_("Show this help."))

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse itself would swallow it if nobody reads that."""
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        raise UsageError("usage", {"reason": message})


def build_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="specchat",
        usage="specchat [--version] COMMAND …",
        description=_("A local chat in which a small model guesses ahead for a big one, and shows what that brings."),
        epilog=_("`specchat COMMAND --help` tells more."),
    )
    parser.add_argument("--version", action="store_true", help=_("Show the version."))
    commands = parser.add_subparsers(dest="command", title=_("commands"), metavar="COMMAND")
    ask = commands.add_parser(
        "ask",
        usage='specchat ask [OPTION …] ["PROMPT"]',
        help=_("Write one reply."),
        description=_("Write one reply to standard output; figures about it go to standard error."),
    )
    _add_ask_options(ask)
    doctor = commands.add_parser(
        "doctor",
        usage="specchat doctor [--json]",
        help=_("Show what specchat finds on this machine."),
        description=_("Show versions, devices, folders, and whether a GPU lies idle."),
    )
    doctor.add_argument("--json", action="store_true", help=_("Print one JSON object instead."))
    return parser


def _add_ask_options(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("prompt", nargs="?", metavar="PROMPT", help=_("What to ask; without it, standard input is read."))
    models = ask.add_argument_group(_("models"))
    models.add_argument("--target", metavar="PATH", help=_("The GGUF that writes; without it, the bundled one."))
    models.add_argument("--draft", metavar="PATH", help=_("The GGUF that guesses, or `lookup`, or `none`."))
    _add_settings(ask.add_argument_group(_("speculation")), "speculation")
    _add_settings(ask.add_argument_group(_("sampling")), "sampling")
    reply = ask.add_argument_group(_("reply"))
    _add_settings(reply, "reply")
    reply.add_argument(
        "--stop", action="append", default=[], metavar="TEXT", help=_("End before this text; may be given again.")
    )
    reply.add_argument("--raw", action="store_true", help=_("Use no chat template: the model continues the prompt."))
    output = ask.add_argument_group(_("output"))
    output.add_argument("--json", action="store_true", help=_("Print one JSON object instead."))
    output.add_argument("--rounds", metavar="FILE", help=_("Write the rounds to FILE as JSON lines."))
    about = _("For the target. With --draft- in front (as in --draft-gpu-layers) for the draft.")
    _add_settings(ask.add_argument_group(_("engine"), about), "target")
    _add_settings(ask, "draft", hidden=True)


def _add_settings(group: argparse._ActionsContainer, section: str, hidden: bool = False) -> None:
    """Add the options of a section. Only those that were typed come out of the parser, as text under their keys."""
    for item in SCHEMA:
        if item.section == section:
            help = argparse.SUPPRESS if hidden else _help(item)
            if item.kind is bool:
                kind: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
            else:
                kind = {"metavar": "|".join(item.choices) or _METAVARS[item.kind]}
            group.add_argument(option(item), dest=item.key, default=argparse.SUPPRESS, help=help, **kind)


def _help(item: Setting) -> str:
    default = ("on" if item.default else "off") if item.kind is bool else str(item.default)
    text = f"{_(item.help)} [{default}]" if default else _(item.help)
    return text.replace("%", "%%")  # argparse would fill in what follows a single one


def _command(arguments: Sequence[str]) -> str | None:
    """The command named on the command line. Raises `UsageError` where it, or what stands before it, is unknown."""
    for word in arguments:
        if word in COMMANDS:
            return word
        if word.startswith("-") and word not in ("-h", "--help", "--version"):
            raise _misplaced(word, None)
        if not word.startswith("-"):
            raise UsageError("command_unknown", {"command": word, "commands": ", ".join(COMMANDS)})
    return None


def _joined(arguments: Sequence[str]) -> list[str]:
    """The words of `ask`, each value tied to its option by `=`, so that argparse takes no `-3` for an option itself."""
    words = list(arguments)
    joined: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            return [*joined, word, *words]
        if word in _VALUED and words and words[0].partition("=")[0] not in _KNOWN["ask"]:
            word = f"{word}={words.pop(0)}"
        name, tie, value = word.partition("=")
        if name in _VALUED and (not tie or value == "--"):  # argparse would lose a value of two dashes
            raise UsageError("option_needs_value", {"option": name})
        joined.append(word)
    return joined


def _misplaced(word: str, command: str | None) -> UsageError:
    """Why there is no place for `word`."""
    if not word.startswith("-"):
        return UsageError("argument_extra", {"argument": word})
    name = word.partition("=")[0]
    longer = sorted(known for known in _KNOWN[command] if known.startswith(name) and len(name) > 2)
    if near := longer or get_close_matches(name, _KNOWN[command], 1):
        return UsageError("option_unknown_near", {"option": name, "nearest": near[0]})
    help = f"specchat {command} --help" if command else "specchat --help"
    return UsageError("option_unknown", {"option": name, "help": help})


def _typed(given: Mapping[str, Any]) -> dict[str, Value]:
    """The settings typed on the command line, by key. Raises `UsageError` for a value that can't be used."""
    typed: dict[str, Value] = {}
    for item in SCHEMA:
        if item.key in given:
            raw = given[item.key]
            value = sources.accept(item, sources.parse(item, raw) if isinstance(raw, str) else raw, option(item))
            if isinstance(value, sources.Problem):
                raise UsageError(value.code, value.params)
            typed[item.key] = value
    return typed


def _path(option: str, text: str | None) -> str | None:
    """The path typed for `option`: not empty, and such that the engine can be told of it as UTF-8."""
    if text == "":
        raise UsageError("option_empty", {"option": option})
    if text is not None and text != sources.encodable(text):
        raise UsageError("path_not_utf8", {"option": option, "path": text})
    return text


def _stops(texts: Sequence[str]) -> tuple[str, ...]:
    if "" in texts:
        raise UsageError("option_empty", {"option": "--stop"})
    return tuple(sources.encodable(text) for text in texts)
