"""The catalogues have everything, in every language, and are what the source and the .po files make them."""

from __future__ import annotations

import gettext
import io
import string
from pathlib import Path

import pytest

from specchat.app.languages import LANGUAGES
from specchat.app.words import LOCALE
from support.catalogues import Catalogue, Entry, compiled, marked, parse, updated, written

FILES = sorted(LOCALE.glob("*/LC_MESSAGES/specchat.po"))
SOURCE = marked()


def in_language(file: Path) -> str:
    return file.parts[-3]


def places(text: str) -> set[tuple[str | None, str | None, str | None]]:
    """The names in braces, each with what shapes it."""
    return {tuple(part[1:]) for part in string.Formatter().parse(text) if part[1] is not None}


def margins(text: str) -> tuple[str, str]:
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def test_there_is_a_catalogue_for_each_language_that_can_be_chosen() -> None:
    assert {"en", *map(in_language, FILES)} == set(LANGUAGES)


def test_the_source_is_searched_for_all_kinds_of_marks() -> None:
    assert {"Ask something", "{count} token", "There is no file {path}.", "Let the draft guess ahead."} <= set(SOURCE)
    assert SOURCE["{count} token"].plural == "{count} tokens"
    assert len(SOURCE) > 600


@pytest.mark.parametrize("file", FILES, ids=in_language)
def test_every_sentence_of_the_source_is_translated(file: Path) -> None:
    catalogue = parse(file.read_text(encoding="utf-8"))
    lacking = [text for text in SOURCE if not catalogue.entries.get(text, Entry()).is_translated]
    assert lacking == [], "tests/support/catalogues.py puts them into the catalogue"


@pytest.mark.parametrize("file", FILES, ids=in_language)
def test_translations_have_the_places_and_the_margins_of_the_english(file: Path) -> None:
    entries = parse(file.read_text(encoding="utf-8")).entries
    said = [(text, translation) for text, entry in entries.items() if text for translation in entry.said]
    assert [pair for pair in said if places(pair[0]) != places(pair[1])] == []
    assert [pair for pair in said if margins(pair[0]) != margins(pair[1])] == []


@pytest.mark.parametrize("file", FILES, ids=in_language)
def test_both_files_are_what_the_command_would_write(file: Path) -> None:
    po = file.read_text(encoding="utf-8")
    assert written(updated(parse(po), SOURCE)) == po
    assert compiled(parse(po)) == file.with_suffix(".mo").read_bytes()


HEAD = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n'
)
PO = f"""# A note on the language.
{HEAD}
# A note on a sentence.
#: app/old.py
#, python-brace-format
msgid "{{count}} \\"guess\\""
msgid_plural "{{count}} guesses"
msgstr[0] "{{count}} Vermutung"
msgstr[1] "{{count}} Vermutungen"

#: app/old.py
msgid ""
"two\\n"
"lines"
msgstr ""
"zwei\\n"
"Zeilen"
"""
NEW = {
    "new": Entry(comments=("#: app/new.py",)),
    '{count} "guess"': Entry("{count} guesses", comments=("#: app/new.py",)),
}


def catalogue_of(catalogue: Catalogue) -> gettext.GNUTranslations:
    """What gettext makes of it."""
    return gettext.GNUTranslations(io.BytesIO(compiled(catalogue)))  # type: ignore[arg-type]


def test_a_catalogue_that_is_read_is_written_as_it_was() -> None:
    assert written(parse(PO)) == PO


def test_what_is_new_comes_in_and_what_vanished_is_kept_until_it_comes_back() -> None:
    after = updated(parse(PO), NEW)
    assert list(after.entries) == ["", "new", '{count} "guess"']
    assert after.missing == ["new"]
    assert after.entries['{count} "guess"'].comments[0] == "# A note on a sentence."
    assert written(after).endswith('#~ msgid ""\n#~ "two\\n"\n#~ "lines"\n#~ msgstr ""\n#~ "zwei\\n"\n#~ "Zeilen"\n')
    back = updated(parse(written(after)), {"two\nlines": Entry()})
    assert back.entries["two\nlines"].said == ("zwei\nZeilen",)
    assert set(back.vanished) == {'{count} "guess"'}


def test_gettext_reads_what_is_compiled_and_says_what_is_missing_in_english() -> None:
    german = catalogue_of(updated(parse(PO), NEW))
    assert german.ngettext('{count} "guess"', "{count} guesses", 1) == "{count} Vermutung"
    assert german.ngettext('{count} "guess"', "{count} guesses", 2) == "{count} Vermutungen"
    assert german.gettext("new") == "new"
    assert german.gettext("two\nlines") == "two\nlines"


def test_a_plural_that_lacks_a_form_counts_as_missing() -> None:
    half = PO.replace("{count} Vermutungen", "")
    assert parse(half).missing == ['{count} "guess"']
    assert catalogue_of(parse(half)).ngettext('{count} "guess"', "{count} guesses", 2) == "{count} guesses"
