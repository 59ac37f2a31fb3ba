"""The part of the chat screen that compares and remembers (see `specchat.app.actions`)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from textual import work

from specchat.app.chats.prompt import prompt_of, whole_characters
from specchat.app.chats.records import Message, StoreError
from specchat.app.conversation import Conversation
from specchat.app.figures import number
from specchat.app.screens.switching import SwitchingScreen
from specchat.app.screens.turns import Turns
from specchat.app.widgets.composer import Composer
from specchat.app.widgets.transcript import Transcript
from specchat.app.words import _, visible
from specchat.models.decoding.rounds import Round

if TYPE_CHECKING:
    from specchat.app.bench.prompts import Prompt
    from specchat.app.history.collapse import Collapse


class MeasuringScreen(SwitchingScreen):
    """Opens the comparison and the history, and watches whether the draft is as good as it used to be."""

    _turns: Turns
    _composer: Composer
    _transcript: Transcript

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        self._collapse: Collapse | None = None
        """From the first load on."""

    def say(self, text: str) -> None:
        """Show a sentence that stays until it is taken away."""
        raise NotImplementedError

    def action_compare(self) -> None:
        """Compare what is typed; else the selected prompt; else the last one."""
        self._composer.call_later(self._compare)  # this key overtakes those that the composer hasn't come to yet

    def _compare(self) -> None:
        from specchat.app.screens.compare import CompareScreen

        if self._turns.doing == "replying" or self._turns.queue:
            self.mention(_("A reply is being written; Esc stops it."))
            return
        prompt = self._wanted_prompt()
        if prompt is None:
            self.mention(_("There is no prompt yet to compare. Type one, and this key compares it."))
            return
        self.app.push_screen(CompareScreen(self._conversation, self._conversation.store, self._turns, prompt))

    def action_history(self) -> None:
        """Show what was measured, and the sums of the chats."""
        from specchat.app.screens.history import HistoryScreen

        self.app.push_screen(HistoryScreen(self._conversation.store))

    def watch_draft(self, round: Round) -> None:
        """Say once if the draft agrees far less with the target than in earlier chats."""
        setup = self._conversation.setup
        if setup is None or self._collapse is None:
            return
        self._collapse.add(setup, round)
        if found := self._collapse.take(setup):
            now, before = (number(alpha, 2) for alpha in found)
            said = _(
                "{draft} agrees far less with the target than in earlier chats: α {now}, {before} before. F4 compares "
                "a prompt without it."
            )
            self.say(said.format(draft=visible(setup.draft), now=now, before=before))

    @work(exclusive=True, group="before")
    async def remember_draft(self) -> None:
        """Read how good the draft was in earlier chats."""
        from specchat.app.history.collapse import Collapse

        self._collapse = self._collapse or Collapse()
        if setup := self._conversation.setup:
            with suppress(StoreError):  # without it nothing can be said, which is no news
                await self._collapse.remember(self._conversation.store, setup)

    def _wanted_prompt(self) -> Prompt | None:
        messages = self._conversation.messages
        typed = whole_characters(self._composer.text.strip("\n"))
        if typed.strip():
            return _prompt(messages, typed)
        asked = self._transcript.chosen_prompt
        if asked is None:
            return None
        place = messages.index(asked)
        reply = next((message.content for message in messages[place + 1 : place + 2]), "")
        return _prompt(messages[:place], asked.content, reply)


def _prompt(before: list[Message], text: str, reply: str = "") -> Prompt:
    from specchat.app.bench.prompts import Prompt
    from specchat.app.history.kinds import kind_of

    return Prompt(kind_of(text, reply), text, prompt_of(before, ""))
