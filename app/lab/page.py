"""What a page of the Lab is: a figure with a few controls, and words that go with its state. No screen is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from specchat.app.lab.rows import Row


@dataclass(frozen=True, slots=True)
class Control:
    """Something to be set with − and +, by mouse or keyboard."""

    label: str
    value: str
    change: Callable[[int], None]
    """Called with −1 or 1. Beyond an end nothing happens."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to be done with a key of its own, or by a click."""

    key: str
    """Textual's name."""
    label: str
    do: Callable[[], None]


class View(Protocol):
    """A figure in one of its two forms: a toy's, or what was measured here."""

    @property
    def missing(self) -> str:
        """What must be done first, where there is nothing to show yet; else empty."""

    @property
    def controls(self) -> Sequence[Control]:
        """What can be set."""

    @property
    def deeds(self) -> Sequence[Deed]:
        """What can be done."""

    def figure(self, width: int) -> list[Row]:
        """The figure in at most `width` cells; at 78 of them in at most 11 rows."""

    def words(self) -> str:
        """What the figure says just now, in plain words; at most 420 characters."""

    def numbers(self) -> Mapping[str, Any]:
        """The figure's numbers, for programs."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its toy, and the same with this machine's own measurements (None where there is no such thing)."""

    title: str
    toy: View
    mine: View | None = None


def step(value: int, by: int, least: int, most: int) -> int:
    """`value` moved, within its range."""
    return min(max(value + by, least), most)
