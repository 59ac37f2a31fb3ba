"""What kind of text a prompt of an ordinary chat asks for, as far as it matters to guessing."""

from __future__ import annotations

PASTED = 1000
"""Characters from which a prompt counts as pasted text."""


def kind_of(prompt: str, reply: str = "") -> str:
    """`code` where a block of code is in either, `pasted` for long prompts, else `chat`. The same in any language.

    Code is easy to guess, and a reply to pasted text often repeats it, which lookup finds. Kinds that a person would
    tell apart beyond that (a story, a list) can't be known without understanding the text.
    """
    if "```" in prompt or "```" in reply:
        return "code"
    return "pasted" if len(prompt) >= PASTED else "chat"
