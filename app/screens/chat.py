"""The chat screen: messages, counter, prompt. It hands on what a person wants and shows what comes of it."""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Footer, Static

from specchat.app.actions import bindings
from specchat.app.chats.records import StoreError
from specchat.app.conversation import Conversation
from specchat.app.display import clean
from specchat.app.palette import Commands
from specchat.app.screens import dialogs
from specchat.app.screens.dialogs import Start
from specchat.app.screens.measuring import MeasuringScreen
from specchat.app.screens.turns import Turns
from specchat.app.widgets.composer import Composer
from specchat.app.widgets.counter import Counter
from specchat.app.widgets.counting import Counting
from specchat.app.widgets.notices import Notices
from specchat.app.widgets.prose import load_layout
from specchat.app.widgets.queued import Queued
from specchat.app.widgets.repaints import Repaints
from specchat.app.widgets.reply import MessageView
from specchat.app.widgets.strip import Strip
from specchat.app.widgets.title import TitleRow, pair_line, places
from specchat.app.widgets.transcript import Transcript
from specchat.app.words import _, sentence, visible
from specchat.models.engine import messages
from specchat.settings.values import Look

_WIDTHS = [(0, "-tiny"), (50, "-narrow"), (100, "-wide")]
_HEIGHTS = [(0, "-low"), (15, "-high")]


