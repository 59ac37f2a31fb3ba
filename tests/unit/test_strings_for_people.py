"""Every string of the app that can reach a person goes through gettext, or stands below with the reason why it doesn't.

Two nets. The first takes every string that looks like words, wherever it stands. The second takes every string with
a letter in it that is handed to something that shows it. What is marked by `_`, `plural` or `N_` is out of both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import specchat.app

ALLOWED: Mapping[str, str] = {
    "specchat ": "our name",
    "specchat: ": "our name",
    "specchat --help": "a command",
    "Python": "a name",
    "numpy, textual": "names",
    " (llama-cpp-python ": "a name",
    "CUDA Toolkit": "a product",
    "ROCm SDK": "a product",
    "Vulkan SDK": "a product",
    "Xcode Command Line Tools": "a product",
    "Apple GPU": "a product",
    "NVIDIA GPU": "a product",
    "AMD GPU": "a product",
    "Intel GPU": "a product",
    "Vulkan": "a product",
    "Metal": "a product",
    '" -m pip install --force-reinstall --no-deps --no-cache-dir --no-binary llama-cpp-python ': "a command",
    'uv pip install --python "': "a command",
    '" --no-cache --reinstall-package llama-cpp-python --no-binary llama-cpp-python ': "a command",
    "$env:": "a command",
    "specchat doctor [--json]": "a command",
    "specchat models": "a command",
    "specchat models [list | show | check | forget] …": "a command",
    "specchat completion {": "a command",
    "specchat history [--json|--csv]": "a command",
    "# *A* `title`\n\n- **item**\n\n```python\npass\n```\n": "laid out in advance, and never shown",
    "Esc": "what stands on a key",
    "Enter": "what stands on a key",
    "Tab": "what stands on a key",
    "Space": "what stands on a key",
    "DejaVu Sans Mono, Menlo, Consolas, monospace": "fonts",
    "Markdown": "a format",
    "Date": "a key of an SVG",
    "temperature ": "a setting",
    " · top-k ": "a setting",
    " · top-p ": "a setting",
    " · min-p ": "a setting",
    " · seed ": "a setting",
    " · sha256 ": "an algorithm",
    "Result": "the name of a type",
    ":memory:": "what SQLite calls it",
}
"""Strings that stay as they are in every language."""

NOT_READ = {"completion.py"}
"""Modules of which only other programs read the strings: shells. What their scripts say is the parser's help."""

MARKERS = {"_", "plural", "N_"}
SHOWS = {
    *("Static", "Button", "TabPane", "Option", "Shortcut", "Line", "Lines", "Composer", "Hit", "DiscoveryHit"),
    *("Content", "styled", "assemble", "labelled", "Text", "Segment"),
    *("say", "mention", "notify", "update", "tell", "complain", "print", "write", "error"),
    *("add_argument", "add_argument_group", "add_parser", "add_subparsers", "Parser"),
    *("Action", "Binding", "_row", "_Row", "_tell", "session"),
}
"""Whatever shows what it is given."""
PASSES_ON = {"join", "format", "rjust", "ljust", "strip"}
"""What hands a string on to what shows it."""
LOOKS_FOR = {"query", "query_one", "focus_next", "compile"}
"""What takes selectors or patterns."""
NOT_SHOWN = {
    "id",
    "classes",
    "name",
    "variant",
    "severity",
    "key_display",
    "place",
    "prog",
    "dest",
    "action",
    "overflow",
}
"""Arguments that nobody sees."""
ONLY_SHOWN = {
    "Binding": slice(2, 3),
    "Action": slice(2, 4),
    "Shortcut": slice(1, None),
    "add_argument": slice(0, 0),
    "add_parser": slice(0, 0),
}
"""Which arguments are shown of what takes others before them."""

_WORDS = re.compile(r"[^\W\d_]\s|\s[^\W\d_]|^[A-Z][a-z]+$|[^\W\d_][.!?…:]$")
_TECHNICAL = (
    re.compile(r"(?:\s*(?:bold|dim|italic|underline|strike|reverse|#[0-9a-f]{6} on #[0-9a-f]{6})\s*)+$"),  # a style
    re.compile(r"\s*(?:CREATE|SELECT|INSERT|UPDATE|DELETE|ALTER|DEFAULT|PRAGMA|WHERE|BEGIN|COMMIT|ROLLBACK)\b"),
    re.compile(r"/[a-z]+\b"),  # a command of the plain chat
    re.compile(r"(?:outside )?(?:upper|center|lower) (?:left|center|right)$"),  # a place for matplotlib
)


