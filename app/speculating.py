"""The switches of speculation: each changes one thing from the next round on, and says in a sentence what holds now."""

from __future__ import annotations

from specchat.app.conversation import Conversation
from specchat.app.words import _, plural
from specchat.models.engine.messages import DrafterName
from specchat.settings.values import RuleName

_NEXT: dict[DrafterName, DrafterName] = {"model": "lookup", "lookup": "none", "none": "model"}


def toggle(conversation: Conversation) -> str:
    """Turn speculation on or off."""
    return switch(conversation, not conversation.speculation.enabled)


def switch(conversation: Conversation, enabled: bool) -> str:
    """Turn speculation on, or off."""
    conversation.change(enabled=enabled)
    if enabled:
        return _("Speculation is on from the next round on.")
    return _("Speculation is off from the next round on: the target writes alone.")


def step_gamma(conversation: Conversation, step: int) -> str:
    """Guess `step` tokens more in a round."""
    return guess(conversation, conversation.speculation.gamma + step)


def guess(conversation: Conversation, gamma: int) -> str:
    """Guess `gamma` tokens in a round, or the next number of them that can be."""
    conversation.change(gamma=gamma)
    gamma = conversation.speculation.gamma
    return plural("{count} guess a round (γ) from now on.", "{count} guesses a round (γ) from now on.", gamma).format(
        count=gamma
    )


def next_drafter(conversation: Conversation) -> str:
    """Let something else guess. The model is passed over where there is none."""
    drafter = _NEXT[conversation.drafter]
    if drafter == "model" and conversation.draft is None:
        drafter = _NEXT[drafter]
    return let_guess(conversation, drafter)


def let_guess(conversation: Conversation, drafter: DrafterName) -> str:
    """Let `drafter` guess, unless it is a model that isn't there."""
    if drafter == "model" and conversation.draft is None:
        return _("There is no draft model here that could guess.")
    conversation.change(drafter=drafter)
    said = {
        "model": _("The draft model guesses from the next round on."),
        "lookup": _("Guesses are looked up in the text so far, from the next round on."),
        "none": _("Nobody guesses: the target writes alone."),
    }
    return said[drafter]


def next_rule(conversation: Conversation) -> str:
    """Keep or replace guesses by the other rule."""
    return judge_by(conversation, "token" if conversation.speculation.rule == "block" else "block")


def judge_by(conversation: Conversation, rule: RuleName) -> str:
    """Keep or replace guesses by `rule`."""
    conversation.change(rule=rule)
    if rule == "block":
        return _("A round's guesses are judged together (block rule).")
    return _("Guesses are judged one by one (token rule).")
