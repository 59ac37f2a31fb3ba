"""One message of the transcript: who said it, what, and for a reply what it took."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import Static

from specchat.app.chats.records import Message
from specchat.app.display import Cleaner, clean
from specchat.app.widgets.foot import Foot
from specchat.app.widgets.look import LABEL, VALUE
from specchat.app.widgets.prose import Prose
from specchat.app.words import _
from specchat.models.decoding.counters import count


class MessageView(Vertical):
    """What one side said. `message` is None while it isn't known as the store has it: a reply until it has ended."""

    DEFAULT_CSS = """
    MessageView {
        height: auto;
        padding: 0 1;
        border-left: blank;
    }
    """

    virtual_size = Reactive(Size(0, 0), repaint=False)

    def __init__(self, speaker: str, text: str, message: Message | None, *, plain: bool) -> None:
        """`text` may be anything; it is cleaned here."""
        super().__init__()
        self.message = message
        self.raw = text
        """What was said, as the store has it."""
        self._speaker = speaker
        self._prose = Prose(clean(text), plain=plain)
        self._foot = Foot()

    def compose(self) -> ComposeResult:
        """The name, the words, the figures."""
        yield Static(Content.styled(clean(self._speaker), f"{LABEL} {VALUE}"), classes="speaker")
        yield self._prose
        yield self._foot

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 - Textual's own
        """Nothing but the ground. Textual would make all lines of a long message to take one of them."""
        return Strip.blank(self.size.width, self.visual_style.rich_style)

    def render_lines(self, crop: Region) -> list[Strip]:
        """What is beside the words. It is the same in each line, so that one serves for all of them."""
        return super().render_lines(Region(crop.x, crop.y, crop.width, 1)) * crop.height


class PromptView(MessageView):
    """What the person said, shown as it was typed."""

    def __init__(self, text: str, message: Message | None = None) -> None:
        super().__init__(_("You"), text, message, plain=True)

    def on_mount(self) -> None:
        """Say so where it came to nothing."""
        if self.message:
            self.end(self.message)

    def end(self, message: Message) -> None:
        """It was kept as `message`. Say so where it came to nothing."""
        self.message = message
        if message.state == "cut":
            self._foot.say(_("unanswered, so later prompts go without it"))


class ReplyView(MessageView):
    """A reply: finished if it is made of a `message`, else one that grows by `add` up to `end`."""

    def __init__(self, speaker: str, message: Message | None = None) -> None:
        super().__init__(speaker, message.content if message else "", message, plain=False)
        self._cleaner = Cleaner()
        self._waiting = ""

    def on_mount(self) -> None:
        """Show the figures, or wait for the first words."""
        if self.message:
            self._tell_of(self.message)
        else:
            self._foot.say("…")

    def add(self, text: str) -> None:
        """What the reply grew by, uncleaned; `feed` shows it."""
        self.raw += text
        self._waiting += self._cleaner.feed(text)

    def end(self, message: Message | None) -> None:
        """Show the rest, and what it took. None stands for a reply of which nothing was kept."""
        self.feed()
        self._prose.settle()
        self.message = message
        self._tell_of(message)

    def _tell_of(self, message: Message | None) -> None:
        """Say why the reply ended, where that isn't by itself, and what it took."""
        if message and message.steps:
            self._foot.say(_ending(message), count(step.round for step in message.steps))
        else:
            self._foot.say(_ending(message) if message else "")

    def feed(self) -> None:
        """Show what was added since the last time."""
        if self._waiting:
            text, self._waiting = self._waiting, ""
            if self._foot.display:  # it waited for the first words
                self._foot.say("")
            self._prose.add(text)


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
