"""What the picker has to offer, without a screen: models, pairs and drafts as rows, filtered and sorted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from specchat.app.last_pair import PairChoice
from specchat.app.library import telling
from specchat.app.library.library import Scales
from specchat.app.sentences import N_
from specchat.app.widgets.model_list import Row
from specchat.app.words import _, visible
from specchat.models.files.library import Model
from specchat.models.files.pairs import Offer, best_first, suggestions

LOOKUP, NONE = "lookup", "none"
"""Keys of the two rows that stand for no draft model."""

_SORTS: tuple[tuple[str, Callable[[Model], object]], ...] = (
    (N_("by name"), lambda _model: 0),
    (N_("largest first"), lambda model: -model.found.size),
    (N_("newest first"), lambda model: -model.found.changed),
)


@dataclass(frozen=True, slots=True)
class PairKey:
    """The key of a row that stands for a whole pair."""

    target: Path
    draft: Path


@dataclass(slots=True)
class Shelf:
    """Models come in while they are found. `present` is the pair in use; `recent` are pairs of before."""

    present: PairChoice | None
    recent: Sequence[PairChoice] = ()
    models: dict[Path, Model] = field(default_factory=dict)
    scales: Scales | None = None
    _sort: int = 0

    def put(self, models: Iterable[Model]) -> None:
        """Have more models, or others in the place of those with their paths."""
        self.models |= {model.path: model for model in models}

    def sort_next(self) -> None:
        """Sort targets in another way."""
        self._sort = (self._sort + 1) % len(_SORTS)

    @property
    def order(self) -> str:
        """How targets are sorted, in words."""
        return _(_SORTS[self._sort][0])

    @property
    def is_newcomers(self) -> bool:
        """Whether nothing has been chosen yet: no pair before, and now nothing but what comes with specchat."""
        own = self.models.get(self.present.target) if self.present else None
        return not self.recent and (self.present is None or (own is not None and own.found.source == "specchat"))

    def pairs(self) -> list[tuple[Model, Model]]:
        """Recent pairs; some that may be worth a try where there are none."""
        known = self.models
        if self.recent:
            paths = [(pair.target, pair.draft) for pair in self.recent if pair.draft is not None]
            found = [(known.get(target), known.get(draft)) for target, draft in paths]
            return [(target, draft) for target, draft in found if target and draft and target.facts and draft.facts]
        scales = self.scales
        if scales is None:
            return []
        targets = [model for model in known.values() if model.found.source != "specchat"]
        return suggestions(targets, known.values(), lambda target, draft: scales(target, draft).verdict != "no")

    def target_rows(self, typed: str) -> list[Row]:
        """Pairs, then all models, those that hold what is typed."""
        pairs = [row for row in map(self._pair_row, self.pairs()) if _holds(f"{row.name} {row.partner}", typed)]
        kept = [model for model in self.models.values() if _holds(_searched(model), typed)]
        rows = [Row(None, _("recent pairs") if self.recent else _("pairs to try")), *pairs] if pairs else []
        if pairs and kept:
            rows.append(Row(None, _("models")))
        return [*rows, *map(self._target_row, sorted(kept, key=self._place))]

    def draft_rows(self, offers: Sequence[Offer] | None, typed: str) -> list[Row]:
        """Drafts that work, best first; then doing without a model; then those that can't work. None: being judged."""
        words = [
            Row(LOOKUP, _("prompt lookup: guesses from the text before")),
            Row(NONE, _("no draft: the target writes alone")),
        ]
        words = [row for row in words if _holds(row.name, typed)]
        if offers is None:
            return [Row(None, _("comparing …")), *words]
        kept = [offer for offer in best_first(offers) if _holds(_searched(offer.model), typed)]
        works = [self._draft_row(offer) for offer in kept if offer.works]
        return [*works, *words, *(self._draft_row(offer) for offer in kept if not offer.works)]

    def preferred(self) -> Hashable:
        """Where the cursor begins among the targets: on the present one; for newcomers on a pair worth trying."""
        if self.is_newcomers and (pairs := self.pairs()):
            return PairKey(pairs[0][0].path, pairs[0][1].path)
        return self.present.target if self.present else None

    def _pair_row(self, pair: tuple[Model, Model]) -> Row:
        target, draft = pair
        key = PairKey(target.path, draft.path)
        return Row(key, visible(target.found.name), partner=visible(draft.found.name))

    def _target_row(self, model: Model) -> Row:
        facts = model.facts
        figures = (telling.short_parameters(facts), visible(facts.quantisation)) if facts else ("", "")
        is_present = self.present is not None and model.path == self.present.target
        mark = "●" if is_present else " " if facts else "✗"
        columns = (*figures, telling.size(model.found.size))
        return Row(model.path, visible(model.found.name), columns, mark, is_off=facts is None)

    def _draft_row(self, offer: Offer) -> Row:
        model = offer.model
        name = visible(model.found.name)
        if not offer.works:
            return Row(model.path, f"{name} · {telling.against(offer, names_it=False)}", mark="✗", is_off=True)
        is_present = self.present is not None and model.path == self.present.draft
        columns = (telling.size(model.found.size), telling.brief_promise(offer))
        return Row(model.path, name, columns, "●" if is_present else "✓")

    def _place(self, model: Model) -> tuple[object, ...]:
        return (model.facts is None, _SORTS[self._sort][1](model), model.found.name.casefold(), str(model.path))


def _searched(model: Model) -> str:
    """What typing finds a model by."""
    facts = model.facts
    figures = f"{facts.architecture} {facts.quantisation} {facts.name}" if facts else ""
    return f"{model.found.name} {model.found.origin} {figures}"


def _holds(text: str, typed: str) -> bool:
    return all(word in text.casefold() for word in typed.casefold().split())
