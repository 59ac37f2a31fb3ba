"""Everything a person can do on the chat screen, once: bindings, footer, help and command palette come from here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

from specchat.app.sentences import N_
from specchat.app.words import _

Place = Literal["app", "chat", "composer", "transcript"]
"""Where an action's keys work: everywhere, on the chat screen, in the line one types in, or among the messages."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. `name` is Textual's: the app, the screen or the widget of `place` has a method `action_NAME`.

    `keys` are Textual's names; the first one is the one the footer shows. Every text is marked for the translators
    and not yet translated.
    """

    name: str
    keys: tuple[str, ...]
    title: str
    """A few words, for the command palette and the help screen."""
    help: str
    """What it does, in a sentence."""
    place: Place = "chat"
    footer: str = ""
    """One or two words for the footer; empty where it isn't shown there."""


# F-keys for those who have them, and a ctrl key for Macs, PuTTY and tmux, as long as there are any. None of the ctrl
# keys edits a line anywhere (so no ctrl+a, e, k, u, w, d, y, z, x, c, v) or is another key's code (no ctrl+h, i, j, m).
# Left unused are tmux's ctrl+b, and F10 and F11 alone, which desktops keep for themselves: a second key goes with them.
# The command palette has all of them.
ACTIONS: tuple[Action, ...] = (
    Action(
        "help",
        ("f1", "ctrl+g"),
        N_("Help"),
        N_("All keys, and what every word of the counter means."),
        "chat",
        N_("help"),
    ),
    Action(
        "toggle_speculation",
        ("f2", "ctrl+t"),
        N_("Speculation on or off"),
        N_("Let the draft guess or not, from the next round on, also inside a reply."),
        footer=N_("on/off"),
    ),
    Action(
        "xray",
        ("f3", "ctrl+r"),
        N_("X-ray of a reply"),
        N_("Show where each token of the selected reply came from; of the last reply if none is selected."),
        footer=N_("X-ray"),
    ),
    Action(
        "compare",
        ("f4", "ctrl+circumflex_accent"),
        N_("Compare without and with the draft"),
        N_(
            "Answer what is typed, or else the selected or last prompt, without and with speculation in turns, and say "
            "what the draft brings."
        ),
        footer=N_("compare"),
    ),
    Action(
        "history",
        ("ctrl+underscore",),
        N_("History"),
        N_("Show what was measured, and what the chats sum up to, by models, machine and kind of prompt."),
    ),
    Action(
        "counter",
        ("f11", "ctrl+backslash"),
        N_("The whole counter"),
        N_("Show all figures of the counter, also where the window has no room for them beside the chat."),
    ),
    Action(
        "models",
        ("f5", "ctrl+o"),
        N_("Choose the models"),
        N_("Choose the model that writes and the one that guesses."),
        footer=N_("models"),
    ),
    Action(
        "lab",
        ("f6", "ctrl+right_square_bracket"),
        N_("The Lab"),
        N_("Figures that explain why this works: with toys, or with what was measured on this machine."),
        footer=N_("lab"),
    ),
    Action("new_chat", ("ctrl+n",), N_("New chat"), N_("Start a new chat; this one stays in the list.")),
    Action("chats", ("f7", "ctrl+l"), N_("Earlier chats"), N_("List the earlier chats and open one.")),
    Action(
        "settings",
        ("f8", "ctrl+s"),
        N_("Settings"),
        N_("Sampling, system prompt, engine and look."),
    ),
    Action(
        "fewer_guesses",
        ("f9",),
        N_("Fewer guesses"),
        N_(
            "Guess one token less in a round, from the next round on; fewer than 0 is auto, as many as pay. ← does it "
            "too where nothing is typed."
        ),
    ),
    Action(
        "more_guesses",
        ("f10",),
        N_("More guesses"),
        N_(
            "Guess one token more in a round, from the next round on; from auto, either key goes to 3. → does it too "
            "where nothing is typed."
        ),
    ),
    Action(
        "auto_guesses",
        (),
        N_("As many guesses as pay"),
        N_("Choose the number of guesses for each round anew, from what they cost and bring (γ auto)."),
    ),
    Action(
        "next_drafter",
        ("f12", "ctrl+f"),
        N_("Another drafter"),
        N_("Change who guesses: lookup in the text and the draft model, either of the two alone, or nobody."),
    ),
    Action(
        "next_rule",
        ("shift+f6",),
        N_("The other rule"),
        N_("Change the rule that keeps or replaces guesses: block or token. Both keep the target's text."),
    ),
    Action(
        "stop",
        ("escape",),
        N_("Stop"),
        N_("Stop the reply and keep it, or stop the loading; what waits is typed again. Else take notices away."),
        footer=N_("stop"),
    ),
    Action(
        "interrupt",
        ("ctrl+c",),
        N_("Copy, stop, or how to quit"),
        N_("Copy what is selected; with nothing selected stop the reply; with nothing to stop say how to quit."),
        "app",
    ),
    Action("page_up", ("pageup",), N_("A page up"), N_("Scroll the messages a page up.")),
    Action("page_down", ("pagedown",), N_("A page down"), N_("Scroll the messages a page down.")),
    Action("theme", (), N_("Light or dark"), N_("Change between the light and the dark look."), "app"),
    Action("command_palette", ("ctrl+p",), N_("Command palette"), N_("Find any of these by its name."), "app"),
    Action(
        "quit",
        ("ctrl+q",),
        N_("Quit"),
        N_("Leave specchat. A reply that is being written is stopped and kept."),
        "app",
        N_("quit"),
    ),
    Action("send", ("enter",), N_("Send"), N_("Send what is typed; during a reply it waits for its turn."), "composer"),
    Action(
        "newline",
        ("ctrl+j", "shift+enter"),
        N_("New line"),
        N_("Begin a new line without sending. Few terminals tell shift+enter from enter."),
        "composer",
    ),
    Action(
        "earlier_prompt",
        ("up",),
        N_("Earlier prompt"),
        N_("Where nothing is typed: take a waiting prompt back, or fetch an earlier one."),
        "composer",
    ),
    Action("later_prompt", ("down",), N_("Later prompt"), N_("The way back from an earlier prompt."), "composer"),
    Action(
        "leave",
        ("tab", "shift+tab"),
        N_("To the messages"),
        N_("Go to the messages, to select a reply with ↑ and ↓. A click on one does it, too."),
        "composer",
    ),
    Action("previous", ("up",), N_("Message before"), N_("Select the message before."), "transcript"),
    Action("next", ("down",), N_("Message after"), N_("Select the message after."), "transcript"),
    Action("choose", ("enter",), N_("X-ray"), N_("Open the X-ray of the selected reply."), "transcript"),
    Action("copy", ("ctrl+y",), N_("Copy"), N_("Copy the selected message as it was written."), "transcript"),
    Action(
        "back", ("tab", "shift+tab"), N_("To the prompt"), N_("Go back to the prompt; so does typing."), "transcript"
    ),
)

