"""Everything specchat says goes through here, and through gettext.

The other rooms report a code with parameters; `sentence` puts it into words.
"""

from __future__ import annotations

import gettext
from collections.abc import Mapping
from pathlib import Path

from specchat.app.sentences import PHRASES, REASONS, SENTENCES

LOCALE = Path(__file__).parent / "locale"
"""Holds a folder for each language but English, which is what the source is written in."""

_catalogue = gettext.NullTranslations()


def speak(language: str) -> None:
    """Say everything in `language`, a code such as `tr`; in English what it has no words for.

    To be called before a module of the screens is imported: some of their words are looked up as that happens.
    """
    global _catalogue
    _catalogue = gettext.translation("specchat", LOCALE, [language], fallback=True)


def _(text: str) -> str:
    """`text` in the language that is spoken."""
    return _catalogue.gettext(text)


def plural(one: str, several: str, number: int) -> str:
    """What is said of so many."""
    return _catalogue.ngettext(one, several, number)


def sentence(code: str, params: Mapping[str, str | int | float]) -> str:
    """The sentence for `code`, followed by the lines of the parameter `log` where there are any.

    Where no `path` is given, the sentence speaks of “the model”. Never raises: a code without a sentence, or one that
    lacks a parameter or has one of another type, is shown as it came.
    """
    shown = {name: _shown(code, value) for name, value in params.items() if name != "log"}
    try:
        said = _(SENTENCES[code]).format(**{"path": _("The model"), **shown})
    except (LookupError, ValueError):
        details = ", ".join(f"{name}={value}" for name, value in shown.items())
        said = _("Something went wrong: {code} ({details})").format(code=visible(code), details=details)
    log = str(params.get("log", "")).splitlines()
    return "\n".join([said, *(f"  {visible(line)}" for line in log)])


def visible(text: str) -> str:
    """`text` with everything that a terminal might obey rather than show written out as an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _shown(code: str, value: str | int | float) -> str | int | float:
    if not isinstance(value, str):
        return value
    phrase = value if value in REASONS else PHRASES.get((code, value))
    return visible(value) if phrase is None else _(phrase)
