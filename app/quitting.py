"""How a person leaves, and what becomes of the chats then."""

from __future__ import annotations

from specchat.app.conversation import Conversation
from specchat.app.words import _


def how_to_quit(how: str, conversation: Conversation) -> str:
    """The sentence `how`, and one on what is kept."""
    if conversation.store.is_on_disk:
        return " ".join([how, _("Everything is on disk already.")])
    return " ".join([how, _("What couldn't be kept on disk is lost then.")])
