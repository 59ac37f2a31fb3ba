"""The line one types in: Enter sends, and where nothing is typed the arrow keys have other uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from specchat.app.actions import bindings
from specchat.app.display import clean
from specchat.app.widgets.keys import act_in_turn
from specchat.settings.sources import encodable

MOST_PASTED = 2_000_000
"""Characters of one paste that are taken: more than any model's context holds."""

_TAKEN = ("f6", "f7")
"""Keys for which a text area has rare uses."""


class Composer(TextArea, inherit_bindings=False):
    """A few lines of plain text. It posts what a person wants, and knows nothing of chats."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("composer"),  # first, so that a key which they pass over is the text area's
        *(binding for binding in TextArea.BINDINGS if isinstance(binding, Binding) and binding.key not in _TAKEN),
    ]

    class Sent(Message):
        """A prompt is to be sent. It isn't empty."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Nudged(Message):
        """An arrow key in an empty line asks for `step` guesses more."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class TakenBack(Message):
        """The prompt that was queued last is to come back for editing."""

    def __init__(self, placeholder: str, id: str | None = None) -> None:
        super().__init__(
            id=id,
            placeholder=placeholder,
            compact=True,
            highlight_cursor_line=False,
            soft_wrap=True,
            show_line_numbers=False,
        )
        self.can_take_back = False
        """Whether a prompt is waiting that ↑ would bring back."""
        self._history: list[str] = []
        self._place = 0
        """Where in the history the text comes from; its length where it is one's own."""

    def remember(self, prompts: Sequence[str]) -> None:
        """Make these, oldest first, the prompts that ↑ goes through."""
        self._history = list(prompts)
        self._place = len(self._history)

    def put(self, text: str) -> None:
        """Put `text` before what is typed, so that neither is lost."""
        self.text = f"{text}\n{self.text}" if self.text.strip() else text
        self.move_cursor(self.document.end)

    def action_send(self) -> None:
        """Send what is typed, unless it is nothing but space."""
        text = encodable(self.text.strip("\n"))
        if not text.strip():
            return
        self._history.append(text)
        self._place = len(self._history)
        self.text = ""
        self.post_message(self.Sent(text))

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_earlier_prompt(self) -> None:
        """Fetch the prompt before, or the one that waits."""
        if not self.text and self.can_take_back:
            self.post_message(self.TakenBack())
        else:
            self._walk(-1)

    def action_later_prompt(self) -> None:
        """Fetch the prompt after."""
        self._walk(1)

    def action_leave(self) -> None:
        """Go to what lies before the prompt: the messages."""
        self.screen.focus_previous()

    def action_cursor_left(self, select: bool = False) -> None:
        """Move left, or ask for a guess less."""
        if self.text:
            super().action_cursor_left(select)
        else:
            self.post_message(self.Nudged(-1))

    def action_cursor_right(self, select: bool = False) -> None:
        """Move right, or ask for a guess more."""
        if self.text:
            super().action_cursor_right(select)
        else:
            self.post_message(self.Nudged(1))

    @on(events.Key)
    async def _act(self, event: events.Key) -> None:
        await act_in_turn(self, event)

    @on(events.Paste)
    def _clean(self, event: events.Paste) -> None:
        """Take control characters out of what is pasted before the text area inserts it."""
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        event.text = clean(text[:MOST_PASTED])

    def _walk(self, step: int) -> None:
        """Go through the history. Text that was changed stays, and the key moves the cursor in it."""
        place = self._place + step
        if not self._unchanged or not 0 <= place <= len(self._history):
            raise SkipAction
        self._place = place
        self.text = self._history[place] if place < len(self._history) else ""
        self.move_cursor(self.document.end)

    @property
    def _unchanged(self) -> bool:
        return self.text == (self._history[self._place] if self._place < len(self._history) else "")
