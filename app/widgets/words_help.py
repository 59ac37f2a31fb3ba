"""The words of the counter and the X-ray with their meanings: for tooltips and the help screen."""

from __future__ import annotations

from textual.content import Content

from specchat.app.widgets.look import LABEL, VALUE
from specchat.app.words import _

WORDS: tuple[tuple[str, str], ...] = (
    (
        _("target pass, passes"),
        _("one evaluation of the target while it writes a reply. Reading the prompt (prefill) is apart"),
    ),
    (_("draft run"), _("one evaluation of the draft model for one guess")),
    (_("drafted"), _("guesses sent to the target for checking")),
    (_("accepted"), _("guesses that are in the text")),
    (_("rejected"), _("the first guess of a round that the rule did not keep")),
    (_("unused"), _("guesses after a rejected one, or dropped where the reply ended")),
    (_("acceptance rate"), _("accepted ÷ drafted")),
    (
        _("α"),
        _(
            "how far the draft's distribution overlaps the target's, Σ min(p, q), averaged over the guessed positions "
            "by the chance to reach them"
        ),
    ),
    (_("c"), _("seconds of a draft run ÷ seconds of a target pass over one token")),
    (_("tokens per pass, each"), _("tokens written ÷ target passes; 1 without a draft")),
    (_("tok/s"), _("tokens written ÷ seconds of writing")),
    (
        _("without"),
        _(
            "the tok/s that the target would reach alone, from passes over single tokens measured on this machine, at "
            "this depth of context"
        ),
    ),
    (_("speed-up, est."), _("tok/s ÷ without. It is called an estimate (est.), because only one of the two was run")),
    (_("draft, verify, sampling, other"), _("where the seconds of writing went; they add up")),
    (_("context"), _("how full the target's context is: tokens in it after the last round ÷ those it can hold (ctx)")),
    (
        _("γ"),
        _("how many tokens are guessed in a round: a given number, or auto, which chooses it anew for each round"),
    ),
    (
        _("drafter"),
        _(
            "who guesses: the draft model, a lookup in the text so far, or nobody; with lookup + model it is lookup "
            "where the text repeats itself, else the model"
        ),
    ),
    (_("rule"), _("how guesses are kept or replaced: block weighs a round's guesses together, token one by one")),
    (
        _("pays"),
        _(
            "a guess pays if it is expected to save more time than it takes to draft and to check, by what was "
            "measured here. With γ auto none is made that doesn't"
        ),
    ),
    (_("plain"), _("a round in which the target writes alone, or a token written like that")),
    (_("measuring"), _("a few plain rounds now and then show what guesses must be compared with")),
    (_("unsure, match"), _("the draft finds its next guess too unlikely; lookup finds no more that is alike")),
    (_("room, allowed"), _("what is left of the reply or of the context; the most guesses that a round may hold")),
    (_("now"), _("tok/s over the last two seconds of writing")),
    (
        _("session on, off"),
        _(
            "sums since specchat was started: rounds with speculation on and off apart. They wrote different texts, "
            "so only a comparison (F4) measures"
        ),
    ),
    (_("round"), _("the guesses for one target pass, and what came of them")),
    (_("replacement"), _("the target's token in the place of a rejected guess")),
    (_("bonus"), _("the target's token after guesses that were all accepted")),
    (_("padding"), _("tokens of no meaning that widen a pass, where a wider one is cheaper")),
)
"""Each word with its meaning, in the order in which the help screen lists them."""

_MEANINGS = dict(WORDS)


def explain(*words: str) -> Content:
    """The meanings of `words`, a line each. Raises `KeyError` for a word that the table doesn't have."""
    lines = [Content.assemble((word, VALUE), ("  ", ""), (_MEANINGS[word], LABEL)) for word in words]
    return Content("\n").join(lines)
