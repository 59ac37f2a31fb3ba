"""The parser of command lines: argparse with specchat's words, manners and errors."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn, TypeAlias

from specchat.app.words import _
from specchat.models.errors import CodedError


class UsageError(CodedError):
    """The command line can't be understood."""


class _Help(argparse.HelpFormatter):
    """Leaves room for long names, and has no words but ours."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=34)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """Complains by raising `UsageError`, and takes no abbreviations."""

    def __init__(self, **options: Any) -> None:
        super().__init__(add_help=False, allow_abbrev=False, formatter_class=_Help, **options)
        self._positionals.title, self._optionals.title = _("arguments"), _("options")
        self.add_argument("-h", "--help", action="help", help=_("Show this help."))

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse itself would swallow it if nobody reads that."""
        print(self.format_help(), end="", file=file)

    def error(self, message: str) -> NoReturn:
        raise UsageError("usage", {"reason": message})


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
