"""The switches of speculation: each changes one thing from the next round on, and says in a sentence what holds now."""

from __future__ import annotations

from specchat.app.conversation import Conversation
from specchat.app.words import _, plural
from specchat.models.engine.messages import DrafterName
from specchat.settings.values import Gamma, RuleName

FIRST_GAMMA = 3
"""Guesses a round where a person takes the choice over from `auto`."""

_NEXT: dict[DrafterName, DrafterName] = {"both": "model", "model": "lookup", "lookup": "none", "none": "both"}
_BY_MODEL = ("both", "model")


def toggle(conversation: Conversation) -> str:
    """Turn speculation on or off."""
    return switch(conversation, not conversation.speculation.enabled)


def switch(conversation: Conversation, enabled: bool) -> str:
    """Turn speculation on, or off."""
    conversation.change(enabled=enabled)
    if enabled:
        return _unless_in_vain(conversation, _("Speculation is on from the next round on."))
    return _("Speculation is off from the next round on: the target writes alone.")


def step_gamma(conversation: Conversation, step: int) -> str:
    """Guess `step` tokens more in a round. Less than 0 is auto; from there every step goes to `FIRST_GAMMA`."""
    gamma = conversation.speculation.gamma
    gamma = FIRST_GAMMA if gamma == "auto" else gamma + step
    said = guess(conversation, gamma if gamma >= 0 else "auto")
    return said if gamma < 0 else " ".join([said, _("Fewer than 0 is auto.")])


def guess(conversation: Conversation, gamma: Gamma) -> str:
    """Guess `gamma` tokens in a round, or the next number of them that can be."""
    conversation.change(gamma=gamma)
    gamma = conversation.speculation.gamma
    if gamma == "auto":
        return _unless_in_vain(conversation, _("As many guesses a round as pay from now on (γ auto)."))
    said = plural("{count} guess a round (γ) from now on.", "{count} guesses a round (γ) from now on.", gamma)
    return _unless_in_vain(conversation, said.format(count=gamma)) if gamma else said.format(count=gamma)


def next_drafter(conversation: Conversation) -> str:
    """Let something else guess. The model is passed over where there is none."""
    drafter = _NEXT[conversation.drafter]
    while drafter in _BY_MODEL and not _has_model(conversation):
        drafter = _NEXT[drafter]
    return let_guess(conversation, drafter)


def let_guess(conversation: Conversation, drafter: DrafterName) -> str:
    """Let `drafter` guess, unless it is a model that isn't there."""
    if drafter in _BY_MODEL and not _has_model(conversation):
        return _("There is no draft model here that could guess.")
    conversation.change(drafter=drafter)
    said = {
        "both": _("Guesses are looked up where the text repeats itself, else the draft model guesses."),
        "model": _("The draft model guesses from the next round on."),
        "lookup": _("Guesses are looked up in the text so far, from the next round on."),
        "none": _("Nobody guesses: the target writes alone."),
    }
    return said[drafter] if drafter == "none" else _unless_in_vain(conversation, said[drafter])


def _unless_in_vain(conversation: Conversation, said: str) -> str:
    """`said`, and what keeps anybody from guessing all the same, if there is something."""
    if not conversation.speculation.enabled:
        return " ".join([said, _("But speculation is off.")])
    if conversation.guessing == "none":
        return " ".join([said, _("But nobody guesses.")])
    if conversation.speculation.gamma == 0:
        return " ".join([said, _("But with γ 0 nothing is guessed.")])
    return said


def _has_model(conversation: Conversation) -> bool:
    """Whether a draft model is loaded, or will be with the target."""
    loaded = conversation.loaded
    return loaded.draft is not None if loaded else conversation.draft is not None


def next_rule(conversation: Conversation) -> str:
    """Keep or replace guesses by the other rule."""
    return judge_by(conversation, "token" if conversation.speculation.rule == "block" else "block")


def judge_by(conversation: Conversation, rule: RuleName) -> str:
    """Keep or replace guesses by `rule`."""
    conversation.change(rule=rule)
    if rule == "block":
        return _("A round's guesses are judged together (block rule).")
    return _("Guesses are judged one by one (token rule).")
