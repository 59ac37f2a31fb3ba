"""One setting on the settings screen: its name, a field for its value, and what it may be."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Select, Static, TextArea
from textual.widgets.select import NoSelection

from specchat.app.display import clean
from specchat.app.widgets.line import Line, Lines
from specchat.app.words import _, visible
from specchat.settings import sources
from specchat.settings.schema import MOST, Setting, Value

Entered = Value | None | sources.Problem
"""What a field holds: a value, None where the default is to hold, or why it is no value."""


_ARROWS: list[BindingType] = [
    Binding("down", "app.focus_next", _("next")),
    Binding("up", "app.focus_previous", _("before")),
]


class NumberField(Line):
    """A number, a word in its place where that may be, or nothing, with the default in grey."""

    BINDINGS: ClassVar[list[BindingType]] = _ARROWS

    def __init__(self, item: Setting) -> None:
        super().__init__(placeholder=str(item.default))
        self._item = item

    def put(self, value: Value | None) -> None:
        """Fill the field."""
        self.value = "" if value is None else str(value)

    def entered(self) -> Entered:
        """The number, if it is one."""
        text = self.value.strip()
        return sources.accept(self._item, sources.parse(self._item, text), self._item.name) if text else None


class ChoiceField(Select[Value]):
    """On or off, or one of some words. Enter opens the list of them."""

    BINDINGS: ClassVar[list[BindingType]] = _ARROWS

    def __init__(self, item: Setting) -> None:
        switch = ((_("on"), True), (_("off"), False))
        options = [(choice, choice) for choice in item.choices] if item.choices else switch
        super().__init__(options, value=item.default, allow_blank=False, compact=True)
        self._item = item

    def put(self, value: Value | None) -> None:
        """Fill the field."""
        self.value = self._item.default if value is None else value

    def entered(self) -> Entered:
        """The choice."""
        return None if isinstance(self.value, NoSelection) else self.value


class TextField(Lines):
    """A text of any length."""

    def __init__(self, item: Setting) -> None:
        super().__init__()
        self._item = item

    def put(self, value: Value | None) -> None:
        """Fill the field."""
        self.text = clean(str(self._item.default if value is None else value))

    def entered(self) -> Entered:
        """The text."""
        return self.text


class SettingRow(Horizontal):
    """Shows what the settings file says of `item`, and takes what a person makes of it."""

    DEFAULT_CSS = """
    SettingRow {
        height: auto;

        .name { width: 18; }
        .hint { width: 1fr; padding-left: 2; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
        &.wrong .hint { color: $text-error; }
        NumberField, ChoiceField { width: 18; height: 1; }
        TextField { width: 2fr; }
    }
    """

    class Edited(Message):
        """The field's content changed; `done` where the person went on from it."""

        def __init__(self, row: SettingRow, *, done: bool) -> None:
            super().__init__()
            self.row = row
            self.done = done

    def __init__(self, item: Setting) -> None:
        super().__init__()
        self.item = item
        self._field = _field_for(item)
        self._kept: Entered = None
        self._is_filled = False

    def compose(self) -> ComposeResult:
        """Name, field and hint in a row."""
        yield Static(self.item.name, classes="name", markup=False)
        yield self._field
        yield Static(hint(self.item), classes="hint", markup=False)

    @property
    def field(self) -> Widget:
        """What has the focus while this setting is changed."""
        return self._field

    def entered(self) -> Entered:
        """What the field holds now."""
        return self._field.entered()

    def is_kept(self, value: Value | None) -> bool:
        """Whether `value` is what the file says. So is everything before the file has been shown."""
        return not self._is_filled or value == self._kept

    def keep(self, value: Value | None) -> None:
        """Know that `value` has been saved."""
        self._kept = value
        self._tell(_("saved"))

    def show(self, value: Value | None) -> None:
        """Show what the file says."""
        self._field.put(value)
        self._kept = self._field.entered()
        self._is_filled = True

    def show_override(self, value: Value, source: str) -> None:
        """Show the value that `source` puts over the file's, so that it can't be changed here."""
        self.show(value)
        self._field.disabled = True
        self.query_one(".hint", Static).update(_("from {source}").format(source=visible(source)))

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _notice_typing(self) -> None:
        is_wrong = isinstance(self.entered(), sources.Problem)
        if is_wrong != self.has_class("wrong"):
            self.set_class(is_wrong, "wrong")
            self._tell(_("not saved") if is_wrong else "")
        self.post_message(self.Edited(self, done=False))

    @on(Input.Submitted)
    @on(Select.Changed)
    @on(events.DescendantBlur)
    def _notice_end(self) -> None:
        self.post_message(self.Edited(self, done=True))

    def _tell(self, note: str) -> None:
        parts = [part for part in (note, hint(self.item)) if part]
        self.query_one(".hint", Static).update(" · ".join(parts))


def hint(item: Setting) -> str:
    """The default and the range of a setting."""
    if item.kind is bool:
        return _("default {default}").format(default=_("on") if item.default else _("off"))
    if item.kind is str:
        return _("default {default}").format(default=item.default) if item.default else ""
    return _("default {default} · {range}").format(default=item.default, range=_range(item))


def _range(item: Setting) -> str:
    assert item.minimum is not None  # a number has both
    assert item.maximum is not None
    if item.maximum >= MOST:
        return _("{minimum:g} or more").format(minimum=item.minimum)
    template = _("{minimum:g} to {maximum:g}, or {words}") if item.words else _("{minimum:g} to {maximum:g}")
    return template.format(minimum=item.minimum, maximum=item.maximum, words=", ".join(item.words))


def _field_for(item: Setting) -> NumberField | ChoiceField | TextField:
    if item.kind is bool or item.choices:
        return ChoiceField(item)
    return TextField(item) if item.kind is str else NumberField(item)
