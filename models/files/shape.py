"""The sizes of a model that a context's memory depends on."""

from __future__ import annotations

import msgspec

from specchat.models.files.header import Header
from specchat.models.files.known import HYBRID, RECURRENT

_MOST_STATE = 1 << 48
"""No model has so much; products of the largest numbers that a file may hold wouldn't fit into JSON."""


class Shape(msgspec.Struct, frozen=True):
    """Sizes in numbers, not bytes."""

    width: int
    """Length of a token's hidden state."""
    feed_forward: int
    """Most units of a feed-forward layer; of mixtures, of all experts that a token is sent to."""
    heads: int
    head_size: int
    """Length of one head's key."""
    keys: tuple[int, ...]
    """Cached keys of one token, for each layer; 0 where a layer caches none."""
    values: tuple[int, ...]
    state: int = 0
    """Numbers in the state of all recurrent layers together, whatever the context's length."""


def shape_of(header: Header) -> Shape:
    """The shape of the model in `header`, by llama.cpp's rules (llama-hparams.cpp, llama-kv-cache.cpp)."""
    layers = header.own("block_count") or 0
    width = header.own("embedding_length") or 0
    heads = header.each("attention.head_count", layers)
    most_heads = max(heads, default=0)
    head_size = header.own("attention.key_length") or (width // heads[0] if heads and heads[0] else 0)
    caching = _caching(header, layers)
    units = max(header.each("feed_forward_length", layers), default=0)
    used = max(header.each("expert_used_count", layers), default=0)
    return Shape(
        width=width,
        feed_forward=max(units, used * (header.own("expert_feed_forward_length") or 0)),
        heads=most_heads,
        head_size=head_size,
        keys=_cached(header, caching, "attention.key_length", head_size),
        # A model that caches what keys and values are made of (MLA, DeepSeek-V2 2024) needs no values beside it.
        values=(0,) * layers
        if header.own("attention.key_length_mla")
        else _cached(header, caching, "attention.value_length", head_size),
        state=min(_state(header) * caching.count(False), _MOST_STATE),
    )


def _cached(header: Header, caching: list[bool], key: str, head_size: int) -> tuple[int, ...]:
    layers = len(caching)
    heads = header.each("attention.head_count", layers)
    groups = [header.each("attention.head_count_kv", layers, heads[layer])[layer] for layer in range(layers)]
    size = header.own(key) or head_size
    sliding = header.own(f"{key}_swa") or size
    slides = header.each("attention.sliding_window_pattern", layers)
    sizes = [sliding if slides[layer] and sliding != size else size for layer in range(layers)]
    return tuple(groups[layer] * sizes[layer] if caching[layer] else 0 for layer in range(layers))


def _caching(header: Header, layers: int) -> list[bool]:
    """Whether each layer has a cache: recurrent layers have none, and some models' last ones share an earlier one's."""
    if header.architecture in RECURRENT:
        return [False] * layers
    shared = header.own("attention.shared_kv_layers") or 0
    caching = [layer < layers - shared for layer in range(layers)]
    if header.architecture in HYBRID:
        groups = header.each("attention.head_count_kv", layers, 1)
        every = header.own("full_attention_interval") or (4 if header.architecture.startswith("qwen3") else 1)
        caching = [groups[layer] > 0 and (layer + 1) % every == 0 for layer in range(layers)]
    return caching


def _state(header: Header) -> int:
    """Numbers in the state of one recurrent layer."""
    width = header.own("embedding_length") or 0
    if head := header.own("wkv.head_size"):
        return (header.own("token_shift_count") or 2) * width + width * head
    if length := header.own("shortconv.l_cache"):
        return width * (length - 1)
    inner, state = header.own("ssm.inner_size") or 0, header.own("ssm.state_size") or 0
    kernel, groups = header.own("ssm.conv_kernel") or 1, header.own("ssm.group_count") or 0
    return (kernel - 1) * (inner + 2 * groups * state) + state * inner
