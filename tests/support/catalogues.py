"""Bring the catalogues of the languages up to the source.

    uv run python tests/support/catalogues.py

Of each `app/locale/LANGUAGE/LC_MESSAGES/specchat.po`: what is new in the source comes in without a translation, what
has vanished goes to the end, commented out, with its translation, and comes back with it; then `specchat.mo` beside it
is compiled. Says what lacks a translation; the exit status is 1 if anything does.
"""

from __future__ import annotations

import ast
import re
import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCALE = ROOT / "app" / "locale"
ROOMS = ("app", "settings")
"""Where strings for people stand."""

_FIELD = re.compile(r'(msgid_plural|msgid|msgstr(?:\[\d+\])?) (".*")')
_PLACES = re.compile(r"\{\w")


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence: its plural in English, if it has one; its translations, one for each form; and comments on it.

    An empty translation is none.
    """

    plural: str = ""
    said: tuple[str, ...] = ("",)
    comments: tuple[str, ...] = ()
    """Lines of the file."""

    @property
    def is_translated(self) -> bool:
        """Whether every form is."""
        return all(self.said)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """A .po file. Entries go by their English; what stands in the file of "" is about the file itself."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    vanished: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def forms(self) -> int:
        """How many plural forms the language has."""
        found = re.search(r"nplurals=(\d+)", self.entries[""].said[0])
        return int(found[1]) if found else 2

    @property
    def missing(self) -> list[str]:
        """What lacks a translation."""
        return [text for text, entry in self.entries.items() if not entry.is_translated]


def marked(root: Path = ROOT) -> dict[str, Entry]:
    """All that the source marks for the translators, with the files it stands in."""
    found: dict[str, Entry] = {}
    for path in sorted(path for room in ROOMS for path in (root / room).rglob("*.py")):
        where = path.relative_to(root).as_posix()
        for text, plural in _marked_in(path.read_text(encoding="utf-8")):
            known = found.get(text, Entry())
            places = dict.fromkeys((*known.comments, f"#: {where}"))
            found[text] = Entry(plural or known.plural, comments=tuple(places))
    return found


def _marked_in(source: str) -> Iterator[tuple[str, str]]:
    """(text, its plural or nothing) in the order of the source."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        texts = [node.value if isinstance(node, ast.Constant) else None for node in call.args]
        match (call.func.id if isinstance(call.func, ast.Name) else "", *texts):
            case ("_" | "N_", str(text)):
                yield text, ""
            case ("plural", str(one), str(several), _):
                yield one, several
            case ("setting", _, str(help)):
                yield help, ""


def parse(po: str) -> Catalogue:
    """The catalogue in a .po file."""
    entries: dict[str, Entry] = {}
    vanished: dict[str, Entry] = {}
    for block in re.split(r"\n{2,}", po.strip()):
        is_gone = "#~ " in block
        lines = [line.removeprefix("#~ ") for line in block.splitlines()]
        comments = tuple(line for line in lines if line.startswith("#"))
        fields: dict[str, str] = {}
        for line in lines:
            if found := _FIELD.fullmatch(line):
                name = found[1]
                fields[name] = ast.literal_eval(found[2])
            elif line.startswith('"'):
                fields[name] += ast.literal_eval(line)
        said = tuple(text for name, text in fields.items() if name.startswith("msgstr"))
        kept = vanished if is_gone else entries
        kept[fields["msgid"]] = Entry(fields.get("msgid_plural", ""), said, comments)
    return Catalogue(entries, vanished)


def updated(old: Catalogue, source: Mapping[str, Entry]) -> Catalogue:
    """`old` with just what is in the source, in that order."""
    known = {**old.vanished, **old.entries}
    entries = {"": old.entries[""]}
    for text, entry in source.items():
        before = known.get(text, Entry())
        forms = old.forms if entry.plural else 1
        said = before.said if len(before.said) == forms and before.plural == entry.plural else ("",) * forms
        notes = (line for line in before.comments if not line.startswith(("#:", "#,")))
        flags = ("#, python-brace-format",) * bool(_PLACES.search(text))
        entries[text] = replace(entry, said=said, comments=(*notes, *entry.comments, *flags))
    vanished = {
        text: replace(entry, comments=()) for text, entry in known.items() if text not in entries and any(entry.said)
    }
    return Catalogue(entries, vanished)


def written(catalogue: Catalogue) -> str:
    """The catalogue as a .po file."""
    blocks = ["\n".join(_lines(text, entry)) for text, entry in catalogue.entries.items()]
    blocks += ["\n".join(f"#~ {line}" for line in _lines(*gone)) for gone in catalogue.vanished.items()]
    return "\n\n".join(blocks) + "\n"


def _lines(text: str, entry: Entry) -> Iterator[str]:
    yield from entry.comments
    yield from _quoted("msgid", text)
    if entry.plural:
        yield from _quoted("msgid_plural", entry.plural)
    for number, said in enumerate(entry.said):
        yield from _quoted(f"msgstr[{number}]" if entry.plural else "msgstr", said)


def _quoted(name: str, text: str) -> Iterator[str]:
    """The lines of a field, one for each line of its text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    first, *more = [line.replace("\n", "\\n") for line in escaped.splitlines(keepends=True)] or [""]
    if more:
        first, more = "", [first, *more]
    yield f'{name} "{first}"'
    yield from (f'"{line}"' for line in more)


def compiled(catalogue: Catalogue) -> bytes:
    """The catalogue as a .mo file (GNU gettext manual, §10.3), without what lacks a translation."""
    texts = sorted(
        (f"{text}\0{entry.plural}" if entry.plural else text).encode() + b"\1" + "\0".join(entry.said).encode()
        for text, entry in catalogue.entries.items()
        if entry.is_translated
    )
    pairs = [pair.split(b"\1") for pair in texts]
    count, head = len(pairs), 28
    strings = [original for original, _said in pairs] + [said for _original, said in pairs]
    table, place = b"", head + 16 * count
    for each in strings:
        table += struct.pack("<2I", len(each), place)
        place += len(each) + 1
    header = struct.pack("<7I", 0x950412DE, 0, count, head, head + 8 * count, 0, head + 16 * count)
    return header + table + b"".join(each + b"\0" for each in strings)


def main() -> int:
    source, lacking = marked(), 0
    for file in sorted(LOCALE.glob("*/LC_MESSAGES/specchat.po")):
        catalogue = updated(parse(file.read_text(encoding="utf-8")), source)
        file.write_text(written(catalogue), encoding="utf-8", newline="\n")
        file.with_suffix(".mo").write_bytes(compiled(catalogue))
        language, missing = file.parts[-3], catalogue.missing
        print(
            f"{language}: {len(source) - len(missing)} of {len(source)} translated, {len(catalogue.vanished)} vanished"
        )
        for text in missing:
            places = [line.removeprefix("#: ") for line in catalogue.entries[text].comments if line.startswith("#: ")]
            print(f"  no translation: {text!r} ({', '.join(places)})")
        lacking += len(missing)
    return lacking > 0


if __name__ == "__main__":
    sys.exit(main())
