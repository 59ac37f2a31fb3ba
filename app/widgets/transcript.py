"""The messages of a chat. Only the latest are widgets; earlier ones come when a person goes up to them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.containers import VerticalScroll
from textual.message import Message as Event
from textual.widgets import Static

from specchat.app.actions import bindings
from specchat.app.chats.records import Message
from specchat.app.widgets.reply import MessageView, PromptView, ReplyView
from specchat.app.words import _, plural

MOST_SHOWN = 80
"""Messages that are widgets at a time, before the oldest are taken away again."""
SHOWN_AT_ONCE = 30
"""Messages that a chat begins with when it is opened, and that are added when a person goes up."""


class Transcript(VerticalScroll, can_focus=True):
    """Scrolls to what is new by itself, unless the reader has gone up: then nothing moves."""

    BINDINGS = bindings("transcript")

    DEFAULT_CSS = """
    Transcript {
        layout: stream;
        height: 1fr;
        padding: 0 1 0 0;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;

        & > MessageView { margin-bottom: 1; }
        & > .earlier, & > .welcome { color: $foreground-muted; margin: 0 2 1 2; }
        & > .welcome { margin-top: 1; }
        &:focus > .-selected { border-left: outer $accent; }
    }
    """

    class Chosen(Event):
        """A person wants to see what is in the selected reply."""

    class Left(Event):
        """A person goes back to typing, perhaps with a first character."""

        def __init__(self, typed: str = "") -> None:
            super().__init__()
            self.typed = typed

    def __init__(self, welcome: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self._welcome = welcome
        self._messages: Sequence[Message] = ()
        self._hidden = 0
        """How many of the first messages have no widget."""
        self._selected: MessageView | None = None
        self._is_filling = False

    def on_mount(self) -> None:
        """Begin with a word to newcomers."""
        self.mount(Static(self._welcome, markup=False, classes="welcome"))

    async def show(self, messages: Sequence[Message]) -> None:
        """Show another chat. `messages` is the conversation's own list, which grows as the chat does."""
        self._messages = messages
        self._hidden = max(len(messages) - SHOWN_AT_ONCE, 0)
        self._selected = None
        async with self.batch():
            await self.remove_children()
            if not self.is_attached:  # the app was closed meanwhile
                return
            if not messages:
                await self.mount(Static(self._welcome, markup=False, classes="welcome"))
            await self.mount_all(_view(message) for message in messages[self._hidden :])
            await self._tell_of_earlier()
        self.anchor(False)
        self.call_after_refresh(self._follow)

    async def add(self, view: MessageView) -> None:
        """Add a message below, and go there."""
        await self.query(".welcome").remove()
        if not self.is_attached:  # the app was closed meanwhile
            return
        await self.mount(view)
        await self._prune()
        self.anchor(False)
        self.call_after_refresh(self._follow)

    @property
    def chosen(self) -> ReplyView | None:
        """The reply that is selected; else the last one."""
        if self.has_focus and isinstance(self._selected, ReplyView):
            return self._selected
        return next((view for view in reversed(self._views) if isinstance(view, ReplyView)), None)

    def action_previous(self) -> None:
        """Select the message before."""
        self._select(-1)

    def action_next(self) -> None:
        """Select the message after."""
        self._select(1)

    def action_choose(self) -> None:
        """Ask for the X-ray of the selected reply."""
        self.post_message(self.Chosen())

    def action_copy(self) -> None:
        """Copy the selected message as it was written. Terminals that don't allow that ignore it."""
        if self._selected:
            self.app.copy_to_clipboard(self._selected.raw)
            self.app.notify(_("Copied, if this terminal lets programs do that."), markup=False, timeout=3)

    def action_back(self) -> None:
        """Go back to the prompt."""
        self.post_message(self.Left())

    def on_focus(self) -> None:
        """Select the last reply, unless one is selected still."""
        if self._selected not in self._views and (last := self.chosen):
            self._mark(last)

    def on_key(self, event: events.Key) -> None:
        """Typing goes on in the prompt."""
        if event.is_printable and event.character:
            event.stop()
            self.post_message(self.Left(event.character))

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Fetch earlier messages when a person has reached the top."""
        super().watch_scroll_y(old, new)
        if new <= 0 < old and self._hidden and not self._is_filling:
            self._is_filling = True
            self.run_worker(self._fetch_earlier(), group="earlier")

    def watch_virtual_size(self) -> None:
        """Follow what is written once it no longer fits."""
        if not self.is_anchored:
            self._follow()

    def on_resize(self) -> None:
        """Follow no more where all fits: Textual would leave the top free."""
        if self.virtual_size.height <= self.size.height:
            self.anchor(False)
        elif not self.is_anchored:
            self._follow()

    def _follow(self) -> None:
        if self.virtual_size.height > self.size.height:
            self.anchor()

    @property
    def _views(self) -> list[MessageView]:
        return [child for child in self.children if isinstance(child, MessageView)]

    def _select(self, step: int) -> None:
        views = self._views
        if not views:
            return
        place = views.index(self._selected) + step if self._selected in views else len(views) - 1
        self._mark(views[min(max(place, 0), len(views) - 1)])

    def _mark(self, view: MessageView) -> None:
        if self._selected:
            self._selected.remove_class("-selected")
        self._selected = view
        view.add_class("-selected")
        self.scroll_to_widget(view, animate=False, top=view.size.height >= self.size.height)

    async def _fetch_earlier(self) -> None:
        """Put more messages on top, and keep what was there in its place."""
        first = max(self._hidden - SHOWN_AT_ONCE, 0)
        more = [_view(message) for message in self._messages[first : self._hidden]]
        before = self.virtual_size.height
        self._hidden = first
        async with self.batch():
            await self.query(".earlier").remove()
            await self.mount_all(more, before=0)
            await self._tell_of_earlier()
        self.call_after_refresh(self._stay, before)

    def _stay(self, before: int) -> None:
        self.scroll_to(y=self.virtual_size.height - before, animate=False, immediate=True)
        self._is_filling = False

    async def _tell_of_earlier(self) -> None:
        if self._hidden:
            said = plural("▲ {count} earlier message", "▲ {count} earlier messages", self._hidden)
            await self.mount(Static(said.format(count=self._hidden), markup=False, classes="earlier"), before=0)

    async def _prune(self) -> None:
        """Take the oldest messages away if there are many, unless the reader may be looking at them."""
        views = self._views
        if len(views) <= MOST_SHOWN or self.max_scroll_y - self.scroll_y > self.size.height:
            return
        gone = views[: len(views) - MOST_SHOWN // 2]
        self._hidden += len(gone)
        async with self.batch():
            await self.query(".earlier").remove()
            await self.remove_children(gone)
            await self._tell_of_earlier()


def _view(message: Message) -> MessageView:
    return PromptView(message.content, message) if message.role == "user" else ReplyView(_("Reply"), message)
