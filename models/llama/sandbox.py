"""The jinja2 environment that chat templates run in: the dialect of Hugging Face's transformers, with limits.

jinja2's own sandbox keeps a template, a program from an untrusted file, away from Python's internals, but lets it
build strings of gigabytes. Here everything that can grow text or lists goes through a `Meter`.

What remains: one call into C on data within the limits can't be interrupted. The worst known is comparing or
sorting lists that hold one another many times over.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import nodes, pass_context, pass_environment
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import TemplateRuntimeError
from jinja2.ext import Extension
from jinja2.filters import do_indent, make_attrgetter
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from specchat.models.llama.limits import Meter, TooLarge

_MAX_NUMBER = 1_000_000
"""Largest number that a filter or a string's method takes: it may be a width."""
_MAX_INDENT = 64
_MAX_DATE_FORMAT = 100
_WIDE = re.compile(r"\d{5}")
"""The C library takes widths in the format of a date, too."""

_BLOCKED_METHODS = frozenset({"encode", "expandtabs", "to_bytes", "translate"})
"""Methods that grow text or leave it for bytes, and that no chat template needs."""
_DROPPED_FILTERS = frozenset({"pprint", "striptags", "sum", "urlencode", "urlize", "wordwrap", "xmlattr"})
"""Filters for web pages, or whose cost can't be told beforehand."""
# fmt: off
_STRUCTURAL_FILTERS = frozenset(
    {
        "abs", "attr", "count", "d", "default", "dictsort", "first", "float", "groupby", "int", "items", "join",
        "last", "length", "list", "map", "max", "min", "random", "reject", "rejectattr", "reverse", "select",
        "selectattr", "sort", "tojson", "unique",
    }
)
# fmt: on
"""Filters that write nothing out as text, or (`join`, `tojson`) measure it as they do."""


class _Generator(CodeGenerator):
    """Sends what jinja2 compiles to plain Python, `~` and slices, through the environment."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.concat((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.meter.made(")
        super().visit_Getitem(node, frame)
        self.write(")")


class _Generation(Extension):
    """`{% generation %}…{% endgeneration %}` marks what is trained on; it changes nothing in the text."""

    tags = {"generation"}  # noqa: RUF012 (jinja2 declares it so)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class Sandbox(ImmutableSandboxedEnvironment):
    """An environment for one run of a template. Raises `TooLarge` when `meter` does."""

    code_generator_class = _Generator
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, meter: Meter, now: datetime) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.loopcontrols", _Generation],
            optimized=False,  # nothing runs while it compiles
            finalize=_finalize,
        )
        self.meter = meter
        self.binop_table |= {"*": meter.multiply, "**": meter.power, "%": meter.modulo}
        self.globals |= {"raise_exception": _raise_exception, "strftime_now": functools.partial(_strftime, now)}
        del self.globals["lipsum"]
        self.filters |= {"format": _format, "indent": _indent, "join": _join, "replace": _replace, "tojson": _tojson}
        self.filters = {
            name: _measured(function, meter, structural=name in _STRUCTURAL_FILTERS)
            for name, function in self.filters.items()
            if name not in _DROPPED_FILTERS
        }

    def concat(self, parts: Any) -> str:
        """Where a macro, a block or `~` becomes one text."""
        return self.meter.join("", parts)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may use the attribute."""
        return attr not in _BLOCKED_METHODS and super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Runs `+`, `*`, `**` and `%`."""
        return self.meter.made(super().call_binop(context, operator, left, right))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """The sandboxed stand-in for `str.format`, where `value` is that method."""
        formatted = super().wrap_str_format(value)
        if formatted is None:
            return None

        def checked(*args: Any, **kwargs: Any) -> str:
            self.meter.check_format(value.__self__, [args, kwargs])
            return formatted(*args, **kwargs)

        return checked

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Runs every call that a template makes."""
        owner, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        if isinstance(owner, str):
            _check_numbers((*args, *kwargs.values()))
            if name in ("join", "replace"):
                obj = functools.partial(getattr(self.meter, name), owner)
        return self.meter.made(super().call(context, obj, *args, **kwargs))


def _measured(function: Callable[..., Any], meter: Meter, *, structural: bool) -> Callable[..., Any]:
    """The filter `function` with its result measured and, unless it is `structural`, its arguments, too."""
    own = int(hasattr(function, "jinja_pass_arg"))

    @functools.wraps(function)
    def measured(*args: Any, **kwargs: Any) -> Any:
        if not structural:
            _check_numbers((*args[own + 1 :], *kwargs.values()))
            meter.weigh(args[own:], kwargs)
        return meter.made(function(*args, **kwargs))

    return measured


def _check_numbers(values: tuple[Any, ...]) -> None:
    if any(isinstance(value, int) and abs(value) > _MAX_NUMBER for value in values):
        raise TooLarge


@pass_context
def _finalize(context: Context, value: Any) -> Any:
    """Measures what `{{ … }}` writes."""
    context.environment.meter.weigh(value)  # type: ignore[attr-defined]
    return value


def _raise_exception(message: str) -> NoReturn:
    raise TemplateRuntimeError(message)


def _strftime(now: datetime, format: str) -> str:
    if len(format) > _MAX_DATE_FORMAT or _WIDE.search(format):
        raise TooLarge
    return now.strftime(format)


@pass_environment
def _format(environment: Sandbox, text: str, *args: Any, **kwargs: Any) -> Any:
    return environment.meter.modulo(str(text), kwargs or args)


@pass_environment
def _indent(environment: Sandbox, text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    prefix = width if isinstance(width, str) else " " * width
    environment.meter.check(len(text) + len(text.splitlines()) * len(prefix))
    return do_indent(text, prefix, first, blank)


@pass_environment
def _join(environment: Sandbox, parts: Any, d: str = "", attribute: str | int | None = None) -> str:
    if attribute is not None:
        parts = map(make_attrgetter(environment, attribute), parts)
    return environment.meter.join(str(d), parts)


@pass_environment
def _replace(environment: Sandbox, text: str, old: str, new: str, count: int | None = None) -> str:
    return environment.meter.replace(str(text), str(old), str(new), -1 if count is None else count)


@pass_environment
def _tojson(
    environment: Sandbox,
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """As in transformers: without jinja2's escapes for HTML."""
    if indent is not None and indent > _MAX_INDENT:
        raise TooLarge
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    return environment.meter.join("", encoder.iterencode(value))
