"""What a setting is: its default, its range and its help, declared once beside its type.

The dataclasses of `specchat.settings.values` declare every setting with `setting(...)`; the TOML file, the
environment, the command line and the settings screen are all derived from those declarations.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

Value = bool | int | float | str

MOST = 2**31 - 1
"""The largest whole number a setting takes unless it says otherwise: llama.cpp keeps such numbers in C ints."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing a person may choose.

    `section` and `name` make the TOML key (`[section]` `name = …`). `minimum` and `maximum` are inclusive, and
    None only where the value is no number; `words` are those that may stand in a number's place. `choices` is empty
    unless only those values are allowed.
    """

    section: str
    name: str
    kind: type[Value]
    default: Value
    help: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def key(self) -> str:
        """The full name, `section.name`."""
        return f"{self.section}.{self.name}"


def setting(default: Any, help: str, *, minimum: float | None = None, maximum: float | None = None) -> Any:
    """Declare a dataclass field as a setting.

    A `Literal` annotation gives its choices; in a union with a kind of number it gives the words for that.
    """
    if type(default) is int and maximum is None:
        maximum = MOST
    return field(default=default, metadata={"help": help, "minimum": minimum, "maximum": maximum})


def settings_of(section: str, values: type) -> tuple[Setting, ...]:
    """The settings declared by the dataclass `values`, in order, as those of `section`."""
    hints = get_type_hints(values)
    return tuple(_setting(section, item, hints[item.name]) for item in fields(values))


def _setting(section: str, item: Field[Any], hint: Any) -> Setting:
    parts = (hint,) if get_origin(hint) is Literal else get_args(hint) or (hint,)
    kind = next((part for part in parts if isinstance(part, type)), None)
    words = tuple(word for part in parts for word in get_args(part))
    return Setting(
        section=section,
        name=item.name,
        kind=kind or str,
        default=cast(Value, item.default),  # `setting` asks for one, so it is never missing
        help=item.metadata["help"],
        minimum=item.metadata["minimum"],
        maximum=item.metadata["maximum"],
        choices=() if kind else words,
        words=words if kind else (),
    )
