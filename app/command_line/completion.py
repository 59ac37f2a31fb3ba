"""Scripts with which shells complete `specchat`'s commands and options, made from the parser that reads them.

Each script is plain tables, so completing starts no Python. Where a path may stand, the shell's own completion goes on.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from specchat.app.command_line.options import build_parser
from specchat.app.words import _


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its names, what it is for, and the values it takes; None if it takes none, empty if any."""

    names: tuple[str, ...]
    about: str
    values: tuple[str, ...] | None
    takes_path: bool
    """Whether a path may stand behind it."""


@dataclass(frozen=True, slots=True)
class Command:
    """What may follow the words `path` (empty: `specchat` itself)."""

    path: tuple[str, ...]
    about: str
    words: tuple[tuple[str, str], ...]
    """Commands, or values of its first argument, each with what it is for."""
    options: tuple[Option, ...]


def script(shell: str) -> str:
    """The script for `shell`, one of `small_commands.SHELLS`."""
    known = {command.path: command for command in commands(build_parser())}
    for path, meant in (((), ("chat",)), (("models",), ("models", "list"))):  # what is meant where no more is said
        here, there = known[path], known[meant].options
        own = [option for option in here.options if option.names not in {given.names for given in there}]
        known[path] = replace(here, options=(*own, *there))
    return _SHELLS[shell](list(known.values()))


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = (), about: str = "") -> Iterator[Command]:
    """All commands, each before those below it."""
    below: list[tuple[str, str, argparse.ArgumentParser]] = []
    words: list[tuple[str, str]] = []
    options = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            abouts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            below = [(name, abouts[name], choice) for name, choice in action.choices.items()]
        elif action.option_strings:
            takes_path = action.metavar in (_("PATH"), _("FILE"))
            options.append(Option(tuple(action.option_strings), _about(action), _values(action), takes_path))
        elif action.choices:
            words = [(str(choice), "") for choice in action.choices]
    yield Command(path, about, tuple(words or ((name, said) for name, said, _parser in below)), tuple(options))
    for name, said, choice in below:
        yield from commands(choice, (*path, name), said)


def _about(action: argparse.Action) -> str:
    said = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
    return said.replace("%%", "%")


def _values(action: argparse.Action) -> tuple[str, ...] | None:
    if action.nargs == 0:
        return None
    choices = str(action.metavar or "").split("|")
    return tuple(choice for choice in choices if choice.islower() or choice[:1].isdigit()) if len(choices) > 1 else ()


# ---------------------------------------------------------------------- bash


_BASH = """\
# Completes specchat in bash: source this file from ~/.bashrc.
_specchat() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" path="" words="" options="" i
  if [[ "$prev" == "=" ]]; then prev="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
  if [[ "$cur" == "=" ]]; then prev="${{COMP_WORDS[COMP_CWORD-1]}}"; cur=""; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path${{path:+ }}${{COMP_WORDS[i]}}" in
      {paths}) path="$path${{path:+ }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  COMPREPLY=()
  case "$prev" in
{values}
  esac
  case "$path" in
{cases}
  esac
  if [[ "$cur" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ -n "$words" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}}
complete -o default -F _specchat specchat
"""


def _bash(known: Sequence[Command]) -> str:
    paths = "|".join(f'"{" ".join(command.path)}"' for command in known if command.path)
    cases = "\n".join(
        f'    "{" ".join(command.path)}") words="{_names(command)}"; options="{_option_names(command)}" ;;'
        for command in known
    )
    return _BASH.format(paths=paths, values=_bash_values(known), cases=cases)


def _bash_values(known: Sequence[Command]) -> str:
    options = [option for command in known for option in command.options if option.takes_path]
    lines = [f"    {'|'.join(dict.fromkeys(name for option in options for name in option.names))}) return ;;"]
    for names, values in _valued(known).items():
        lines.append(f'    {"|".join(names)}) COMPREPLY=($(compgen -W "{" ".join(values)}" -- "$cur")); return ;;')
    return "\n".join(lines)


# ---------------------------------------------------------------------- zsh


def _zsh(known: Sequence[Command]) -> str:
    functions = "\n\n".join(map(_zsh_function, known))
    return f"""\
#compdef specchat
# Completes specchat in zsh: keep this file as _specchat in a folder of $fpath.

{functions}

_specchat "$@"
"""


