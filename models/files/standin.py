"""Makes models to measure with out of a small one: a dear target that writes the small one's text, and worse drafts.

Widening gives every feed-forward layer more units: copies of its own, whose columns of the down-projection are zero.
What the layer computes stays the same; the weights to move and to multiply grow. So the small model becomes a real
draft for its widened copy (the copy is rounded anew), and a pass of the copy costs as much as one of a model of its
size. It takes the feed-forward layers that llama and its kin have: gate, up and down, without experts.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType, ReaderTensor
from gguf.quants import dequantize, quantize
from numpy.typing import NDArray

from specchat.models.files.check import check_model_file
from specchat.models.files.errors import ModelFileError
from specchat.models.files.formats import FORMATS

Progress = Callable[[int, int], object]

_FFN = ("ffn_gate.weight", "ffn_up.weight", "ffn_down.weight")


class Cancelled(Exception):
    """The making was cancelled; no file is left."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a copy differs from its source.

    `label` goes behind the source's name. `units` is the new width of the feed-forward layers (None: as it is).
    `noise` is the standard deviation of normal noise on each matrix of the layers, in units of that matrix's own.
    `blocks` are the layers to keep, in their new order (None: all). What changes is stored as `format`, one of
    those gguf can write (F32, F16, BF16, Q4_0 … Q8_0). Same source, recipe and gguf: the same file, byte for byte.
    """

    label: str
    units: int | None = None
    noise: float = 0.0
    blocks: tuple[int, ...] | None = None
    format: GGMLQuantizationType = GGMLQuantizationType.Q4_0
    seed: int = 0


WIDENED = Recipe("stand-in, widened", units=24_576)
"""Makes a model of 1.33 billion parameters (765 MB) out of SmolLM2-135M."""


def make_standin(
    source: Path,
    out: Path,
    recipe: Recipe = WIDENED,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> None:
    """Write a copy of the model `source`, changed by `recipe`, to `out`, which appears only when it is complete.

    `progress` is called with (bytes written, bytes in all) after each tensor; `cancelled` is asked before each.
    Raises `Cancelled`, or `ModelFileError`: what `check_model_file` says of the source, `standin_unfit` if the
    source can't be changed so (what: `parts`, `blocks`, `layers` or `width`), `disk_full` (need, free: bytes),
    `file_unwritable` (reason).
    """
    check_model_file(source)
    reader = GGUFReader(source)
    tensors = _plan(source, reader, recipe)
    need = reader.data_offset + sum(tensor.size for tensor in tensors)
    with _disk_errors(out, need):
        out.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(out.parent).free
        if free < need:
            raise ModelFileError("disk_full", out, need=need, free=free)
        part = out.with_name(out.name + ".part")  # one name, so that the next try reclaims what a killed one left
        try:
            _write(part, reader, recipe, tensors, progress, cancelled)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def _disk_errors(out: Path, need: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise ModelFileError("disk_full", out, need=need, free=shutil.disk_usage(out.parent).free) from error
        raise ModelFileError("file_unwritable", out, reason=error.strerror or type(error).__name__) from error


# ------------------------------------------------------------------ tensors


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor of the copy. `shape` has the row length last, as numpy does (and the file does not)."""

    name: str
    source: ReaderTensor
    shape: tuple[int, ...]
    format: GGMLQuantizationType
    changed: bool

    @property
    def row_size(self) -> int:
        """Bytes of a row."""
        _name, weights, size = FORMATS[self.format]
        return self.shape[-1] // weights * size

    @property
    def size(self) -> int:
        """Bytes of all rows."""
        return prod(self.shape[:-1]) * self.row_size

    @property
    def fits(self) -> bool:
        """Whether its rows, before and after, are whole blocks of the format, and none of it would be cut off."""
        before = tuple(int(length) for length in reversed(self.source.shape))
        block = FORMATS[self.format].weights
        whole = before[-1] % block == 0 and self.shape[-1] % block == 0
        return whole and all(new >= old for new, old in zip(self.shape, before, strict=True))

    def weights(self, noise: float, rng: np.random.Generator) -> NDArray[Any]:
        """The weights as they lie in the file."""
        if not self.changed:
            return self.source.data
        values = dequantize(self.source.data, self.source.tensor_type)
        if noise:
            values = values + noise * values.std() * rng.standard_normal(values.shape, dtype=np.float32)
        rows = quantize(values, self.format).view(np.uint8)
        if self.name.endswith("ffn_down.weight"):
            # Nought bytes are nought weights in every format: a block's scale, and its offset, are nought.
            wide = np.zeros((self.shape[0], self.row_size), np.uint8)
            wide[:, : rows.shape[1]] = rows
            return wide
        return np.resize(rows, (self.shape[0], self.row_size))  # repeats the rows as often as it takes


