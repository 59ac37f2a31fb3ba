"""One message of the transcript: who said it, what, and for a reply what it took."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from specchat.app.chats.records import Message
from specchat.app.display import Cleaner, clean
from specchat.app.widgets.look import LABEL, VALUE
from specchat.app.widgets.prose import Prose
from specchat.app.widgets.strip import reply_line
from specchat.app.words import _
from specchat.models.decoding.counters import count

FEED_SECONDS = 1 / 10
"""How often a reply that is being written is shown anew."""


class MessageView(Vertical):
    """What one side said. `message` is None while it isn't known as the store has it: a reply until it has ended."""

    DEFAULT_CSS = """
    MessageView {
        height: auto;
        padding: 0 1;
        border-left: blank;

        & > .foot { color: $foreground-muted; height: auto; text-wrap: nowrap; text-overflow: ellipsis; }
        & > .foot.-empty { display: none; }
    }
    """

    def __init__(self, speaker: str, text: str, message: Message | None, *, plain: bool) -> None:
        """`text` may be anything; it is cleaned here."""
        super().__init__()
        self.message = message
        self.raw = text
        """What was said, as the store has it."""
        self._speaker = speaker
        self._prose = Prose(clean(text), plain=plain)
        self._foot = Static("", markup=False, classes="foot -empty")

    def compose(self) -> ComposeResult:
        """The name, the words, the figures."""
        yield Static(Content.styled(clean(self._speaker), f"{LABEL} {VALUE}"), classes="speaker")
        yield self._prose
        yield self._foot

    def _say_below(self, foot: str) -> None:
        self._foot.update(foot)
        self._foot.set_class(not foot, "-empty")


class PromptView(MessageView):
    """What the person said, shown as it was typed."""

    def __init__(self, text: str, message: Message | None = None) -> None:
        super().__init__(_("You"), text, message, plain=True)

    def on_mount(self) -> None:
        """Say so where it came to nothing."""
        if self.message and self.message.state == "cut":
            self._say_below(_("unanswered: the engine refused it"))


class ReplyView(MessageView):
    """A reply: finished if it is made of a `message`, else one that grows by `add` up to `end`."""

    def __init__(self, speaker: str, message: Message | None = None) -> None:
        super().__init__(speaker, message.content if message else "", message, plain=False)
        self._cleaner = Cleaner()
        self._waiting = ""
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Show the figures, or wait for the first words."""
        if self.message:
            self._say_below(foot(self.message))
        else:
            self._say_below("…")
            self._timer = self.set_interval(FEED_SECONDS, self._feed)

    def add(self, text: str) -> None:
        """What the reply grew by, uncleaned. It is shown at the latest `FEED_SECONDS` from now."""
        self.raw += text
        self._waiting += self._cleaner.feed(text)

    def end(self, message: Message | None) -> None:
        """Show the rest, and what it took. None stands for a reply of which nothing was kept."""
        if self._timer:
            self._timer.stop()
        self._feed()
        self.message = message
        self._say_below(foot(message) if message else "")

    def _feed(self) -> None:
        if self._waiting:
            text, self._waiting = self._waiting, ""
            self._prose.add(text)


def foot(message: Message) -> str:
    """The line under a finished reply: why it ended, where that isn't by itself, and its figures."""
    figures = reply_line(count(step.round for step in message.steps)) if message.steps else ""
    return "\n".join(filter(None, [_ending(message), figures]))


def _ending(message: Message) -> str:
    if message.state == "stopped":
        return _("■ stopped by you")
    if message.state == "cut":
        return _("✂ cut off: the engine failed")
    if message.state == "writing":
        return _("✂ cut off: specchat was ended")
    if message.stop_reason == "length":
        return _("✂ cut at the most tokens a reply may have (settings)")
    return _("✂ cut where the context is full") if message.stop_reason == "context" else ""