def _zsh_function(command: Command) -> str:
    specs = [_zsh_option(option) for option in command.options]
    if not command.words:
        specs.append("'*:file:_files'")
        return f"{_function(command)}() {{\n  _arguments {_joined(specs)}\n}}"
    words = " ".join(_quoted(f"{name}:{about}".rstrip(":")) for name, about in command.words)
    cases = "\n".join(f"    {name}) {_function(command)}_{name} ;;" for name, about in command.words if about)
    return f"""\
{_function(command)}() {{
  local line state
  local -a words_here=({words})
  _arguments -C {_joined([*specs, "'1: :->word'", "'*:: :->rest'"])}
  case $state in
    word) _describe word words_here ;;
    rest) case $line[1] in
{cases}
    esac ;;
  esac
}}"""


def _zsh_option(option: Option) -> str:
    about = option.about.replace("[", "(").replace("]", ")").replace(":", ";")
    takes = ""
    if option.takes_path:
        takes = ":path:_files"
    elif option.values is not None:
        takes = f":value:({' '.join(option.values)})" if option.values else ":value: "
    return " ".join(_quoted(f"{name}[{about}]{takes}") for name in option.names)


def _joined(specs: Sequence[str]) -> str:
    return " \\\n    ".join(specs)


def _function(command: Command) -> str:
    return "_".join(("_specchat", *command.path))


# ---------------------------------------------------------------------- fish


def _fish(known: Sequence[Command]) -> str:
    lines = [
        "# Completes specchat in fish: keep this file as ~/.config/fish/completions/specchat.fish.",
        "complete -c specchat -e",
    ]
    for command in known:
        when = _fish_condition(command)
        for name, about in command.words:
            said = f" -d {_quoted(about)}" if about else ""
            lines.append(f"complete -c specchat -n {_quoted(when)} -f -a {name}{said}")
        for option in command.options:
            lines.append(f"complete -c specchat -n {_quoted(when)}{_fish_option(option)}")
    return "\n".join(lines) + "\n"


def _fish_condition(command: Command) -> str:
    """Whether the words that were typed are those of the command, and none of those that may follow."""
    seen = [f"__fish_seen_subcommand_from {name}" for name in command.path]
    later = " ".join(name for name, _about in command.words)
    return "; and ".join([*seen, *([f"not __fish_seen_subcommand_from {later}"] if later else [])]) or "true"


def _fish_option(option: Option) -> str:
    names = "".join(f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}" for name in option.names)
    said = f" -d {_quoted(option.about)}" if option.about else ""
    if option.values is None:
        return f"{names}{said}"
    takes = " -r -F" if option.takes_path else f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -x"
    return f"{names}{takes}{said}"


# ---------------------------------------------------------------------- PowerShell


def _powershell(known: Sequence[Command]) -> str:
    tables = "\n".join(
        f"    {_ps(' '.join(command.path))} = {_ps_list([*_names(command).split(), *_option_names(command).split()])}"
        for command in known
    )
    valued = [(name, values) for names, values in _valued(known).items() for name in names]
    values = "\n".join(f"    {_ps(name)} = {_ps_list(values)}" for name, values in valued)
    return f"""\
# Completes specchat in PowerShell: run this file from $PROFILE.
Register-ArgumentCompleter -Native -CommandName specchat -ScriptBlock {{
  param($word, $ast, $position)
  $follows = @{{
{tables}
  }}
  $values = @{{
{values}
  }}
  $typed = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object {{ $_.Extent.EndOffset -lt $position }} |
    ForEach-Object {{ $_.ToString() }})
  $path = ''
  foreach ($one in $typed) {{
    $longer = "$path $one".Trim()
    if ($follows.ContainsKey($longer)) {{ $path = $longer }}
  }}
  $last = if ($typed.Count) {{ $typed[-1] }} else {{ '' }}
  $offered = if ($values.ContainsKey($last)) {{ $values[$last] }} else {{ $follows[$path] }}
  $offered | Where-Object {{ $_ -like "$word*" }} |
    ForEach-Object {{ [System.Management.Automation.CompletionResult]::new($_) }}
}}
"""


def _ps_list(texts: Sequence[str]) -> str:
    return f"@({', '.join(map(_ps, texts))})"


def _ps(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# ---------------------------------------------------------------------- what they share


def _names(command: Command) -> str:
    return " ".join(name for name, _about in command.words)


def _option_names(command: Command) -> str:
    return " ".join(name for option in command.options for name in option.names)


def _valued(known: Sequence[Command]) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """The options that take one of some values, each once, with all values that it takes with any command."""
    valued: dict[tuple[str, ...], tuple[str, ...]] = {}
    for option in (option for command in known for option in command.options):
        if option.values:
            valued[option.names] = tuple(dict.fromkeys((*valued.get(option.names, ()), *option.values)))
    return valued


def _quoted(text: str) -> str:
    """`text` as one word of zsh or fish."""
    return "'" + text.replace("'", "'\\''") + "'"


_SHELLS: Mapping[str, Callable[[Sequence[Command]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
    "powershell": _powershell,
}
