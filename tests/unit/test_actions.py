"""The registry of actions: keys that work everywhere, and a method behind every name."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from textual.binding import Binding

from specchat.app.actions import ACTIONS, Action, at, bindings, footer_key, shown_keys
from specchat.app.palette import OFFERED
from specchat.app.screens.chat import ChatScreen
from specchat.app.tui import SpecchatApp
from specchat.app.widgets.composer import Composer
from specchat.app.widgets.transcript import Transcript

OWNERS = {"app": SpecchatApp, "chat": ChatScreen, "composer": Composer, "transcript": Transcript}

EDITING = {f"ctrl+{letter}" for letter in "aekuwdzxv"}
"""What edits a line in a text area or in a shell."""
OTHER_KEYS = {"ctrl+h", "ctrl+i", "ctrl+m"}
"""What terminals send for backspace, tab and Enter."""
LOST = {"ctrl+b"}
"""What tmux keeps for itself."""


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.place}-{action.name}")
def test_every_action_has_a_method(action: Action) -> None:
    assert callable(getattr(OWNERS[action.place], f"action_{action.name}"))


@pytest.mark.parametrize("place", ["composer", "transcript"])
def test_no_key_has_two_meanings(place: str) -> None:
    keys = Counter(key for action in ACTIONS if action.place in ("app", "chat", place) for key in action.keys)
    assert [key for key, times in keys.items() if times > 1] == []


def test_no_key_of_the_chat_is_one_that_edits_or_never_arrives() -> None:
    keys = {key for action in (*at("app"), *at("chat")) for key in action.keys} - {"ctrl+c"}
    assert keys & (EDITING | OTHER_KEYS | LOST) == set()


def test_what_an_f_key_does_can_be_done_without_one() -> None:
    for action in ACTIONS:
        assert action in OFFERED or not all(re.fullmatch(r"f\d+", key) for key in action.keys), action.name


def test_the_footer_fits_eighty_columns() -> None:
    every = [binding for place in ("chat", "app") for binding in bindings(place)]  # type: ignore[arg-type]
    shown = [binding for binding in every if isinstance(binding, Binding) and binding.show]
    assert shown
    assert sum(len(f" {footer_key(binding.key.split(',')[0])} {binding.description} ") for binding in shown) <= 80


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


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.place}-{action.name}")
def test_the_readme_names_every_key(action: Action) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    _, _, table = readme.partition("| key | does |\n|---|---|\n")
    rows = [row.split("|")[1] for row in table.partition("\n\n")[0].splitlines()]
    named = {key for row in rows for key in re.split(r"[ ,()]+", row)}
    assert set(shown_keys(action).split()) <= named
