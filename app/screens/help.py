"""The help screen: every key from the registry of actions, every word of the counter with its meaning."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from specchat.app.actions import BY_NAME, Action, Place, at, shown_keys
from specchat.app.sentences import N_
from specchat.app.widgets.look import LABEL, VALUE
from specchat.app.widgets.words_help import WORDS
from specchat.app.words import _

_PLACES: tuple[tuple[Place, str], ...] = (
    ("chat", N_("Keys")),
    ("app", N_("Everywhere")),
    ("composer", N_("In the prompt")),
    ("transcript", N_("Among the messages")),
)


class HelpScreen(ModalScreen[None]):
    """Scrolls; any of the keys that opened it closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(",".join(("escape", *BY_NAME["help"].keys)), "dismiss", _("close")),
    ]

    DEFAULT_CSS = """
    HelpScreen {
        background: $background;

        #help { padding: 0 2; }
        .title { text-style: bold; margin: 1 0 0 0; }
        .row { layout: horizontal; height: auto; }
        .row > .name { width: 25; padding: 0 2 0 0; }
        .row > .meaning { width: 1fr; }
    }
    """

    def compose(self) -> ComposeResult:
        """Keys by place, then words."""
        with VerticalScroll(id="help"):
            for place, title in _PLACES:
                yield Static(_(title), classes="title")
                yield from (_action_row(action) for action in at(place))
            yield Static(_("What the words mean"), classes="title")
            yield from (_Row(word, Content.styled(meaning, LABEL)) for word, meaning in WORDS)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Let the arrow keys scroll."""
        self.query_one("#help").focus()


class _Row(Static):
    """A name in a column of its own, and its meaning, wrapped, beside it."""

    DEFAULT_CSS = "_Row { layout: horizontal; height: auto; }"

    def __init__(self, name: str, meaning: Content) -> None:
        super().__init__(classes="row")
        self._word, self._said = name, meaning

    def compose(self) -> ComposeResult:
        yield Static(Content.styled(self._word, VALUE), classes="name")
        yield Static(self._said, classes="meaning")


def _action_row(action: Action) -> _Row:
    """Its keys, its name, and what it does."""
    keys = shown_keys(action) or _("ctrl+p, by its name")
    return _Row(keys, Content.assemble((_(action.title), VALUE), "  ", (_(action.help), LABEL)))
