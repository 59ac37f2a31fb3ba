"""What `specchat models … --json` prints: plain objects with the words of the rest of specchat. Sizes in bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from specchat.app.library import telling
from specchat.app.library.library import Needs
from specchat.models.files.found import Trouble
from specchat.models.files.library import Model
from specchat.models.files.memory import Fit
from specchat.models.files.pairs import Offer

_FACTS = (
    *("name", "architecture", "parameters", "active_parameters", "quantisation", "ctx_trained", "has_template"),
    *("thinks", "licence", "layers", "experts", "rolls_back"),
)


def model_document(model: Model) -> dict[str, Any]:
    """A model that was found, its facts, or why it can't be chatted with (`code`, `reason`)."""
    found, facts, refusal = model.found, model.facts, model.refusal
    return {
        "path": _text(found.path),
        "name": _text(found.name),
        "source": found.source,
        "origin": _text(found.origin),
        "size": found.size,
        "parts": found.parts,
        "works": facts is not None,
        "code": refusal.code if refusal else None,
        "reason": telling.refused(model) or None,
        "facts": _facts(model),
    }


def _facts(model: Model) -> dict[str, Any] | None:
    facts = model.facts
    if facts is None:
        return None
    return {name: getattr(facts, name) for name in _FACTS}


def offer_document(offer: Offer) -> dict[str, Any]:
    """A draft for a target. `expected_c` is None where it isn't known."""
    verdict = offer.verdict
    return {
        "path": _text(offer.model.path),
        "works": offer.works,
        "code": verdict.code or None,
        "reason": telling.against(offer) or None,
        "expected_c": verdict.expected_c if offer.model.facts else None,
        "measured_speedup": offer.measured,
    }


def need_document(model: Model, needs: Needs) -> dict[str, Any] | None:
    """What a model alone takes in memory, whatever is free. Bytes."""
    if model.facts is None:
        return None
    need = needs(model.facts)
    return {
        "ctx": need.ctx,
        "total": need.total,
        "weights": need.weights,
        "cache": need.kv,
        "buffers": need.compute,
    }


def fit_document(fit: Fit) -> dict[str, Any]:
    """What a pair, or a target alone, takes in memory. Bytes."""
    needs = [need for need in (fit.target, fit.draft) if need]
    return {
        "verdict": fit.verdict,
        "ctx": fit.target.ctx,
        "total": sum(need.total for need in needs),
        "weights": sum(need.weights for need in needs),
        "cache": sum(need.kv for need in needs),
        "buffers": sum(need.compute for need in needs),
        "gpu": fit.gpu,
        "ram": fit.ram,
        "target_gpu_layers": fit.target.gpu_layers,
        "layers": fit.target.layers,
        "free_ram": fit.free.ram,
        "free_gpu": fit.free.gpu,
    }


def trouble_document(trouble: Trouble) -> dict[str, Any]:
    """Why a folder was not looked through."""
    return {"code": trouble.code, "reason": telling.troubled(trouble), **trouble.params}


def _text(text: str | Path) -> str:
    """What JSON can hold of a name that may be no Unicode."""
    return str(text).encode(errors="replace").decode()
