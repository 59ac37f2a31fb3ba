"""Limits on what a chat template may make: every step that can grow text or lists is measured by a `Meter`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Formatter
from typing import Any, TypeVar

from jinja2 import Undefined
from jinja2.exceptions import SecurityError

T = TypeVar("T")

_CHURN = 64
"""All that a template makes, kept or not, may come to this many times its limit."""
_ITEM = 8
"""An item of a list takes memory, and has signs around it, like this many characters."""
_NUMBER = 24
"""Characters a number takes, roughly; Python itself refuses to write integers of thousands of digits."""
_PADDING = 9_999
"""Most padding that one field of a format asks for, its width having four digits at most."""
_WIDE_PERCENT = re.compile(r"\d{5}|[%)][-+ #0-9.]*\*")
_WIDE_BRACES = re.compile(r"\d{5}|\{")
"""A width of more digits, or one that comes from the values."""


class TooLarge(BaseException):
    """The template makes more than it may. Not an `Exception`, so that nothing inside jinja2 swallows it."""


class Meter:
    """Measures what one run of a template makes, in characters. Its methods raise `TooLarge` past the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit * _CHURN

    def check(self, size: int) -> None:
        """Refuse one thing of `size` characters or items."""
        if size > self._limit:
            raise TooLarge

    def made(self, value: T) -> T:
        """Count `value`, which was just made, and pass it on."""
        if isinstance(value, str | list | tuple | dict):
            self.check(len(value))
            self._left -= len(value) * (1 if isinstance(value, str) else _ITEM)
            if self._left < 0:
                raise TooLarge
        return value

    def weigh(self, *values: object) -> int:
        """Characters that `values` take as text, roughly. Only plain data has a text: the rest is a `SecurityError`.

        Few lists that hold one another many times make astronomically long text: counting stops at the limit.
        """
        total, waiting = 0, list(values)
        while waiting:
            item = waiting.pop()
            total += len(item) + _ITEM if isinstance(item, str) else _NUMBER
            self.check(total)
            if isinstance(item, dict):
                waiting.extend(item.keys())
                waiting.extend(item.values())
            elif isinstance(item, list | tuple):
                waiting.extend(item)
            elif not isinstance(item, str | int | float | Undefined | None):
                raise SecurityError(f"a template may not write out a {type(item).__name__}")
        return total

    def join(self, separator: str, parts: Iterable[object]) -> str:
        """The texts of `parts` with `separator` between them."""
        texts, size = [], 0
        for part in parts:
            self.weigh(part)
            texts.append(str(part))
            size += len(texts[-1]) + len(separator)
            self.check(size)
        return self.made(separator.join(texts))

    def replace(self, text: str, old: str, new: str, count: int = -1) -> str:
        """`text.replace(old, new, count)`."""
        self.check(len(text) + text.count(old) * max(len(new) - len(old), 0))
        return self.made(text.replace(old, new, count))

    def multiply(self, left: Any, right: Any) -> Any:
        """`left * right`."""
        for one, times in ((left, right), (right, left)):
            if isinstance(one, str | list | tuple) and isinstance(times, int):
                self.check(len(one) * times)
        if isinstance(left, int) and isinstance(right, int):
            self.check(left.bit_length() + right.bit_length())
        return left * right

    def power(self, left: Any, right: Any) -> Any:
        """`left ** right`."""
        if isinstance(left, int) and isinstance(right, int):
            self.check(left.bit_length() * right)
        return left**right

    def modulo(self, left: Any, right: Any) -> Any:
        """`left % right`: a remainder, or a text with its fields filled in."""
        if isinstance(left, str):
            if _WIDE_PERCENT.search(left):
                raise TooLarge
            self.check(len(left) + left.count("%") * (self.weigh(right) + _PADDING))
        return left % right

    def check_format(self, text: str, values: object) -> None:
        """Refuse `text.format(...)` with these values."""
        widths = [width for _, field, width, _ in Formatter().parse(text) if field is not None]
        if any(_WIDE_BRACES.search(width or "") for width in widths):
            raise TooLarge
        self.check(len(text) + len(widths) * (self.weigh(values) + _PADDING))
