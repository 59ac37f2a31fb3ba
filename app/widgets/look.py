"""The few styles of the screens, as Textual style strings. Each comes with a mark or a word that says the same."""

from __future__ import annotations

import string

from textual.content import Content

ACCEPTED = "$text-success"
"""Accepted guesses, and all that speculation brings."""
PLAIN = "$text-primary"
"""The target's own tokens, and decoding without guesses."""
LABEL = "dim"
VALUE = "bold"


def labelled(template: str, **values: str) -> Content:
    """`template` with its `{name}`s filled in: what is filled in bright, the rest dim."""
    return Content.assemble(
        *(
            part
            for literal, name, _spec, _conversion in string.Formatter().parse(template)
            for part in ((literal, LABEL), (values[name] if name else "", VALUE))
        )
    )