def unmarked(source: str) -> Iterator[tuple[int, str]]:
    """(line, string) for every string of a module that a person may see untranslated."""
    tree = ast.parse(source)
    unseen = {id(node) for part in ast.walk(tree) for node in _unseen(part)}
    seen = {id(node) for part in ast.walk(tree) if isinstance(part, ast.Call) for node in _shown(part)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unseen:
            text = node.value
            is_shown = id(node) in seen and any(char.isalpha() for char in text)
            if (is_shown or _WORDS.search(text)) and not any(technical.match(text) for technical in _TECHNICAL):
                yield node.lineno, text


def _unseen(node: ast.AST) -> Iterator[ast.AST]:
    """What is below `node` and certainly translated, or certainly not shown."""
    match node:
        case ast.Expr(value=ast.Constant() as docstring):
            yield docstring
        case ast.Call() if _name(node) in MARKERS:
            for argument in node.args:
                yield from ast.walk(argument)
        case ast.Call() if _name(node) == "setting":  # its help is translated where it is shown
            yield node.args[1]
        case ast.Call() if _name(node) in LOOKS_FOR:
            yield from node.args
        case ast.Assign(targets=[ast.Name(id="DEFAULT_CSS")]):
            yield node.value
        case ast.Compare():
            yield from (node.left, *node.comparators)
        case ast.keyword() if node.arg in NOT_SHOWN:
            yield node.value
        case ast.FormattedValue(format_spec=ast.JoinedStr() as spec):
            yield from ast.walk(spec)


def _shown(call: ast.Call) -> Iterator[ast.AST]:
    """The strings among the arguments of `call` that it shows."""
    name = _name(call)
    if name in SHOWS:
        for argument in call.args[ONLY_SHOWN.get(name, slice(None))]:
            yield from _strings(argument)
        for keyword in call.keywords:
            if keyword.arg not in NOT_SHOWN:
                yield from _strings(keyword.value)


def _strings(node: ast.AST) -> Iterator[ast.AST]:
    """The strings that `node` may be made of, but for what other calls make of theirs."""
    match node:
        case ast.Constant():
            yield node
        case ast.Call(func=ast.Attribute(value=text)) if _name(node) in PASSES_ON:
            for part in (text, *node.args):
                yield from _strings(part)
        case ast.FormattedValue() | ast.Starred():
            yield from _strings(node.value)
        case ast.JoinedStr(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.BoolOp(values=parts):
            for part in parts:
                yield from _strings(part)
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            yield from _strings(one)
            yield from _strings(other)
        case ast.Subscript(value=ast.Dict(values=values)):
            for value in values:
                yield from _strings(value)


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def test_every_string_for_people_goes_through_gettext() -> None:
    [folder] = specchat.app.__path__
    found = [
        (file.relative_to(folder).as_posix(), line, text)
        for file in sorted(Path(folder).rglob("*.py"))
        if file.name not in NOT_READ
        for line, text in unmarked(file.read_text(encoding="utf-8"))
    ]
    assert [entry for entry in found if entry[2] not in ALLOWED] == []
    assert set(ALLOWED) == {text for _file, _line, text in found}


@pytest.mark.parametrize(
    "source",
    [
        'Static("models")',
        'self.say("stopped" if x else _("going on"))',
        'Content.assemble((" ◂ ", STYLE), ("draft", VALUE))',
        'Button(label="yes")',
        'Binding("escape", "leave", "close")',
        'parser.add_argument("--x", help="what", metavar=_("N"))',
        'print(" · ".join(["on", _("off")]))',
        'said = f"{count} tokens"',
        'TABLE = {"on": "It is on."}',
        'names = ("Target", "Draft")',
        'labelled("{count} passes", count=n)',
        'self.update({"a": "one", "b": _("two")}[x])',
    ],
)
def test_the_nets_catch(source: str) -> None:
    assert list(unmarked(source))


@pytest.mark.parametrize(
    "source",
    [
        '"""What a module is."""',
        '_("All of it")',
        'N_("{count} of " "them")',
        'plural("{count} token", "{count} tokens", n)',
        'Static(id="said", classes="a b")',
        'Content.assemble(("  ", "bold underline"))',
        'DEFAULT_CSS = """Static { height: 1; }"""',
        're.compile(r"what is (.+)")',
        'f"{moment:%d %B}"',
        'system == "Windows"',
        'self.query_one("Static", Static)',
        'gamma: int = setting(3, "Guesses in a round.", minimum=1)',
        'connection.execute("SELECT id FROM chats")',
        'say(sentence("file_missing", {}))',
    ],
)
def test_the_nets_let_through(source: str) -> None:
    assert not list(unmarked(source))
