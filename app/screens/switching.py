"""The part of the chat screen whose keys change how is speculated (see `specchat.app.actions`)."""

from __future__ import annotations

from textual import on
from textual.screen import Screen

from specchat.app import speculating
from specchat.app.conversation import Conversation
from specchat.app.widgets.composer import Composer


class SwitchingScreen(Screen[None]):
    """Changes one thing of the conversation's speculation for each key, and says what holds then."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self._conversation = conversation

    def mention(self, text: str) -> None:
        """Show a sentence for a moment."""
        raise NotImplementedError

    def show_state(self) -> None:
        """Show at the next repaint what has changed."""
        raise NotImplementedError

    @on(Composer.Nudged)
    def nudge(self, event: Composer.Nudged) -> None:
        """Guess more or less."""
        self._changed(speculating.step_gamma(self._conversation, event.step))

    def action_toggle_speculation(self) -> None:
        """Turn speculation on or off."""
        self._changed(speculating.toggle(self._conversation))

    def action_fewer_guesses(self) -> None:
        """Guess one token less."""
        self._changed(speculating.step_gamma(self._conversation, -1))

    def action_more_guesses(self) -> None:
        """Guess one token more."""
        self._changed(speculating.step_gamma(self._conversation, 1))

    def action_auto_guesses(self) -> None:
        """Guess as many tokens as pay."""
        self._changed(speculating.guess(self._conversation, "auto"))

    def action_next_drafter(self) -> None:
        """Let something else guess."""
        self._changed(speculating.next_drafter(self._conversation))

    def action_next_rule(self) -> None:
        """Keep or replace guesses by the other rule."""
        self._changed(speculating.next_rule(self._conversation))

    def _changed(self, said: str) -> None:
        self.mention(said)
        self.show_state()
