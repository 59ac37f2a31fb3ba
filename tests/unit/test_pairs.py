"""Drafts in the order in which one would try them, and pairs for those who haven't chosen any."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from specchat.models.files.facts import Facts, read_facts
from specchat.models.files.facts_cache import Refusal
from specchat.models.files.found import Found
from specchat.models.files.judging import PairVerdict
from specchat.models.files.library import Model
from specchat.models.files.pairs import Offer, best_first, offers, suggestions
from support.tiny_gguf import write_tiny_llama
from support.tiny_vocabulary import byte_vocabulary


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return read_facts(write_tiny_llama(tmp_path_factory.mktemp("tiny") / "a.gguf", template="x"))


def model(name: str, known: Facts | Refusal) -> Model:
    return Model(Found(Path(f"/{name}.gguf"), name, "folder", 1, 1), known)


def offer(name: str, c: float, measured: float | None = None, code: str = "") -> Offer:
    return Offer(model(name, Refusal("x", {})), PairVerdict(code, {}, c), measured)


def of_size(facts: Facts, size: int, **changes: object) -> Facts:
    return msgspec.structs.replace(facts, active_size=size, path=f"/{size}", **changes)


def test_measured_help_comes_first_then_the_cheapest_then_what_hurts_then_what_is_too_dear_then_what_cannot() -> None:
    found = [
        offer("cannot", 0.01, code="pair_differs"),
        offer("too dear", 1.5),
        offer("hurts", 0.1, 0.8),
        offer("dear", 0.4),
        offer("cheap", 0.1),
        offer("helps", 0.5, 1.2),
        offer("helps more", 0.6, 1.6),
        offer("also cannot", float("inf"), code="file_empty"),
    ]
    names = [found.model.found.name for found in best_first(found)]
    assert names == ["helps more", "helps", "cheap", "dear", "hurts", "too dear", "also cannot", "cannot"]


def test_those_that_need_no_vocabulary_read_are_judged_first(tiny: Facts, tmp_path: Path) -> None:
    other = read_facts(write_tiny_llama(tmp_path / "b.gguf", vocabulary=byte_vocabulary(("other",))))
    models = [model("other", other), model("same", tiny), model("broken", Refusal("file_empty", {"path": "/x"}))]
    judged = list(offers(tiny, models, lambda _target, draft: 1.5 if draft == Path("/same.gguf") else None))
    assert [(found.model.found.name, found.verdict.code, found.measured) for found in judged] == [
        ("same", "", 1.5),
        ("broken", "file_empty", None),
        ("other", "pair_differs", None),
    ]


def test_suggested_are_the_largest_targets_that_fit_with_their_cheapest_drafts(tiny: Facts) -> None:
    sizes = {"huge": 10_000, "big": 1000, "middle": 400, "small": 100}
    models = [model(name, of_size(tiny, size)) for name, size in sizes.items()]
    models += [model("mute", of_size(tiny, 900, has_template=False)), model("broken", Refusal("file_empty", {}))]
    found = suggestions(models, models, lambda target, _draft: target.active_size < 5000)
    names = [(target.found.name, draft.found.name) for target, draft in found]
    assert names == [("big", "small"), ("middle", "small")]
    assert suggestions(models[3:4], models, lambda *_pair: True) == []


def test_no_draft_of_another_vocabulary_is_suggested(tiny: Facts) -> None:
    other = msgspec.structs.replace(tiny.vocabulary, digest="other")
    target, draft = model("big", of_size(tiny, 1000)), model("small", of_size(tiny, 10, vocabulary=other))
    assert suggestions([target], [draft], lambda *_pair: True) == []
