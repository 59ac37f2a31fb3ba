"""Which drafts go with a target, best first, and why the others don't."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from specchat.models.files.facts import Facts
from specchat.models.files.judging import PairVerdict, judge_pair
from specchat.models.files.library import Model

Measured = Callable[[Path, Path], float | None]
"""The speed-up that was measured for a target and a draft on this machine; None if none was."""

WORTH_TRYING = 0.5
"""The largest expected c at which a pair is suggested to those who haven't chosen one: above it little can be won."""

_LOOKED_AT = 30
"""So many of the largest targets are weighed for a suggestion: each takes a moment."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A model as a draft for a target. `measured` is the speed-up it brought here before; None if that isn't known."""

    model: Model
    verdict: PairVerdict
    measured: float | None = None

    @property
    def works(self) -> bool:
        """Whether it can guess for the target."""
        return self.verdict.works


def offers(target: Facts, models: Iterable[Model], measured: Measured | None = None) -> Iterator[Offer]:
    """Each of `models` as a draft for `target`, those first that are judged without reading a vocabulary.

    Waits for the disk: up to a fifth of a second for each vocabulary that differs from the target's.
    """
    for model in sorted(models, key=lambda model: _is_dear(target, model)):
        refusal, draft = model.refusal, model.facts
        if refusal is not None:
            yield Offer(model, PairVerdict(refusal.code, refusal.params, float("inf")))
        elif draft is not None:
            brought = measured(Path(target.path), model.path) if measured else None
            yield Offer(model, judge_pair(target, draft), brought)


def best_first(found: Iterable[Offer]) -> list[Offer]:
    """In the order in which one would try them.

    First what was measured to help, most first; then what wasn't measured, by expected c; then what was measured to
    hurt, and what costs as much as the target itself; in the end what can't work.
    """
    return sorted(found, key=_place)


def suggestions(
    targets: Iterable[Model], drafts: Iterable[Model], fits: Callable[[Facts, Facts], bool], most: int = 3
) -> list[tuple[Model, Model]]:
    """Pairs for those who haven't chosen one: the largest of `targets` that fit, each with its cheapest draft.

    Only models of equal vocabularies are paired, so no file is read.
    """
    cheapest: dict[str, tuple[Model, Facts]] = {}
    for draft, facts in sorted(_able(drafts), key=_weight):
        cheapest.setdefault(facts.vocabulary.digest, (draft, facts))
    pairs: list[tuple[Model, Model]] = []
    for target, facts in sorted(_able(targets), key=_weight, reverse=True)[:_LOOKED_AT]:
        draft, theirs = cheapest.get(facts.vocabulary.digest, (target, facts))
        is_cheap = theirs.active_size <= WORTH_TRYING * facts.active_size
        if len(pairs) < most and is_cheap and fits(facts, theirs):
            pairs.append((target, draft))
    return pairs


def _able(models: Iterable[Model]) -> list[tuple[Model, Facts]]:
    """Those that can chat and take tokens back."""
    known = [(model, model.facts) for model in models]
    return [(model, facts) for model, facts in known if facts and facts.has_template and facts.rolls_back]


def _weight(entry: tuple[Model, Facts]) -> int:
    return entry[1].active_size


def _is_dear(target: Facts, model: Model) -> bool:
    draft = model.facts
    if draft is None:
        return False
    ours, theirs = target.vocabulary, draft.vocabulary
    return ours.kind == theirs.kind and ours.digest != theirs.digest


def _place(offer: Offer) -> tuple[int, float, str]:
    name = offer.model.found.name.casefold()
    c, measured = offer.verdict.expected_c, offer.measured
    if not offer.works:
        return (4, 0.0, name)
    if measured is not None:
        return (0 if measured >= 1 else 2, -measured, name)
    return (1 if c < 1 else 3, c, name)
