"""What may be set of a figure on the command line, declared as settings are. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from specchat.settings.schema import Setting, setting, settings_of

TextName = Literal["days", "verse"]
DraftName = Literal["usual", "good", "weak"]


@dataclass(frozen=True, slots=True)
class Choices:
    """The figures' sliders."""

    others: int = setting(0, "Page 1: other users at the same time.", minimum=0, maximum=20)
    text: TextName = setting("days", "Page 2: which text is written.")
    guesser: DraftName = setting("usual", "Page 2: which draft guesses; usual: good for the days, weak for the verse.")
    gamma: int = setting(4, "Pages 2 and 4: guesses in a pass.", minimum=1, maximum=12)
    similarity: float = setting(
        -1,
        "Page 3: how alike draft and target are, from 0 to 1; -1 is the example of five words.",
        minimum=-1,
        maximum=1,
    )
    alpha: float = setting(0.7, "Page 4: the chance that a guess is kept.", minimum=0, maximum=1)
    c: float = setting(0.1, "Page 4: what a guess costs, as a share of a pass.", minimum=0, maximum=10)


LAB_CHOICES: tuple[Setting, ...] = settings_of("lab", Choices)

OF_PAGE: Mapping[int, Collection[str]] = {
    1: {"others"},
    2: {"text", "guesser", "gamma"},
    3: {"similarity"},
    4: {"gamma", "alpha", "c"},
}
"""Which of them are whose; the other pages have none."""
