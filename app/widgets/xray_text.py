"""A reply under X-ray, set in lines: every token marked by its origin, rounds apart, rejected guesses struck through.

Neither colour nor a style that some terminals lack is the only mark: accepted guesses are underlined, a rejected guess
stands behind a `✗`, its replacement behind a `→`, a bonus behind a `+`, a plain token alone in its round. Unused
guesses aren't shown in the text, or little else could be read in it; `specchat.app.widgets.xray_facts` has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from specchat.app.chats.records import Step
from specchat.app.widgets.look import ACCEPTED, LABEL, PLAIN
from specchat.app.widgets.xray_tokens import Origin, Token, tokens_of, visible_piece
from specchat.app.words import _

BOUNDARY = "│"

STYLES: dict[Origin | None, str] = {
    Origin.ACCEPTED: f"underline {ACCEPTED}",
    Origin.REJECTED: f"strike {LABEL}",
    Origin.UNUSED: LABEL,
    Origin.REPLACEMENT: f"bold {PLAIN}",
    Origin.BONUS: PLAIN,
    Origin.PLAIN: "",
    None: LABEL,
}
"""How each origin is painted; None is for the marks between tokens."""

MARKS = {Origin.REJECTED: "✗", Origin.REPLACEMENT: "→", Origin.BONUS: "+"}


class Run(NamedTuple):
    """Some text of one style in one round."""

    text: str
    origin: Origin | None
    round: int


Line = list[Run]


class Layout:
    """A reply set in lines of at most `width` cells: its `lines`, and for each round the line it begins in."""

    def __init__(self, steps: Sequence[Step], width: int) -> None:
        setter = _Setter(max(width, 1))
        for number, step in enumerate(steps):
            for token in tokens_of(step):
                _set(token, number, setter)
            setter.append(Run(BOUNDARY, None, number))
        self.lines = setter.finish()
        self.first_lines: list[int] = []
        for y, line in enumerate(self.lines):
            while line and len(self.first_lines) <= line[-1].round:
                self.first_lines.append(y)


def paint(line: Line, current: int | None) -> Content:
    """A line with its styles, the round `current` reversed."""
    return Content.assemble(
        *((text, f"{STYLES[origin]} reverse" if round == current else STYLES[origin]) for text, origin, round in line)
    )


def legend() -> Content:
    """The marks and their words."""
    return Content("  ").join(
        [
            Content.styled(_("accepted"), STYLES[Origin.ACCEPTED]),
            Content.assemble(("✗", LABEL), (_("rejected"), STYLES[Origin.REJECTED])),
            Content.assemble(("→", LABEL), (_("replacement"), STYLES[Origin.REPLACEMENT])),
            Content.assemble(("+", LABEL), (_("bonus"), STYLES[Origin.BONUS])),
            Content.styled(_("plain"), STYLES[Origin.PLAIN]),
            Content.assemble((f"{BOUNDARY} ", LABEL), (_("end of a round"), LABEL)),
        ]
    )


def _set(token: Token, round: int, setter: _Setter) -> None:
    """Set one token: spaces before it unpainted, its mark, and the rest; what follows a newline goes below."""
    if token.origin is Origin.UNUSED:
        return
    mark = MARKS.get(token.origin, "")
    for number, (spaces, word) in enumerate(_parts(token.piece, token.origin is not Origin.REJECTED)):
        if number:
            setter.end_line()
        if spaces or mark:
            setter.put(Run(spaces + mark, None, round))
            setter.append(Run(word, token.origin, round))
            mark = ""
        elif word:
            setter.put(Run(word, token.origin, round))


@lru_cache(maxsize=4096)
def _parts(piece: bytes, breaks: bool) -> tuple[tuple[str, str], ...]:
    """The lines of a token, each as the spaces it begins with and the rest; one if newlines break none."""
    shown = visible_piece(piece)
    if shown.isspace():
        shown = "␣" * len(shown)
    lines = shown.split("\n") if breaks else [shown.replace("\n", "")]
    words = [line.lstrip(" ") for line in lines]
    return tuple((line[: len(line) - len(word)], word) for line, word in zip(lines, words, strict=True))


class _Setter:
    """Sets runs in lines. A line is broken only before a space, a wide character, or bytes written out."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: list[Line] = [[]]
        self._used = 0
        """Cells of the last line that are set."""
        self._word: Line = []
        """What must stay together."""
        self._cells = 0
        self._line_ends = False
        """A newline was set: whatever doesn't belong to it goes below."""

    def put(self, run: Run) -> None:
        """Set `run`, on the next line if the one before it is ended or full."""
        if self._line_ends:
            self._new_line()
        elif run.text.startswith((" ", "␣", "⟨")) or cell_len(run.text[:1]) > 1:
            self._end_word()
        self.append(run)

    def append(self, run: Run) -> None:
        """Set `run` so that it stays with what is before it."""
        self._word.append(run)
        self._cells += cell_len(run.text)

    def end_line(self) -> None:
        """What is put from now on goes below."""
        if self._line_ends:
            self._new_line()
        self._line_ends = True

    def finish(self) -> list[Line]:
        """All lines."""
        self._end_word()
        return self._lines

    def _new_line(self) -> None:
        self._end_word()
        self._start_line()
        self._line_ends = False

    def _start_line(self) -> None:
        self._lines.append([])
        self._used = 0

    def _end_word(self) -> None:
        if self._used and self._used + self._cells > self._width:
            self._start_line()
            first = self._word[0]
            if first.text.startswith(" "):  # the break stands for it
                self._word[0] = first._replace(text=first.text[1:])
                self._cells -= 1
        if self._cells <= self._width:
            self._lines[-1] += self._word
            self._used += self._cells
        else:
            self._chop_word()
        self._word, self._cells = [], 0

    def _chop_word(self) -> None:
        """Set what is longer than a line."""
        for run in self._word:
            for char in run.text:
                cells = cell_len(char)
                if self._used + cells > self._width:
                    self._start_line()
                self._lines[-1].append(run._replace(text=char))
                self._used += cells
