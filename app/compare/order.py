"""What is to be compared: which drafts, on which prompts, how often."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specchat.app.bench.choices import Choices
from specchat.app.bench.prompts import Prompt
from specchat.app.bench.runner import Job
from specchat.app.bench.sides import LOOKUP, plan
from specchat.app.conversation import Conversation
from specchat.app.history.records import Source
from specchat.settings.values import Gamma

FIRST_SEED = 1
REPEATS = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class Order:
    """A comparison that somebody wants. `drafts` are files' paths and `LOOKUP`, at least one, each once."""

    source: Source
    prompts: tuple[Prompt, ...]
    drafts: tuple[str, ...]
    gamma: Gamma
    repeats: int


def order_for(conversation: Conversation, prompt: Prompt, repeats: int) -> Order:
    """The prompt without and with what guesses in the chat; with what could, where nothing is to guess."""
    gamma = conversation.speculation.gamma
    return Order("compare", (prompt,), (guessing(conversation),), gamma or "auto", repeats)


def guessing(conversation: Conversation) -> str:
    """The draft's file, or `LOOKUP`."""
    loaded = conversation.loaded
    draft = loaded.draft.path if loaded and loaded.draft else None
    if draft is None and loaded is None and conversation.draft:
        draft = str(conversation.draft.absolute())
    return LOOKUP if draft is None or conversation.drafter == "lookup" else draft


def job_of(order: Order, conversation: Conversation, most_tokens: int | None = None) -> Job:
    """The replies to be written for it, under the settings of the chat, as `specchat bench` would write them."""
    settings = conversation.settings
    seed, most = settings.sampling.seed, most_tokens or Choices().max_tokens
    allowed = settings.reply.max_tokens or most
    return Job(
        target=str(conversation.target.absolute()),
        steps=plan(order.drafts, (order.gamma,), order.prompts, order.repeats),
        settings=replace(settings, speculation=conversation.speculation),
        max_tokens=min(most, allowed),
        seed=FIRST_SEED if seed < 0 else seed,
    )
