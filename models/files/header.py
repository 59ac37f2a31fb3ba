"""Reads the head of a GGUF file: its metadata and its list of tensors, never the weights.

The layout is that of GGUF versions 2 and 3, little-endian (ggml's `docs/gguf.md`). The file is taken as hostile:
every count and length is checked before it is used, and the limits here and in `walk` bound time (a second) and
memory (64 MB, what is made of it included) whatever the file says.
"""

from __future__ import annotations

import stat
import sys
from array import array
from collections.abc import Collection
from dataclasses import dataclass
from math import prod
from pathlib import Path
from struct import Struct
from typing import TypeAlias, TypeVar

from specchat.models.files.errors import ModelFileError
from specchat.models.files.formats import FORMATS
from specchat.models.files.sniff import looks_like
from specchat.models.files.walk import MAX_HEADER, Walk

MAX_ENTRIES = 1 << 14
"""Metadata entries, and tensors. The largest models have about 2,000 tensors."""
MAX_KEPT_ITEMS = 400_000
"""Items of an array that is kept. The largest known vocabulary has 262,144 tokens."""
_MAX_KEY = 1 << 10
_MAX_NAME = 63
_MAX_DIMENSIONS = 4
_VERSIONS = (2, 3)

_STRING, _ARRAY = 8, 9
_CODES = dict(zip((*range(8), 10, 11, 12), "BbHhIif?Qqd", strict=True))
_NUMBERS = {kind: Struct(f"<{code}") for kind, code in _CODES.items()}
_PER_LAYER = 512
"""Longest array of numbers that is kept unasked: it may have one for each layer."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """A value that was walked over: an array of `length` items, or a text of `length` bytes."""

    length: int

    def __len__(self) -> int:
        return self.length


Numbers: TypeAlias = "array[int] | array[float]"  # Python 3.11's array takes no brackets at run time
Value: TypeAlias = "bool | int | float | str | tuple[bytes, ...] | Numbers | Omitted"


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of the list. `shape` has the row length first; `offset` is in bytes from the first weight."""

    name: str
    shape: tuple[int, ...]
    format: int
    offset: int

    @property
    def count(self) -> int:
        """How many weights it has."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes of its weights. Raises `KeyError` for a format not in `formats.FORMATS`, `ValueError` if a row is no
        whole number of blocks."""
        _name, weights, size = FORMATS[self.format]
        row, *rest = self.shape or (1,)
        if row % weights:
            raise ValueError(f"{self.name}: rows of {row}, blocks of {weights}")
        return row // weights * size * prod(rest)


@dataclass(frozen=True, slots=True)
class Header:
    """The head of a GGUF file. `data_offset` is where the weights start, `file_size` where the file ends."""

    version: int
    metadata: dict[str, Value]
    tensors: tuple[Tensor, ...]
    alignment: int
    data_offset: int
    file_size: int

    @property
    def architecture(self) -> str:
        """The model's architecture by its GGUF name; empty if the file names none."""
        return self.text("general.architecture")

    def own(self, key: str) -> int | None:
        """The whole number under the architecture's own `key`, such as `block_count`; None if there is none."""
        return self.integer(f"{self.architecture}.{key}")

    def each(self, key: str, layers: int, default: int = 0) -> tuple[int, ...]:
        """The architecture's own `key` for each of `layers`: a list of numbers, or one number for all of them."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        if isinstance(value, array) and value.typecode not in "fd":
            numbers = [int(number) for number in value[:layers]]
            return (*numbers, *[default] * (layers - len(numbers)))
        one = self.own(key)
        return (default if one is None else one,) * layers

    def text(self, key: str) -> str:
        """The text under `key`; empty if there is none."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> tuple[bytes, ...]:
        """The list of texts under `key`, if it was kept; empty if there is none."""
        value = self.metadata.get(key)
        return value if isinstance(value, tuple) else ()

    def integer(self, key: str) -> int | None:
        """The whole number under `key`; None if there is none."""
        value = self.metadata.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_header(path: Path, keep: Collection[str] = ()) -> Header:
    """Read the head of the GGUF file `path`.

    Arrays are walked over, except those whose key is in `keep` and short ones of numbers. Texts come as bytes. Raises
    `ModelFileError`, nothing else (its docstring lists the codes).
    """
    try:
        size = _size(path)
        with path.open("rb") as file:
            return _read(Walk(file, path, size), keep)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelFileError("file_missing", path) from None
    except OSError as error:
        raise ModelFileError("file_unreadable", path, reason=error.strerror or type(error).__name__) from error


