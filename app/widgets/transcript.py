"""The messages of a chat. Only the latest are widgets; earlier ones come when a person goes up to them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.message import Message as Event
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Static

from specchat.app.actions import bindings
from specchat.app.chats.records import Message
from specchat.app.widgets.keys import act_in_turn, hand_on
from specchat.app.widgets.prose import Prose
from specchat.app.widgets.reply import MessageView, PromptView, ReplyView
from specchat.app.widgets.title import model_name
from specchat.app.words import _, plural

MOST_SHOWN = 80
"""Messages that are widgets at a time, before the oldest are taken away again."""
SHOWN_AT_ONCE = 30
"""Messages that a chat begins with when it is opened, and that are added when a person goes up, at most."""
SHOWN_CHARACTERS = 100_000
"""Characters after which there are no more of them, so that it takes no time that one would notice."""


class Transcript(VerticalScroll, can_focus=True):
    """Scrolls to what is new by itself, unless the reader has gone up: then nothing moves."""

    BINDINGS = bindings("transcript")
    BLANK = True  # itself, which spares drawing it below its messages at each repaint

    DEFAULT_CSS = """
    Transcript {
        layout: stream;
        height: 1fr;
        padding: 0 1 0 0;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;

        & > MessageView { margin-bottom: 1; }
        & > .earlier, & > .welcome { color: $foreground-muted; padding: 0 2; margin-bottom: 1; }
        & > .welcome { margin-top: 1; }
        &:focus > .-selected { border-left: outer $accent; }
    }
    """

    # See `Prose`. Scroll bars that come or go have all laid out again by themselves.
    virtual_size = Reactive(Size(0, 0), repaint=False)

    class Chosen(Event):
        """A person wants to see what is in the selected reply."""

    def __init__(self, messages: Sequence[Message], welcome: str, id: str | None = None) -> None:
        """Show `messages`: the conversation's own list, which grows as the chat does."""
        super().__init__(id=id)
        self._welcome = welcome
        self._messages = messages
        self._hidden = 0
        """How many of the first messages have no widget."""
        self._selected: MessageView | None = None
        self._is_filling = False

    def on_mount(self) -> None:
        """Begin with a word to newcomers."""
        self.mount(Static(self._welcome, markup=False, classes="welcome"))

    def greet(self, welcome: str) -> None:
        """Have an empty chat say something else to newcomers."""
        self._welcome = welcome
        for shown in self.query(".welcome").results(Static):
            shown.update(welcome)

    async def show(self, messages: Sequence[Message]) -> None:
        """Show another chat. `messages` is the conversation's own list, which grows as the chat does."""
        self._messages = messages
        self._hidden = self._first_before(len(messages))
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

    @property
    def chosen_prompt(self) -> Message | None:
        """The prompt that is selected, or whose reply is; else the last one, as it is kept."""
        views = self._views
        if self.has_focus and self._selected in views:
            views = views[: views.index(self._selected) + 1]
        return next((view.message for view in reversed(views) if isinstance(view, PromptView)), None)

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
        if view := self._selected or self.chosen:
            self.app.copy_to_clipboard(view.raw)
            self.app.notify(_("Copied, if this terminal lets programs do that."), markup=False, timeout=3)

    def action_back(self) -> None:
        """Go back to the prompt."""
        self._go_back()

    def on_focus(self) -> None:
        """Select the last reply, unless one is selected still."""
        if self._selected not in self._views and (last := self.chosen):
            self._go_to(last)

    def focus_on_click(self) -> bool:
        """A mouse that selects text, or scrolls, leaves the focus to the prompt."""
        return False

    def on_click(self, event: events.Click) -> None:
        """Select the message that is clicked, unless the mouse selected text in it."""
        nodes = event.widget.ancestors_with_self if event.widget else ()
        clicked = next((node for node in nodes if isinstance(node, MessageView)), None)
        if clicked and not self.screen.selections:
            self._mark(clicked)
            self.focus(scroll_visible=False)

    async def on_key(self, event: events.Key) -> None:
        """Typing goes on in the prompt."""
        if event.is_printable and (prompt := self._go_back()):
            event.stop()
            hand_on(event, prompt)
        else:
            await act_in_turn(self, event)

    def on_paste(self, event: events.Paste) -> None:
        """So does pasting."""
        if prompt := self._go_back():
            event.stop()
            hand_on(event, prompt)

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

    def _go_back(self) -> Widget | None:
        """Focus the prompt at once, before any more keys come; returns it."""
        return self.screen.focus_next("Composer")

    @property
    def _views(self) -> list[MessageView]:
        return [child for child in self.children if isinstance(child, MessageView)]

    def _select(self, step: int) -> None:
        views = self._views
        if not views:
            return
        place = views.index(self._selected) + step if self._selected in views else len(views) - 1
        self._go_to(views[min(max(place, 0), len(views) - 1)])

    def _go_to(self, view: MessageView) -> None:
        self._mark(view)
        self.scroll_to_widget(view, animate=False, top=view.size.height >= self.size.height)

    def _mark(self, view: MessageView) -> None:
        if self._selected:
            self._selected.remove_class("-selected")
        self._selected = view
        view.add_class("-selected")

    def _first_before(self, end: int) -> int:
        """The first of the messages that are shown together with message number `end`, which comes after them."""
        first, room = end, SHOWN_CHARACTERS
        while first > 0 and end - first < SHOWN_AT_ONCE and room > 0:
            first -= 1
            room -= len(self._messages[first].content)
        return first

    async def _fetch_earlier(self) -> None:
        """Put more messages on top, and keep what was there in its place."""
        first = self._first_before(self._hidden)
        more = [_view(message) for message in self._messages[first : self._hidden]]
        top = self._views[0]
        row = top.virtual_region.y - self.scroll_offset.y
        self._hidden = first
        async with self.batch():
            await self.query(".earlier").remove()
            await self.mount_all(more, before=0)
            await self._tell_of_earlier()
        self.call_after_refresh(self._stay, top, row)

    def _stay(self, top: MessageView, row: int, again: bool = True) -> None:
        """Have `top` in this row of the screen, also when what was painted above it has become exact by that."""
        self.scroll_to(y=top.virtual_region.y - row, animate=False, immediate=True)
        if again:
            self.call_after_refresh(self._stay, top, row, again=False)
        else:
            self._is_filling = False

    @on(Prose.GrownAbove)
    def keep_place(self, event: Prose.GrownAbove) -> None:
        """Stay with what is on the screen, unless that is the end."""
        if self.is_vertical_scroll_end or self._is_filling:
            return
        if self.scroll_y + event.lines < self.max_scroll_y:
            self._move_down(event.lines)
        else:  # there is no such place yet
            self.call_after_refresh(self._move_down, event.lines)

    def _move_down(self, lines: int) -> None:
        self.scroll_to(y=self.scroll_y + lines, animate=False, immediate=True)

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
    if message.role == "user":
        return PromptView(message.content, message)
    return ReplyView(model_name(message.model) if message.model else _("Reply"), message)
