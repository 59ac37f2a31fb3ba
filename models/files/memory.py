"""How much memory a model will take, and whether it is there: told before anything is loaded.

An estimate of what llama.cpp itself reports when it has loaded the model: weights, the cache of keys and values at the
chosen context, and the buffers that a pass computes in. A test holds it to within 10 % of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from specchat.models.files.facts import Facts, Weights
from specchat.models.files.formats import FORMATS
from specchat.settings.values import ModelOptions

DEFAULT_CTX = 8192
"""Tokens a context holds unless a person chooses: enough for a long chat, and its memory fits beside the model."""
MIN_CTX = 2
MAX_PASS = 512
"""Most tokens that llama.cpp computes at once, however large a batch is."""
_CELLS = 256
"""Contexts are rounded up to this many tokens."""
_CACHE_BLOCKS = {form.name.lower(): (form.weights, form.size) for form in FORMATS.values()}
_REARRANGED = frozenset({"Q4_0", "Q4_K", "IQ4_NL", "MXFP4"})
"""Formats that x86 CPUs rearrange (ggml-cpu/repack.cpp)."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes that one model takes in RAM and on the GPUs with `gpu_layers` layers there."""

    ctx: int
    """Tokens of context that this is for."""
    gpu_layers: int
    """Layers on the GPUs, of `layers`: its blocks, and one for its output."""
    layers: int
    weights: int
    kv: int
    compute: int
    gpu: int
    """Bytes on the GPUs, of all of these."""

    @property
    def total(self) -> int:
        """All bytes, as the engine's `ModelInfo.memory` reports them after loading."""
        return self.weights + self.kv + self.compute

    @property
    def ram(self) -> int:
        """Bytes that aren't on a GPU."""
        return self.total - self.gpu


@dataclass(frozen=True, slots=True)
class Free:
    """Bytes that are free: `gpu` on all GPUs together, None where none can be used."""

    ram: int
    gpu: int | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a pair (or a target alone) fits, and how.

    `verdict`: `fits` (all layers asked for are where they were asked to be), `partly` (fewer on the GPU:
    `target_layers` of the target's and `draft_layers` of the draft's) or `no`.
    """

    verdict: Literal["fits", "partly", "no"]
    target: MemoryNeed
    draft: MemoryNeed | None
    free: Free

    @property
    def gpu(self) -> int:
        """Bytes on the GPUs."""
        return self.target.gpu + (self.draft.gpu if self.draft else 0)

    @property
    def ram(self) -> int:
        """Bytes in RAM."""
        return self.target.ram + (self.draft.ram if self.draft else 0)


def context_size(options: ModelOptions, ctx_trained: int) -> int:
    """Tokens of context that a model gets: never more than it was trained on."""
    return max(min(options.ctx or DEFAULT_CTX, ctx_trained), MIN_CTX)


def memory_need(facts: Facts, options: ModelOptions, gpu_layers: int = 0) -> MemoryNeed:
    """What a model takes with `gpu_layers` layers (-1: all) on GPUs, whatever `options.gpu_layers` asks for."""
    layers = facts.layers + 1
    used = layers if gpu_layers < 0 else min(gpu_layers, layers)
    ctx = context_size(options, facts.ctx_trained)
    cells = ctx + -ctx % _CELLS
    caches = [
        cells * (_row(keys, options.cache_type_k) + _row(values, options.cache_type_v))
        for keys, values in zip(facts.shape.keys, facts.shape.values, strict=True)
    ]
    first = max(facts.layers - max(used - 1, 0), 0)
    """The first block on a GPU: llama.cpp moves the output first, then the last blocks."""
    state = 4 * facts.shape.state
    moved = facts.blocks[first:] + ((facts.output,) if used else ())
    kept = (facts.input, *facts.blocks[:first], *(() if used else (facts.output,)))
    compute = _compute(facts, options, cells)
    gpu_weights = sum(part.size for part in moved)
    rearranged = 0 if used == layers else sum(map(_rearranged, kept[1:]))
    return MemoryNeed(
        ctx=ctx,
        gpu_layers=used,
        layers=layers,
        weights=gpu_weights + sum(part.size for part in kept) + rearranged,
        kv=sum(caches) + state,
        compute=compute,
        gpu=gpu_weights + sum(caches[first:]) + (state if used == layers else 0) + (compute if used else 0),
    )


def fits(
    target: Facts, target_options: ModelOptions, draft: Facts | None, draft_options: ModelOptions, free: Free
) -> Fit:
    """Whether a pair fits into what is free, and if not, with how many layers on the GPU.

    The draft keeps its layers there as long as it can: it runs more often than the target, and takes less.
    """
    ours, theirs = _asked(target, target_options, free), _asked(draft, draft_options, free) if draft else 0
    for draft_layers in sorted({theirs, 0}, reverse=True):
        helper = memory_need(draft, draft_options, draft_layers) if draft else None
        for layers in range(ours, -1, -1):
            need = memory_need(target, target_options, layers)
            fit = Fit("fits" if (layers, draft_layers) == (ours, theirs) else "partly", need, helper, free)
            if fit.gpu <= (free.gpu or 0) and fit.ram <= free.ram:
                return fit
    return Fit("no", need, helper, free)


def _asked(facts: Facts, options: ModelOptions, free: Free) -> int:
    """Layers that `options` puts on the GPUs there are."""
    layers = facts.layers + 1
    if free.gpu is None:
        return 0
    return layers if options.gpu_layers < 0 else min(options.gpu_layers, layers)


def _row(numbers: int, cache_type: str) -> int:
    """Bytes of `numbers` cached numbers."""
    weights, size = _CACHE_BLOCKS[cache_type]
    return numbers * size // weights


def _rearranged(part: Weights) -> int:
    """Bytes of matrices that the CPU gets a second time, rearranged for its vector units."""
    return sum(size for name, size in part.matrices.items() if name in _REARRANGED)


def _compute(facts: Facts, options: ModelOptions, cells: int) -> int:
    """Bytes of the largest step of a pass: the logits, a feed-forward layer, or attention without its fused form."""
    shape, tokens = facts.shape, min(options.batch, MAX_PASS, cells)
    logits = facts.vocabulary.size + 2 * shape.width
    feed_forward = 3 * shape.feed_forward + 2 * shape.width
    attention = 0 if options.flash_attention != "off" else shape.heads * cells + 4 * shape.width
    return 4 * tokens * max(logits, feed_forward, attention)
