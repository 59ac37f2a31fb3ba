"""`specchat lab`: the Lab on a screen of its own, or one figure's numbers and picture without any screen."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from specchat.app.lab.arguments import LabArguments
from specchat.app.lab.choices import Choices
from specchat.app.lab.costs import CostToy
from specchat.app.lab.lab import Lab
from specchat.app.lab.laws import LawToy
from specchat.app.lab.page import View
from specchat.app.lab.rounds import RoundsToy
from specchat.app.lab.speed import SpeedToy
from specchat.app.lab.svg import WIDTH, as_svg
from specchat.app.status import FAILED, USAGE
from specchat.app.streams import complain
from specchat.app.words import _, sentence
from specchat.settings.paths import find_paths


def run(arguments: LabArguments) -> int:
    """Carry out `specchat lab`; returns the exit status."""
    if arguments.print is None:
        return _show(arguments)
    page, view = arguments.print, _view(arguments.print, arguments.choices)
    if arguments.svg is not None:
        title = Lab().pages[page - 1].title
        try:
            arguments.svg.write_text(as_svg(title, view.figure(WIDTH), view.words()), encoding="utf-8")
        except OSError as error:
            reason = error.strerror or str(error)
            complain(sentence("file_unwritable", {"path": str(arguments.svg), "reason": reason}))
            return FAILED
    numbers = {"page": page, **view.numbers()}
    print(json.dumps(numbers, ensure_ascii=False) if arguments.json else "\n".join(_lines(numbers)))
    return 0


def _view(page: int, choices: Choices) -> View:
    """The page's toy, set as was asked for."""
    match page:
        case 1:
            return CostToy(choices.others)
        case 2:
            rounds = RoundsToy(int(choices.text == "verse"), choices.gamma)
            if choices.guesser != "usual":
                rounds.is_good = choices.guesser == "good"
            rounds.shown = len(rounds.rounds)
            return rounds
        case 3:
            return LawToy(None if choices.similarity < 0 else choices.similarity)
        case 4:
            return SpeedToy(choices.alpha, choices.c, choices.gamma)
        case _:
            return Lab().pages[page - 1].toy


def _lines(numbers: Mapping[str, Any]) -> Iterator[str]:
    """A line for each number, its name first."""
    for name, value in numbers.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for row in value:
                yield " · ".join(str(item) for item in row.values())
        else:
            yield f"{name}  {' '.join(map(str, value)) if isinstance(value, list) else value}"


def _show(arguments: LabArguments) -> int:
    """Open the Lab on the screen, with what was measured here before."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        complain(_("The Lab needs a terminal; `specchat lab --print 1` prints the numbers of its first figure."))
        return USAGE
    from specchat.app.chat import report_error
    from specchat.app.lab.kept import kept_measurements
    from specchat.app.screens.lab_alone import LabApp

    paths = find_paths(os.environ)
    app = LabApp(asyncio.run(kept_measurements(paths.chats_file)), arguments.look)
    app.run()
    if app.error is not None:
        return report_error(app.error, paths)
    return app.return_code or 0
