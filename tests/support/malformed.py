"""A small sound GGUF, spoilt in many ways: every field of its head, with boundary and random values."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gguf import GGUFReader

from support.gguf_bytes import ARRAY, STRING, U32, Typed, text, typed

_HEAD = (("magic", 0, 4), ("version", 4, 4), ("tensor count", 8, 8), ("entry count", 16, 8))
_SHOWN_ITEMS = 3
"""Items of an array that are spoilt, from its start; its last one is as well."""

_OPTIONAL = (
    *("attention.head_count_kv", "attention.key_length", "attention.value_length", "attention.sliding_window"),
    *("attention.key_length_mla", "attention.value_length_mla", "attention.key_length_swa", "rope.dimension_count"),
    *("expert_count", "expert_used_count", "expert_group_count", "expert_group_used_count", "nextn_predict_layers"),
    *("pooling_type", "embedding_length_out", "expert_feed_forward_length", "full_attention_interval"),
    *("ssm.inner_size", "ssm.state_size", "ssm.conv_kernel", "attention.shared_kv_layers", "rope.dimension_sections"),
)
"""Numbers that a sound file of the kind may leave out."""


@dataclass(frozen=True, slots=True)
class Field:
    """Bytes of a GGUF's head that mean one thing."""

    name: str
    offset: int
    size: int
    is_number: bool


@dataclass(frozen=True, slots=True)
class Spoilt:
    """What was done to the file, and the file."""

    what: str
    content: bytes


def fields_of(path: Path) -> list[Field]:
    """Every field of the head of `path`, by the reader of the gguf package."""
    reader = GGUFReader(path)
    fields = [Field(name, offset, size, name != "magic") for name, offset, size in _HEAD]
    for field in reader.fields.values():
        if not field.name.startswith("GGUF."):
            fields += _parts(field.name, field.offset, field.parts)
    for tensor in reader.tensors:
        fields += _parts(tensor.name, tensor.field.offset, tensor.field.parts)
    return fields


def _parts(name: str, offset: int, parts: Sequence[Any]) -> Iterator[Field]:
    shown = {*range(3 + 2 + 2 * _SHOWN_ITEMS), len(parts) - 2, len(parts) - 1}
    for number, part in enumerate(parts):
        if part.nbytes and number in shown:
            # Only texts are arrays of bytes; a shape is an array of 8-byte numbers.
            width = part.itemsize
            for start in range(0, part.nbytes, part.nbytes if width == 1 else width):
                size = part.nbytes if width == 1 else width
                yield Field(f"{name}[{number}]", offset + start, size, width > 1 or part.nbytes == 1)
        offset += part.nbytes


def spoil(whole: bytes, fields: Sequence[Field], seed: int = 0) -> Iterator[Spoilt]:
    """Yield `whole` with one of `fields` after the other changed, cut short, and damaged in many places at once."""
    dice = random.Random(seed)
    end = max(field.offset + field.size for field in fields)
    for field in fields:
        before = whole[field.offset : field.offset + field.size]
        for after in _numbers(before, dice) if field.is_number else _texts(before, dice):
            if after != before:
                yield Spoilt(f"{field.name}: {before.hex()} → {after.hex()}", _replaced(whole, field.offset, after))
    for length in (0, 1, 4, 8, 24, *dice.sample(range(25, end), 60), end, len(whole) - 1):
        yield Spoilt(f"cut after {length} bytes", whole[:length])
    for number in range(60):
        content = bytearray(whole)
        for _ in range(8):
            content[dice.randrange(4, end)] = dice.choice((0, 1, 127, 255, dice.randrange(256)))
        yield Spoilt(f"noise {number}", bytes(content))


def _numbers(before: bytes, dice: random.Random) -> list[bytes]:
    bits = 8 * len(before)
    value = int.from_bytes(before, "little")
    around = (0, 1, value - 1, value + 1, 2 * value, 1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << bits) - 1)
    values = {number % (1 << bits) for number in (*around, (1 << bits) // 3, dice.getrandbits(bits))}
    return [number.to_bytes(len(before), "little") for number in sorted(values)]


def _texts(before: bytes, dice: random.Random) -> list[bytes]:
    return [bytes(len(before)), dice.randbytes(len(before)), b"\xff" + before[1:]]


def _replaced(whole: bytes, offset: int, part: bytes) -> bytes:
    return whole[:offset] + part + whole[offset + len(part) :]


def overflowing_shapes(whole: bytes, fields: Sequence[Field]) -> Iterator[Spoilt]:
    """Yield `whole` with shapes whose number of weights, or of bytes, doesn't fit into 64 bits."""
    first = next(field for field in fields if field.name == "token_embd.weight[3]")
    for row, column in ((1 << 32, 1 << 32), (1 << 62, 4), (1 << 63, 1), (3, 0x5555555555555556), (1 << 40, 1 << 22)):
        shape = struct.pack("<QQ", row, column)
        yield Spoilt(f"shape {row} × {column}", _replaced(whole, first.offset, shape))


def with_entry(whole: bytes, end: int, key: str, value: Typed) -> bytes:
    """`whole`, whose head ends at `end`, with one more entry before the others."""
    count = int.from_bytes(whole[16:24], "little") + 1
    head = whole[:16] + count.to_bytes(8, "little") + text(key) + typed(value) + whole[24:end]
    return head + bytes(-len(head) % 32) + whole[end + -end % 32 :]


def stray_entries(whole: bytes, fields: Sequence[Field], architecture: str) -> Iterator[Spoilt]:
    """Yield `whole` with one entry more that changes what its other numbers mean."""
    end = max(field.offset + field.size for field in fields)
    for name in _OPTIONAL:
        for value in (0, 1, 2, 3, 16, 255, 1 << 31, (1 << 32) - 1):
            content = with_entry(whole, end, f"{architecture}.{name}", (U32, value))
            yield Spoilt(f"{name} = {value}", content)
        content = with_entry(whole, end, f"{architecture}.{name}", (ARRAY, U32, [0, 1, 7]))
        yield Spoilt(f"{name} = [0, 1, 7]", content)
    for name in ("split.count", "split.no", "general.alignment", "general.file_type"):
        for value in (0, 1, 2, 33, 1 << 31, (1 << 32) - 1):
            yield Spoilt(f"{name} = {value}", with_entry(whole, end, name, (U32, value)))
    for scaling in ("", "none", "linear", "yarn", "longrope", "other"):
        content = with_entry(whole, end, f"{architecture}.rope.scaling.type", (STRING, scaling))
        yield Spoilt(f"rope scaling {scaling!r}", content)
