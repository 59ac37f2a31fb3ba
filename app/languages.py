"""Which language specchat speaks: the setting's, else the one that the system asks for, else English."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from specchat.app.command_line.setting_options import option
from specchat.settings import sources
from specchat.settings.schema import Value
from specchat.settings.values import SCHEMA, LanguageName

LANGUAGES = tuple(name for name in get_args(LanguageName) if name != "auto")
"""Those there are, by their codes."""

_VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""gettext's, the first that is set before the others. LANGUAGE may name several languages, the best one first."""

_SETTING = next(item for item in SCHEMA if item.key == "look.language")


def chosen_language(words: Sequence[str], file: Path, environ: Mapping[str, str]) -> str:
    """The language's code, by the words of the command line, the environment and the settings `file`.

    The command line can't be parsed before this is known, since its help and its mistakes are told in the language.
    """
    chosen = sources.load(file, environ, _typed(words)).settings.look.language
    return system_language(environ) if chosen == "auto" else chosen


def system_language(environ: Mapping[str, str]) -> str:
    """The first language that the system asks for and specchat speaks, or English."""
    asked = next(filter(None, map(environ.get, _VARIABLES)), None) or _language_of_windows()
    codes = (re.split(r"[_.@-]", name.strip())[0].lower() for name in asked.split(":"))  # tr_TR.UTF-8: tr
    return next((code for code in codes if code in LANGUAGES), "en")


def _typed(words: Sequence[str]) -> dict[str, Value]:
    """What the command line sets the language to, if it does; whoever parses it says what is wrong with that."""
    typed: dict[str, Value] = {}
    for place, word in enumerate(words):
        name, tie, value = word.partition("=")
        if name == "--":
            break
        if name == option(_SETTING):
            accepted = sources.accept(_SETTING, value if tie else next(iter(words[place + 1 :]), ""), name)
            if not isinstance(accepted, sources.Problem):
                typed[_SETTING.key] = accepted
    return typed


def _language_of_windows() -> str:
    """As in `tr_TR`. Windows sets none of the variables; other systems have nothing else, so it is empty there."""
    if sys.platform == "win32":
        import ctypes
        import locale

        return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    return ""
