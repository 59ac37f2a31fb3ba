"""What the picker waits for is done here, in threads: models are looked for, and judged as drafts of a target."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from textual import work
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from specchat.app.last_pair import PairChoice, recent
from specchat.app.library import telling
from specchat.app.library.library import Library, Scales
from specchat.models.files.facts import Facts
from specchat.models.files.library import Model
from specchat.models.files.pairs import Offer

_PAUSE = 0.25
"""Seconds between two messages: to lay out a thousand rows takes a while."""


@dataclass(slots=True)
class Finding:
    """What the search has come to since it was last told of; `folders` since it began."""

    folders: int = 0
    models: list[Model] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    is_done: bool = False


class Finder(Widget):
    """Shows nothing. Whatever takes it off the screen ends its threads."""

    DEFAULT_CSS = "Finder { display: none; }"

    class Prepared(Message):
        """Pairs of before, and what pairs are weighed with."""

        def __init__(self, pairs: Sequence[PairChoice], scales: Scales) -> None:
            super().__init__()
            self.pairs = pairs
            self.scales = scales

    class Came(Message):
        """The search has come further."""

        def __init__(self, finding: Finding) -> None:
            super().__init__()
            self.finding = finding

    class Judged(Message):
        """Drafts for a target: all of them, or (not `is_done`) those that were quickly judged."""

        def __init__(self, target: Path, offers: Sequence[Offer], *, is_done: bool) -> None:
            super().__init__()
            self.target = target
            self.offers = offers
            self.is_done = is_done

    def __init__(self, library: Library, data: Path) -> None:
        super().__init__()
        self._library = library
        self._data = data

    @work(thread=True, exclusive=True, group="search")
    def search(self, present: PairChoice | None) -> None:
        """Find all models, and those of pairs that may lie elsewhere. A new search ends the one before."""
        worker = get_current_worker()
        pairs = recent(self._data)
        self.post_message(self.Prepared(pairs, self._library.scales()))
        named = [*([present] if present else []), *pairs]
        also = [path for pair in named for path in (pair.target, pair.draft) if path]
        finding, due = Finding(), 0.0
        with closing(self._library.models(also)) as steps:
            for step in steps:
                if worker.is_cancelled:
                    return
                finding.folders = step.folders
                finding.models += [step.model] if step.model else []
                finding.troubles += [telling.troubled(step.trouble)] if step.trouble else []
                if time.monotonic() >= due:
                    self.post_message(self.Came(finding))
                    finding, due = Finding(step.folders), time.monotonic() + _PAUSE
        finding.is_done = True
        self.post_message(self.Came(finding))

    @work(thread=True, exclusive=True, group="judging")
    def judge(self, target: Facts, models: Sequence[Model]) -> None:
        """Judge each of `models` as a draft. A new target ends the judging for the one before."""
        worker = get_current_worker()
        offers: list[Offer] = []
        due = time.monotonic() + _PAUSE
        for offer in self._library.offers(target, models):
            if worker.is_cancelled:
                return
            offers.append(offer)
            if time.monotonic() >= due:
                self.post_message(self.Judged(Path(target.path), tuple(offers), is_done=False))
                due = time.monotonic() + _PAUSE
        self.post_message(self.Judged(Path(target.path), offers, is_done=True))