def _size(path: Path) -> int:
    try:
        status = path.stat()
    except ValueError:  # a NUL character in the path
        raise ModelFileError("file_missing", path) from None
    if stat.S_ISDIR(status.st_mode):
        raise ModelFileError("file_is_folder", path)
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for a writer
        raise ModelFileError("file_not_gguf", path, looks_like="data")
    if status.st_size == 0:
        raise ModelFileError("file_empty", path)
    return status.st_size


def _read(walk: Walk, keep: Collection[str]) -> Header:
    head = walk.head()
    if not head.startswith(b"GGUF"):
        look = looks_like(head)
        if look == "lfs_pointer":
            raise ModelFileError("file_lfs_pointer", walk.path)
        raise ModelFileError("file_not_gguf", walk.path, looks_like=look)
    walk.skip(4)
    version = _version(walk)
    n_tensors, n_entries = walk.count(MAX_ENTRIES), walk.count(MAX_ENTRIES)
    metadata = _unique(walk, [_entry(walk, keep) for _ in range(n_entries)], "header")
    alignment = _alignment(walk, metadata)
    tensors = _unique(walk, [_tensor(walk) for _ in range(n_tensors)], "tensors")
    data_offset = walk.position + -walk.position % alignment
    return Header(version, metadata, tuple(tensors.values()), alignment, data_offset, walk.size)


def _version(walk: Walk) -> int:
    version = walk.u32()
    if version & 0xFFFF == 0 and version:  # a small number whose bytes are the other way round
        raise ModelFileError("file_big_endian", walk.path)
    if version > max(_VERSIONS):
        raise ModelFileError("file_version_newer", walk.path, version=version)
    if version not in _VERSIONS:
        raise ModelFileError("file_version", walk.path, version=version)
    return version


_Item = TypeVar("_Item")


def _unique(walk: Walk, items: list[tuple[str, _Item]], what: str) -> dict[str, _Item]:
    unique = dict(items)
    # llama.cpp takes a name to end at a NUL character, so that two different ones could be the same to it.
    if len(unique) < len(items) or any("\0" in name for name in unique):
        raise walk.damaged(what)
    return unique


def _entry(walk: Walk, keep: Collection[str]) -> tuple[str, Value]:
    key = walk.name(_MAX_KEY)
    kind = walk.u32()
    if kind == _ARRAY:
        return key, _array(walk, key in keep)
    if kind == _STRING:
        return key, _text(walk)
    struct = _struct(walk, kind)
    value: bool | int | float = struct.unpack(walk.take(struct.size))[0]
    return key, value


def _text(walk: Walk) -> Value:
    length = walk.u64()
    if walk.affords(length):
        return walk.take(length).decode(errors="replace")
    walk.skip(length)
    return Omitted(length)


def _array(walk: Walk, keep: bool) -> Value:
    kind = walk.u32()
    count = walk.count(MAX_KEPT_ITEMS if keep else MAX_HEADER)
    if kind == _STRING and keep:
        return walk.keep_strings(count)
    if kind == _STRING:
        walk.strings(count, None)
        return Omitted(count)
    size = _struct(walk, kind).size * count
    if (keep or count <= _PER_LAYER) and walk.affords(size, MAX_KEPT_ITEMS * 8):
        return _numbers(kind, walk.take(size))
    walk.skip(size)
    return Omitted(count)


def _numbers(kind: int, data: bytes) -> Numbers:
    numbers: Numbers = array(_CODES[kind].replace("?", "B"))
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _struct(walk: Walk, kind: int) -> Struct:
    if kind not in _NUMBERS:  # also an array in an array: llama.cpp doesn't read those either
        raise walk.damaged()
    return _NUMBERS[kind]


def _alignment(walk: Walk, metadata: dict[str, Value]) -> int:
    alignment = metadata.get("general.alignment", 32)
    if type(alignment) is not int or alignment <= 0 or alignment & (alignment - 1):
        raise walk.damaged()
    return alignment


def _tensor(walk: Walk) -> tuple[str, Tensor]:
    name = walk.name(_MAX_NAME)
    dimensions = walk.u32()
    if dimensions > _MAX_DIMENSIONS:
        raise walk.damaged("tensors")
    shape = tuple(walk.u64() for _ in range(dimensions))
    return name, Tensor(name, shape, walk.u32(), walk.u64())
