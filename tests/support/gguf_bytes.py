"""GGUF files written byte by byte, so that tests can make every kind of broken one."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
_CODES = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}

Typed = tuple[Any, ...]
"""A value with its type: (U32, 7), (STRING, "text"), (ARRAY, STRING, ["a", "b"])."""

TINY: dict[str, Typed] = {
    "general.architecture": (STRING, "llama"),
    "llama.block_count": (U32, 2),
    "llama.context_length": (U32, 256),
    "llama.embedding_length": (U32, 8),
    "llama.attention.head_count": (U32, 2),
    "tokenizer.ggml.model": (STRING, "gpt2"),
    "tokenizer.ggml.tokens": (ARRAY, STRING, ["a", "b", "c"]),
    "tokenizer.ggml.merges": (ARRAY, STRING, []),
}
"""Metadata that nothing is wrong with."""

F32_PAIR: list[tuple[str, tuple[int, ...], int]] = [("token_embd.weight", (8, 3), 0), ("output.weight", (8, 3), 0)]
"""Tensors (name, shape with the row length first, ggml's number format) of 96 bytes each."""


def gguf(
    metadata: Mapping[str, Typed] | Sequence[tuple[str, Typed]] = TINY,
    tensors: Sequence[tuple[str, tuple[int, ...], int]] = F32_PAIR,
    *,
    version: int = 3,
    offsets: Sequence[int] = (0, 96),
    weights: int = 192,
) -> bytes:
    """A GGUF with alignment 32 whose data section is `weights` bytes long, whatever its tensors say."""
    entries = list(metadata.items()) if isinstance(metadata, Mapping) else list(metadata)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(entries))
    head += b"".join(text(key) + typed(value) for key, value in entries)
    for (name, shape, kind), offset in zip(tensors, offsets, strict=False):
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
    return head + bytes(-len(head) % 32) + bytes(weights)


def text(value: str | bytes) -> bytes:
    """A length and the bytes of a text."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def typed(value: Typed) -> bytes:
    """A type and a value."""
    kind, *rest = value
    if kind != ARRAY:
        return struct.pack("<I", kind) + _value(kind, rest[0])
    item, values = rest
    return struct.pack("<IIQ", ARRAY, item, len(values)) + b"".join(_value(item, value) for value in values)


def _value(kind: int, value: Any) -> bytes:
    return text(value) if kind == STRING else struct.pack(_CODES[kind], value)
