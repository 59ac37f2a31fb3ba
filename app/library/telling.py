"""What is said of a model and of a pair: the same words in the picker and on the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping

from specchat.app.library.library import Scales
from specchat.app.sentences import N_
from specchat.app.words import _, plural, sentence, visible
from specchat.models.errors import Params
from specchat.models.files.facts import Facts
from specchat.models.files.found import Trouble
from specchat.models.files.library import Model
from specchat.models.files.memory import Fit
from specchat.models.files.pairs import Offer
from specchat.models.files.places import Source

SOURCES: Mapping[Source, str] = {
    "huggingface": N_("Hugging Face"),
    "lmstudio": N_("LM Studio"),
    "ollama": N_("Ollama"),
    "llamacpp": N_("llama.cpp"),
    "jan": N_("Jan"),
    "folder": N_("folder"),
    "specchat": N_("specchat"),
}
"""Who keeps a model."""

_NOWHERE = ("file_missing", "models_alike")
"""Codes of models that are no file, so that nothing can be said but that."""


def size(count: int) -> str:
    """A file's size as those who offer models state it: `98 MB`, `4.7 GB`."""
    if count >= 1e9:
        return _("{size:.1f} GB").format(size=count / 1e9)
    if count >= 1e6:
        return _("{size:.0f} MB").format(size=count / 1e6)
    return _("{size:.0f} kB").format(size=math.ceil(count / 1e3))


def parameters(facts: Facts) -> str:
    """`8.2B`; of a mixture of experts `30.5B (3.3B active)`."""
    total = _count(facts.parameters)
    if facts.experts and facts.active_parameters < facts.parameters:
        return _("{total} ({active} active)").format(total=total, active=_count(facts.active_parameters))
    return total


def short_parameters(facts: Facts) -> str:
    """`8.2B`, for a column."""
    return _count(facts.parameters)


def described(facts: Facts) -> str:
    """`qwen3 · 8.2B · Q4_K_M · 40,960 tokens of context · chat template · thinks · apache-2.0`."""
    parts = [
        visible(facts.architecture),
        parameters(facts),
        visible(facts.quantisation),
        plural("{count:,} token of context", "{count:,} tokens of context", facts.ctx_trained).format(
            count=facts.ctx_trained
        ),
        _("chat template") if facts.has_template else _("no chat template"),
        *([_("thinks")] if facts.thinks else []),
        *([visible(facts.licence)] if facts.licence else []),
    ]
    return " · ".join(part for part in parts if part)


def located(model: Model) -> str:
    """Who keeps it, its size and its path: `Ollama · 1.3 GB · /home/…`."""
    found = model.found
    parts = [_(SOURCES[found.source]), size(found.size)]
    if found.parts > 1:
        parts.append(plural("{count} file", "{count} files", found.parts).format(count=found.parts))
    return " · ".join([*parts, visible(str(found.path))])


def refused(model: Model, *, names_it: bool = True) -> str:
    """Why a model can't be chatted with; empty if it can. Without `names_it`, it is “the model”, if it is there."""
    refusal = model.refusal
    if refusal is None:
        return ""
    return _sentence(refusal.code, refusal.params, names_it=names_it or refusal.code in _NOWHERE)


def against(offer: Offer, *, names_it: bool = True) -> str:
    """Why a draft can't work; empty if it can."""
    verdict = offer.verdict
    return "" if verdict.works else _sentence(verdict.code, verdict.params, names_it=names_it)


def promise(offer: Offer) -> str:
    """What a draft that works may bring: `works · c 0.08 expected · 1.52× measured here`."""
    parts = [_("It can guess for this target"), _("expected c {c:.2f}").format(c=offer.verdict.expected_c)]
    if offer.measured is not None:
        parts.append(_("{speedup:.2f}× measured here").format(speedup=offer.measured))
    elif offer.verdict.expected_c >= 1:
        parts.append(_("as much work as the target itself, so it can't make it faster"))
    return " · ".join(parts)


def brief_promise(offer: Offer) -> str:
    """The same for a column: `c 0.08  1.52×`."""
    c = _("c {c:.2f}").format(c=offer.verdict.expected_c)
    return c if offer.measured is None else f"{c}  {offer.measured:.2f}×"


def about_target(model: Model, scales: Scales | None) -> list[str]:
    """All that a person may want to know of a model before it writes, in lines."""
    facts = model.facts
    if model.refusal and model.refusal.code in _NOWHERE:
        return [refused(model)]
    if facts is None:
        return [refused(model, names_it=False), _named(model), located(model)]
    return [
        _named(model),
        described(facts),
        located(model),
        *([memory(scales(facts, None))] if scales else []),
    ]


def about_draft(target: Model, offer: Offer, scales: Scales | None) -> list[str]:
    """All that a person may want to know of a model before it guesses for `target`, in lines."""
    model, facts = offer.model, offer.model.facts
    lines = [against(offer, names_it=False) or promise(offer), _named(model)]
    if facts:
        lines.append(described(facts))
    lines.append(located(model))
    if scales and facts and target.facts and offer.works:
        lines.append(_("both: {memory}").format(memory=memory(scales(target.facts, facts))))
    return lines


def memory(fit: Fit) -> str:
    """`Fits: 5.9 GB needed with 8,192 tokens of context (weights 4.9, cache 0.7, buffers 0.3), 12.2 GB of RAM free`."""
    needs = [need for need in (fit.target, fit.draft) if need]
    detail = _("{total} for {ctx:,} tokens of context: weights {weights}, cache {kv}, buffers {compute}").format(
        total=size(sum(need.total for need in needs)),
        ctx=fit.target.ctx,
        weights=size(sum(need.weights for need in needs)),
        kv=size(sum(need.kv for need in needs)),
        compute=size(sum(need.compute for need in needs)),
    )
    free = _("free: {ram} of RAM").format(ram=size(fit.free.ram))
    if fit.free.gpu is not None:
        free = _("free: {ram} of RAM, {gpu} on the GPU").format(ram=size(fit.free.ram), gpu=size(fit.free.gpu))
    return f"{_verdict(fit)} · {detail} · {free}"


def troubled(trouble: Trouble) -> str:
    """Why a folder was not looked through."""
    return sentence(trouble.code, trouble.params)


def _sentence(code: str, params: Params, *, names_it: bool) -> str:
    return sentence(code, params if names_it else {name: value for name, value in params.items() if name != "path"})


def _named(model: Model) -> str:
    return visible(" · ".join(part for part in (model.found.name, model.found.origin) if part))


def _verdict(fit: Fit) -> str:
    if fit.verdict == "fits":
        return _("fits")
    if fit.verdict == "no":
        return _("does not fit")
    count = fit.target.gpu_layers
    return plural("{count} of {all} layers on the GPU", "{count} of {all} layers on the GPU", count).format(
        count=count, all=fit.target.layers
    )


def _count(parameters: int) -> str:
    """`8.2B`, `135M`, `4.1k`."""
    for unit, sign in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if parameters >= unit:
            number = parameters / unit
            return f"{number:.0f}{sign}" if number >= 100 else f"{number:.1f}{sign}"
    return str(parameters)