BY_NAME = {action.name: action for action in ACTIONS}


def at(place: Place) -> Iterable[Action]:
    """The actions whose keys work at `place`, in the order in which they are shown."""
    return (action for action in ACTIONS if action.place == place)


def bindings(place: Place) -> list[BindingType]:
    """Textual's bindings for `place`.

    Those of the app and of the whole screen have priority, or what has the focus would take some of their keys for
    itself.
    """
    return [
        Binding(
            ",".join(action.keys),
            action.name,
            _(action.footer or action.title),
            show=bool(action.footer),
            tooltip=_(action.help),
            priority=place in ("app", "chat"),
        )
        for action in at(place)
        if action.keys
    ]


def shown_keys(action: Action) -> str:
    """The keys as the help screen shows them: `F2 ctrl+t`."""
    return "  ".join(_shown(key) for key in action.keys)


def footer_key(key: str) -> str:
    """A key of Textual's name as a footer shows it: `F2`, `^q`."""
    return _shown(key).replace("ctrl+", "^")


def key_sign(key: str) -> str:
    """A key of Textual's name as keyboards name it: `Space`, `a`."""
    return _shown(key)


_SIGNS = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "escape": "Esc",
    "enter": "Enter",
    "tab": "Tab",
    "backslash": "\\",
    "right_square_bracket": "]",
    "underscore": "_",
    "circumflex_accent": "^",
    "space": "Space",
    "pageup": "PgUp",
    "pagedown": "PgDn",
}


def _shown(key: str) -> str:
    before, plus, last = key.rpartition("+")
    sign = _SIGNS.get(last) or (last.upper() if last[0] == "f" and last[1:].isdigit() else last)
    return f"{before}{plus}{sign}"