def _plan(path: Path, source: GGUFReader, recipe: Recipe) -> list[_Tensor]:
    """The tensors of the copy, in order. Raises `ModelFileError` where the source can't be changed so."""
    if (_value(source, "split.count") or 1) > 1:
        raise ModelFileError("standin_unfit", path, what="parts")
    blocks = _blocks(source, recipe)
    named = {tensor.name: tensor for tensor in source.tensors if not tensor.name.startswith("blk.")}
    for new, old in enumerate(blocks):
        prefix = f"blk.{old}."
        layer = [tensor for tensor in source.tensors if tensor.name.startswith(prefix)]
        if not layer:
            raise ModelFileError("standin_unfit", path, what="blocks")
        named.update({f"blk.{new}.{tensor.name.removeprefix(prefix)}": tensor for tensor in layer})
    if recipe.units is not None and not _is_gated(named, len(blocks)):
        raise ModelFileError("standin_unfit", path, what="layers")
    tensors = [_tensor(name, tensor, recipe) for name, tensor in named.items()]
    if not all(tensor.fits for tensor in tensors if tensor.changed):
        raise ModelFileError("standin_unfit", path, what="width")
    return tensors


def _is_gated(named: dict[str, ReaderTensor], layers: int) -> bool:
    """Whether the feed-forward layers consist of a gate, an up and a down matrix each, beside their norms."""
    found = {name for name in named if ".ffn_" in name and "norm" not in name}
    return found == {f"blk.{layer}.{matrix}" for layer in range(layers) for matrix in _FFN}


def _tensor(name: str, source: ReaderTensor, recipe: Recipe) -> _Tensor:
    shape = [int(length) for length in reversed(source.shape)]
    widened = recipe.units is not None and name.endswith(_FFN)
    if recipe.units is not None and widened:
        shape[1 if name.endswith("ffn_down.weight") else 0] = recipe.units
    noisy = recipe.noise > 0 and name.startswith("blk.") and len(shape) == 2
    changed = widened or noisy
    return _Tensor(name, source, tuple(shape), recipe.format if changed else source.tensor_type, changed)


# ------------------------------------------------------------------ metadata and file


def _value(source: GGUFReader, key: str) -> Any:
    field = source.fields.get(key)
    return None if field is None else field.contents()


def _blocks(source: GGUFReader, recipe: Recipe) -> tuple[int, ...]:
    count = _value(source, f"{_value(source, 'general.architecture')}.block_count")
    return tuple(range(count)) if recipe.blocks is None else recipe.blocks


def _write(
    path: Path,
    source: GGUFReader,
    recipe: Recipe,
    tensors: list[_Tensor],
    progress: Progress,
    cancelled: Callable[[], bool],
) -> None:
    """Write the copy tensor by tensor, so that no more than one is in memory."""
    done, total = 0, sum(tensor.size for tensor in tensors)
    with closing(GGUFWriter(path, _value(source, "general.architecture"))) as writer:
        _add_metadata(writer, source, recipe)
        for tensor in tensors:
            writer.add_tensor_info(tensor.name, tensor.shape, np.dtype(np.float32), tensor.size, tensor.format)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        for number, tensor in enumerate(tensors):
            if cancelled():
                raise Cancelled
            writer.write_tensor_data(tensor.weights(recipe.noise, np.random.default_rng((recipe.seed, number))))
            done += tensor.size
            progress(done, total)


def _add_metadata(writer: GGUFWriter, source: GGUFReader, recipe: Recipe) -> None:
    """Give `writer` the source's metadata, except for what the recipe changes."""
    changes = _changes(source, recipe)
    for field in source.fields.values():
        # GGUF.… is the reader's own, the writer has set the architecture, and the size in words is no longer true.
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.size_label", *changes):
            continue
        value, kind = field.contents(), field.types[0]
        if kind != GGUFValueType.ARRAY:
            writer.add_key_value(field.name, value, kind)
        elif value:  # the writer refuses an empty array
            writer.add_key_value(field.name, value, kind, sub_type=field.types[-1])
    for key, value in changes.items():
        writer.add_key_value(key, value, GGUFValueType.STRING if isinstance(value, str) else GGUFValueType.UINT32)


def _changes(source: GGUFReader, recipe: Recipe) -> dict[str, str | int]:
    architecture = _value(source, "general.architecture")
    changes: dict[str, str | int] = {
        "general.name": f"{_value(source, 'general.name') or 'Model'} {recipe.label}",
        f"{architecture}.block_count": len(_blocks(source, recipe)),
    }
    if recipe.units is not None:
        changes[f"{architecture}.feed_forward_length"] = recipe.units
    if recipe.units is not None or recipe.noise:
        name = "ALL_F32" if recipe.format.name == "F32" else f"MOSTLY_{recipe.format.name}"
        changes["general.file_type"] = int(LlamaFileType[name])
    return changes
