"""A chat that is open: its messages, as the store has them, and what a person says in it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace

from specchat.app.chats.records import Chat, Message, StoreError
from specchat.app.chats.store import Store
from specchat.app.chats.titles import title_of


@dataclass
class OpenChat:
    """A reply goes to the chat it was asked for in, even if another is opened meanwhile."""

    store: Store
    chat: Chat | None = None
    """None until the first message of a new one is said."""
    messages: list[Message] = field(default_factory=list)

    async def say(self, text: str) -> None:
        """Save what a person says, and add it to the messages. Raises `StoreError`."""
        if self.chat is None:
            self.chat, message = await self.store.start_chat(title_of(text), text)
        else:
            message = Message(0, self.chat.id, "user", text)
            message = replace(message, id=await self.store.save(message))
        self.messages.append(message)

    async def unsay(self) -> None:
        """Forget the latest message, which nobody has heard, and with it a chat that holds no other."""
        message = self.messages.pop()
        if not self.messages:
            self.chat = None
        with suppress(StoreError):  # what the message came to nothing by is what a person must hear of
            await self.store.forget(message)

    async def set_aside(self, code: str) -> None:
        """Keep the latest message, which the engine failed to answer, out of later prompts: it might fail there too."""
        refused = replace(self.messages[-1], state="cut", stop_reason=code)
        self.messages[-1] = refused
        with suppress(StoreError):  # likewise
            await self.store.save(refused)


@dataclass
class LastReply:
    """The reply that the engine wrote last: the chat it is in, and how many tokens it has."""

    chat: OpenChat | None = None
    tokens: int = 0
