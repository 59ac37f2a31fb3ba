"""How much memory a model will take, and whether it is there: told before anything is loaded.

An estimate of what llama.cpp itself reports when it has loaded the model: weights, the cache of keys and values at the
chosen context, and the buffers that a pass computes in. A test holds it to within 10 % of that.
"""

from __future__ import annotations

import platform
from bisect import bisect_right
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
_ARM = platform.machine().lower() in ("arm64", "aarch64")
_REARRANGED = {"Q4_0", "Q4_K", "IQ4_NL", "MXFP4"} | ({"Q5_K", "Q6_K", "Q8_0"} if _ARM else set())
"""Formats that usual CPUs of the last ten years rearrange (ggml-cpu/repack.cpp)."""


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
    twice: int
    """Bytes of `weights` that the CPU has rearranged: the file's own are counted as well, but never read again."""

    @property
    def total(self) -> int:
        """All bytes, as the engine's `ModelInfo.memory` reports them after loading."""
        return self.weights + self.kv + self.compute

    @property
    def ram(self) -> int:
        """Bytes that must be free in RAM: what isn't on a GPU, weights once."""
        return self.total - self.gpu - self.twice


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
    first = facts.layers - max(used - 1, 0)
    """The first block on a GPU: llama.cpp moves the output first, then the last blocks."""
    ctx = context_size(options, facts.ctx_trained)
    cells = ctx + -ctx % _CELLS
    caches, state = _caches(facts, options, cells), 4 * facts.shape.state
    moved = (*facts.blocks[first:], facts.output, facts.tied) if used else ()
    kept = facts.blocks[:first] if used else (*facts.blocks, facts.output)
    # Beside a GPU, weights stay in memory that it can reach, as they are in the file.
    twice = 0 if used else sum(map(_rearranged, (*kept, facts.tied)))
    on_gpu, on_cpu = _compute(facts, options, cells, used)
    moved_size = sum(part.size for part in moved)
    return MemoryNeed(
        ctx=ctx,
        gpu_layers=used,
        layers=layers,
        weights=moved_size + facts.input.size + sum(part.size for part in kept) + twice,
        kv=sum(caches) + state,
        compute=on_gpu + on_cpu,
        gpu=moved_size + sum(caches[first:]) + state * (facts.layers - first) // facts.layers + on_gpu,
        twice=twice,
    )


def fits(
    target: Facts, target_options: ModelOptions, draft: Facts | None, draft_options: ModelOptions, free: Free
) -> Fit:
    """Whether a pair fits into what is free, and if not, with how many layers on the GPU.

    The draft keeps its layers there as long as that helps: it runs more often than the target, and takes less.
    """
    ours, theirs = _asked(target, target_options, free), _asked(draft, draft_options, free) if draft else 0
    for draft_layers in sorted({theirs, 0}, reverse=True):
        helper = memory_need(draft, draft_options, draft_layers) if draft else None
        room = (free.gpu or 0) - (helper.gpu if helper else 0)

        def takes(layers: int) -> int:
            return memory_need(target, target_options, layers).gpu

        most = bisect_right(range(ours + 1), room, key=takes) - 1
        if most < 0:
            continue
        need = memory_need(target, target_options, most)
        fit = Fit("fits" if (most, draft_layers) == (ours, theirs) else "partly", need, helper, free)
        if fit.ram <= free.ram:
            return fit
    return Fit("no", memory_need(target, target_options), helper, free)


def _asked(facts: Facts, options: ModelOptions, free: Free) -> int:
    """Layers that `options` puts on the GPUs there are."""
    layers = facts.layers + 1
    if free.gpu is None:
        return 0
    return layers if options.gpu_layers < 0 else min(options.gpu_layers, layers)


def _caches(facts: Facts, options: ModelOptions, cells: int) -> list[int]:
    """Bytes of each layer's cache."""
    return [
        cells * (_row(keys, options.cache_type_k) + _row(values, options.cache_type_v))
        for keys, values in zip(facts.shape.keys, facts.shape.values, strict=True)
    ]


def _row(numbers: int, cache_type: str) -> int:
    """Bytes of `numbers` cached numbers."""
    weights, size = _CACHE_BLOCKS[cache_type]
    return numbers * size // weights


def _rearranged(part: Weights) -> int:
    """Bytes of matrices that the CPU gets a second time, rearranged for its vector units."""
    return sum(size for name, size in part.matrices.items() if name in _REARRANGED)


def _compute(facts: Facts, options: ModelOptions, cells: int, used: int) -> tuple[int, int]:
    """Bytes that a pass computes in, on GPUs and on the CPU: those of its largest step.

    Steps and factors are what llama.cpp reserves for models of 0.1 to 30 billion parameters, met to within 8 %.
    """
    shape = facts.shape
    wide = 4 * min(options.batch, MAX_PASS, cells)
    """Bytes of one number for each token of the widest pass."""
    logits = facts.vocabulary.size + 2 * shape.width
    feed_forward = 3 * shape.feed_forward + 4 * shape.width + cells // 2
    attention = 0
    if options.flash_attention == "off":  # every head's scores of every token for every other one
        attention = (shape.heads + 1) * cells + (7 * shape.width + 4 * shape.heads * shape.head_size) // 2
    layer = max(feed_forward, attention)
    if not used:
        return 0, wide * max(logits, layer)
    # What the CPU keeps of a pass is what goes in and the mask: even of its own layers, a GPU computes wide passes.
    return wide * max(logits, layer), wide * (2 * shape.width + cells // 2)
