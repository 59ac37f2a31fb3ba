"""The registry of actions: keys that work everywhere, and a method behind every name."""

from __future__ import annotations

from collections import Counter

import pytest

from specchat.app.actions import ACTIONS, Action, at, bindings, shown_keys
from specchat.app.screens.chat import ChatScreen
from specchat.app.tui import SpecchatApp
from specchat.app.widgets.composer import Composer
from specchat.app.widgets.transcript import Transcript

OWNERS = {"chat": ChatScreen, "composer": Composer, "transcript": Transcript}

EDITING = {f"ctrl+{letter}" for letter in "aekuwdzxv"}
"""What edits a line in a text area or in a shell."""
OTHER_KEYS = {"ctrl+h", "ctrl+i", "ctrl+m"}
"""What terminals send for backspace, tab and Enter."""
LOST = {"ctrl+b"}
"""What tmux keeps for itself."""


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.place}-{action.name}")
def test_every_action_has_a_method(action: Action) -> None:
    owner, _, name = action.name.rpartition(".")
    assert callable(getattr(SpecchatApp if owner else OWNERS[action.place], f"action_{name}"))


@pytest.mark.parametrize("place", ["composer", "transcript"])
def test_no_key_has_two_meanings(place: str) -> None:
    keys = Counter(key for action in ACTIONS if action.place in ("chat", place) for key in action.keys)
    assert [key for key, times in keys.items() if times > 1] == []


def test_no_key_of_the_chat_is_one_that_edits_or_never_arrives() -> None:
    keys = {key for action in at("chat") for key in action.keys}
    assert keys & (EDITING | OTHER_KEYS | LOST) == set()


def test_what_an_f_key_does_can_be_done_without_one() -> None:
    for action in at("chat"):
        if any(key[0] == "f" and key[1:].isdigit() for key in action.keys):
            assert "nothing is typed" in action.help or any(key.startswith("ctrl+") for key in action.keys), action.name


def test_the_footer_fits_eighty_columns() -> None:
    shown = [binding for binding in bindings("chat") if binding.show]  # type: ignore[union-attr]
    assert shown
    assert sum(len(f" {binding.key_display} {binding.description} ") for binding in shown) <= 80  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (("f2", "ctrl+t"), "F2  ctrl+t"),
        (("escape",), "Esc"),
        (("shift+tab",), "shift+Tab"),
        (("f", "up"), "f  ↑"),
    ],
)
def test_keys_are_shown_as_keyboards_name_them(keys: tuple[str, ...], shown: str) -> None:
    assert shown_keys(Action("x", keys, "", "")) == shown
