"""Checks the numbers of a model's head that llama.cpp takes on trust: wrong ones end the process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from specchat.models.files.errors import ModelFileError
from specchat.models.files.header import Header
from specchat.models.files.known import EQUAL_HEADS, WHOLE_ROPE

MAX_LAYERS = 512
"""Above it (or without any layer) llama.cpp ends the process."""
MAX_EXPERTS = 512
"""Experts of a layer, likewise (`LLAMA_MAX_EXPERTS`)."""

_ROPE_SCALINGS = ("none", "linear", "yarn", "longrope")
_REQUIRED = ("context_length", "embedding_length", "block_count")
_MOST = 1 << 20
"""Largest of the sizes below. In known models they stay below 300,000."""
_SIZES = (
    *("embedding_length", "feed_forward_length", "expert_feed_forward_length", "attention.head_count"),
    *("attention.head_count_kv", "attention.key_length", "attention.value_length", "attention.key_length_swa"),
    *("attention.value_length_swa", "ssm.inner_size", "ssm.state_size", "ssm.conv_kernel", "ssm.group_count"),
    *("wkv.head_size", "token_shift_count", "shortconv.l_cache"),
)
_WITHOUT_ROPE = ("glm5-next",)
"""Where no rotary positions are what the model expects."""


def check_numbers(path: Path, header: Header) -> None:
    """Raise `ModelFileError` with `file_damaged` if a number is missing, or one that llama.cpp would abort over."""
    layers = header.own("block_count")
    if layers is not None and not 0 < layers <= MAX_LAYERS:
        raise ModelFileError("file_damaged", path, what="layers")
    if not _sound(header, layers or 0):
        raise ModelFileError("file_damaged", path, what="numbers")


def _sound(header: Header, layers: int) -> bool:
    return (
        all((header.own(key) or 0) > 0 for key in _REQUIRED)
        and all(0 <= size <= _MOST for key in _SIZES for size in header.each(key, layers))
        and (header.own("nextn_predict_layers") or 0) <= layers
        and all(epsilon >= 0 for epsilon in _epsilons(header))
        and _sound_experts(header, layers)
        and _sound_heads(header, layers)
    )


def _epsilons(header: Header) -> Iterator[float]:
    """What norms add so as not to divide by nought."""
    for norm in ("layer_norm", "layer_norm_rms", "group_norm"):
        value = header.metadata.get(f"{header.architecture}.attention.{norm}_epsilon")
        if isinstance(value, float):
            yield value


def _sound_experts(header: Header, layers: int) -> bool:
    experts, groups = header.own("expert_count") or 0, header.own("expert_group_count") or 0
    used = max(header.each("expert_used_count", layers), default=0)
    if experts == 0:
        return used == groups == 0
    if not (0 < used <= experts <= MAX_EXPERTS and groups < experts):
        return False
    return groups <= 1 or (experts % groups == 0 and 0 < (header.own("expert_group_used_count") or 0) < groups)


def _sound_heads(header: Header, layers: int) -> bool:
    """Whether keys, values and rotary positions fit together."""
    scaling = header.metadata.get(f"{header.architecture}.rope.scaling.type", "none")
    if scaling not in _ROPE_SCALINGS:
        return False
    heads = header.each("attention.head_count", layers)[0]
    if heads <= 0:
        return True
    usual = (header.own("embedding_length") or 0) // heads
    keys, values = (_or(header.own(f"attention.{name}_length"), usual) for name in ("key", "value"))
    turned = _or(header.own("rope.dimension_count"), keys)
    if turned % 2 or turned > keys or (turned == 0 and header.architecture not in _WITHOUT_ROPE):
        return False
    if header.architecture in EQUAL_HEADS and keys != values:
        return False
    return turned == values or header.architecture not in WHOLE_ROPE


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
