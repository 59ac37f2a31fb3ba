"""The chat screen: messages, counter, prompt. It hands on what a person wants and shows what comes of it."""

from __future__ import annotations

import time
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static

from specchat.app import speculating
from specchat.app.actions import bindings
from specchat.app.chats.records import StoreError
from specchat.app.conversation import Conversation
from specchat.app.display import clean
from specchat.app.palette import Commands
from specchat.app.screens import dialogs
from specchat.app.screens.dialogs import Start
from specchat.app.screens.turns import Turns
from specchat.app.widgets.composer import Composer
from specchat.app.widgets.counter import Counter
from specchat.app.widgets.counting import Counting
from specchat.app.widgets.notices import Notices
from specchat.app.widgets.panel import Repaints
from specchat.app.widgets.queued import Queued
from specchat.app.widgets.reply import MessageView
from specchat.app.widgets.strip import Strip
from specchat.app.widgets.title import TitleRow, pair_line, places
from specchat.app.widgets.transcript import Transcript
from specchat.app.words import _, sentence, visible
from specchat.models.engine import messages
from specchat.settings.values import Look

_WIDTHS = [(0, "-tiny"), (50, "-narrow"), (100, "-wide")]
_HEIGHTS = [(0, "-low"), (15, "-high")]


class ChatScreen(Screen[None]):
    """One chat at a time."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("chat")
    COMMANDS: ClassVar = {Commands}
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    class LookChanged(Message):
        """The settings ask for another look."""

        def __init__(self, screen: ChatScreen, look: Look) -> None:
            super().__init__()
            self.screen = screen
            self.look = look

    def __init__(self, conversation: Conversation, start: Start) -> None:
        super().__init__()
        self._conversation = conversation
        self._start = start
        self._counting = Counting(conversation)
        self._turns = Turns(conversation, self, self._counting)
        self._device = ""
        """Where the models are."""
        self._title, self._counter, self._strip = TitleRow(), Counter(), Strip()
        self._transcript = Transcript(start.hint)
        self._queued = Queued()
        self._notices = Notices()
        self._composer = Composer(_("Ask something"))
        self._repaints = Repaints(self._paint, time.monotonic, self.set_timer)

    def compose(self) -> ComposeResult:
        """Everything, for a wide window and for a narrow one; the style sheet hides the rest."""
        yield self._title
        with Horizontal(id="body"):
            yield Vertical(self._transcript, self._queued, self._notices, self._strip, self._composer, id="talk")
            yield self._counter
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
        self.run_worker(self._turns.run(), group="turns")
        self._turns.load()

    # ------------------------------------------------------------------ what the turns show

    async def add_message(self, view: MessageView) -> None:
        """Show one more message, unless all is being closed."""
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

    def show_loaded(self, loaded: messages.Loaded) -> None:
        """Show the new pair, and remember it for the next start."""
        self._device = places(loaded)
        self._remember_pair()

    def show_motion(self) -> None:
        """Blink or not."""
        self._composer.cursor_blink = self.app.animation_level != "none"

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

    @on(Composer.Nudged)
    def nudge(self, event: Composer.Nudged) -> None:
        """Guess more or less."""
        self._changed(speculating.step_gamma(self._conversation, event.step))

    @on(Composer.Left)
    def go_to_messages(self) -> None:
        """Let the arrow keys select messages."""
        self._transcript.focus()

    @on(Transcript.Left)
    def go_to_prompt(self, event: Transcript.Left) -> None:
        """Let a person type."""
        self._composer.focus()
        self._composer.insert(event.typed)

    @on(Transcript.Chosen)
    def look_into(self) -> None:
        """Open the X-ray of the selected reply."""
        self.action_xray()

    # ------------------------------------------------------------------ actions (see `specchat.app.actions`)

    def action_help(self) -> None:
        """Open the help screen."""
        from specchat.app.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())

    def action_toggle_speculation(self) -> None:
        """Turn speculation on or off."""
        self._changed(speculating.toggle(self._conversation))

    def action_fewer_guesses(self) -> None:
        """Guess one token less."""
        self._changed(speculating.step_gamma(self._conversation, -1))

    def action_more_guesses(self) -> None:
        """Guess one token more."""
        self._changed(speculating.step_gamma(self._conversation, 1))

    def action_next_drafter(self) -> None:
        """Let something else guess."""
        self._changed(speculating.next_drafter(self._conversation))

    def action_next_rule(self) -> None:
        """Keep or replace guesses by the other rule."""
        self._changed(speculating.next_rule(self._conversation))

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
        if not self._turns.stop() and not self._notices.dismiss():
            self._composer.focus()

    def action_interrupt(self) -> None:
        """Copy what is selected; else stop what runs; else say how to quit."""
        if selected := self._composer.selected_text or self.get_selected_text():
            self.app.copy_to_clipboard(selected)
            self.clear_selection()
            self.mention(_("Copied, if this terminal lets programs do that."))
        elif not self._turns.stop():
            self.mention(_("ctrl+q quits. Everything is on disk already."))

    def action_page_up(self) -> None:
        """Scroll up."""
        self._transcript.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Scroll down."""
        self._transcript.scroll_page_down(animate=False)

    @work(exclusive=True, group="chats")
    async def action_new_chat(self) -> None:
        """Begin a new chat."""
        if not self._is_replying():
            await self._conversation.new_chat()
            await self._show_chat()

    @work(exclusive=True, group="chats")
    async def action_chats(self) -> None:
        """Let a person open an earlier chat."""
        if self._is_replying():
            return
        try:
            if await dialogs.choose_chat(self.app, self._conversation):
                await self._show_chat()
        except StoreError as error:
            self.say(sentence(error.code, error.params))

    @work(exclusive=True, group="models")
    async def action_models(self) -> None:
        """Let a person choose another pair, and load it."""
        if await dialogs.choose_pair(self.app, self._conversation, self._start):
            self._turns.load()

    @work(exclusive=True, group="settings")
    async def action_settings(self) -> None:
        """Let a person change the settings."""
        changed = await dialogs.change_settings(self.app, self._conversation, self._start)
        if changed is not None:
            self.show_state()
            self.post_message(self.LookChanged(self, changed.look))

    # ------------------------------------------------------------------ the rest

    def _changed(self, said: str) -> None:
        self.mention(said)
        self.show_state()

    def _is_replying(self) -> bool:
        """Whether another chat can't be opened now, which is said."""
        if self._turns.doing == "replying" or self._turns.queue:
            self.mention(_("A reply is being written; Esc stops it."))
            return True
        return False

    async def _show_chat(self) -> None:
        """Show the chat that is open now."""
        self._counting.forget()
        self.show_state()
        said = [message.content for message in self._conversation.messages if message.role == "user"]
        self._composer.remember([clean(text) for text in said])
        await self._transcript.show(self._conversation.messages)

    @work(exclusive=True, group="remember")
    async def _remember_pair(self) -> None:
        if error := await dialogs.remember_pair(self._conversation, self._start):
            path = visible(error.filename or str(self._start.data))
            self.say(sentence("file_unwritable", {"path": path, "reason": error.strerror or str(error)}))

    def _paint(self) -> None:
        """Everything that shows the state: cheap, and at most 15 times a second."""
        now = self._conversation
        self._title.show(pair_line(now), self._counting.stage or self._device)
        state = self._counting.state
        self._counter.show(state)
        self._strip.show(state)
        self._queued.show(self._turns.queue)
        self._composer.can_take_back = bool(self._turns.queue)
        self.set_class(self._turns.doing != "nothing", "-busy")