class ChatScreen(MeasuringScreen):
    """One chat at a time."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("chat")
    COMMANDS: ClassVar = {Commands}
    BLANK = True  # behind all others, which spares drawing it below them at each repaint
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    class LookChanged(Message):
        """The settings ask for another look."""

        def __init__(self, screen: ChatScreen, look: Look) -> None:
            super().__init__()
            self.screen = screen
            self.look = look

    def __init__(self, conversation: Conversation, start: Start) -> None:
        super().__init__(conversation)
        self._start = start
        self._counting = Counting(conversation)
        self._turns = Turns(conversation, self, self._counting)
        self._device = ""
        """Where the models are."""
        self._is_lasting = start.is_lasting
        """Whether the pair is to be the next start's, too."""
        self._title, self._counter, self._strip = TitleRow(), Counter(), Strip()
        self._is_shown = asyncio.Event()
        """Whether the messages on the screen are those of the chat that is open."""
        self._is_shown.set()
        self._transcript = Transcript(conversation.messages, self._hint, id="transcript")
        self._queued = Queued()
        self._notices = Notices()
        self._composer = Composer(_("Ask something"), id="composer")
        self._repaints = Repaints(self._paint, time.monotonic, self.set_timer)

    def compose(self) -> ComposeResult:
        """Everything, for a wide window and for a narrow one; the style sheet hides the rest."""
        yield from (
            self._title,
            self._counter,
            self._transcript,
            self._queued,
            self._notices,
            self._strip,
            self._composer,
        )
        yield Footer(show_command_palette=False)
        yield Static(_("specchat needs a window of at least 50 columns and 15 rows."), id="small", markup=False)

    def on_mount(self) -> None:
        """Paint first, and load then."""
        self.show_motion()
        self._composer.focus()
        for notice in self._start.notices:
            self.say(notice)
        self.show_state()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.run_worker(load_layout, thread=True)
        self.run_worker(self._turns.run(), group="turns")
        self._turns.load()

    # ------------------------------------------------------------------ what the turns show

    async def add_message(self, view: MessageView) -> None:
        """Show one more message, unless all is being closed."""
        await self._is_shown.wait()
        if self._transcript.is_attached:
            await self._transcript.add(view)

    async def remove_message(self, view: MessageView) -> None:
        """Take one back that came to nothing."""
        await view.remove()

    def give_back(self, prompt: str) -> None:
        """Put a prompt that wasn't sent back where it was typed."""
        self._composer.put(clean(prompt))

    def say(self, text: str) -> None:
        """Show a sentence that stays until it is taken away."""
        self._notices.say(text)

    def mention(self, text: str) -> None:
        """Show a sentence for a moment."""
        self._notices.mention(text)

    def stop(self) -> bool:
        """Stop what runs; whether anything did."""
        return self._turns.stop()

    def show_loaded(self, loaded: messages.Loaded) -> None:
        """Show the new pair, and remember it for the next start."""
        self._device = places(loaded)
        self.remember_draft()
        if self._is_lasting:
            self._remember_pair()

    def show_motion(self) -> None:
        """Blink or not. A cursor that blinks takes time from the engine, too."""
        self._composer.cursor_blink = self.app.animation_level != "none" and self._turns.doing == "nothing"

    def show_state(self) -> None:
        """Show at the next repaint what has changed."""
        self._repaints.ask()

    async def allows_another_try(self) -> bool:
        """Ask whether the engine may be started again, after it died twice over the same models."""
        return await dialogs.ask_for_another_try(self.app)

    # ------------------------------------------------------------------ the prompt and the messages

    @on(Composer.Sent)
    def send(self, event: Composer.Sent) -> None:
        """Send a prompt, or let it wait for its turn."""
        self._turns.send(event.text)

    @on(Composer.TakenBack)
    def take_back(self) -> None:
        """Let the prompt that waits be edited again."""
        self.give_back(self._turns.take_back())

    # ------------------------------------------------------------------ actions (see `specchat.app.actions`)

    def action_help(self) -> None:
        """Open the help screen."""
        from specchat.app.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())

    def action_counter(self) -> None:
        """Show the whole counter, whatever room there is."""
        from specchat.app.screens.counter import CounterScreen

        self.app.push_screen(CounterScreen(lambda: self._counting.state))

    def action_lab(self) -> None:
        """Open the Lab, with what has been measured so far."""
        dialogs.open_lab(self.app, self._conversation)

    @on(Transcript.Chosen)
    def action_xray(self) -> None:
        """Open the X-ray of the selected reply, or of the last."""
        from specchat.app.screens.xray import XrayScreen

        reply = self._transcript.chosen
        if reply is None:
            self.mention(_("There is no reply yet to look into."))
        elif reply.message is None:
            self.mention(_("The X-ray opens when the reply has ended."))
        else:
            self.app.push_screen(XrayScreen(reply.message.steps, reply.raw[:200]))

    def action_stop(self) -> None:
        """Stop what runs; else take notices away; else go back to the prompt."""
        if not self.stop() and not self._notices.dismiss():
            self._composer.focus()

    def action_page_up(self) -> None:
        """Scroll up."""
        self._transcript.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll down."""
        self._transcript.scroll_page_down(animate=False)

    def action_new_chat(self) -> None:
        """Begin a new chat. A prompt that is sent at once goes there."""
        if not self._is_replying():
            self._conversation.new_chat()
            self._show_chat()

    @work(exclusive=True, group="chats")
    async def action_chats(self) -> None:
        """Let a person open an earlier chat."""
        if self._is_replying():
            return
        try:
            chosen = await dialogs.choose_chat(self.app, self._conversation)
            if chosen is not None and not self._is_replying():  # a prompt may have been sent before the list came
                await self._conversation.open_chat(chosen)
                self._show_chat()
        except StoreError as error:
            self.say(sentence(error.code, error.params))

    @work(exclusive=True, group="models")
    async def action_models(self) -> None:
        """Let a person choose another pair, and load it."""
        if await dialogs.choose_pair(self.app, self._conversation, self._start):
            self._is_lasting = True
            self._transcript.greet(self._hint)
            self._turns.load()

    @work(exclusive=True, group="settings")
    async def action_settings(self) -> None:
        """Let a person change the settings."""
        changed = await dialogs.change_settings(self.app, self._conversation, self._start)
        if changed is not None:
            self.show_state()
            self.post_message(self.LookChanged(self, changed.look))

    # ------------------------------------------------------------------ the rest

    @property
    def _hint(self) -> str:
        return self._start.hints.get(self._conversation.target, "")

    def _is_replying(self) -> bool:
        """Whether another chat can't be opened now, which is said."""
        if self._turns.doing == "replying" or self._turns.queue:
            self.mention(_("A reply is being written; Esc stops it."))
            return True
        return False

    def _show_chat(self) -> None:
        """Show the chat that is open now."""
        self._is_shown.clear()
        self._counting.forget()
        self.show_state()
        said = [message.content for message in self._conversation.messages if message.role == "user"]
        if said:  # a new chat leaves those of the one before
            self._composer.remember([clean(text) for text in said])
        self._show_messages()

    @work(exclusive=True, group="transcript")
    async def _show_messages(self) -> None:
        await self._transcript.show(self._conversation.messages)
        self._is_shown.set()  # one that is cancelled leaves that to the next

    @work(exclusive=True, group="remember")
    async def _remember_pair(self) -> None:
        if error := await dialogs.remember_pair(self._conversation, self._start):
            path = visible(error.filename or str(self._start.data))
            self.say(sentence("file_unwritable", {"path": path, "reason": error.strerror or str(error)}))

    def _paint(self) -> None:
        """All that changes while a reply is written, in one go: each repaint takes its time from the engine."""
        now = self._conversation
        if self._turns.reply:
            self._turns.reply.feed()
        state = self._counting.state
        self._title.show(pair_line(now), self._counting.stage or self._device, state.context)
        self._counter.show(state)
        self._strip.show(state)
        self._queued.show(self._turns.queue)
        self._composer.can_take_back = bool(self._turns.queue)
        self.show_motion()
