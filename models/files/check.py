"""Finds out whether llama.cpp can chat with a file before it sees it: its own answer to some files is to abort."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from specchat.models.files.errors import ModelFileError
from specchat.models.files.formats import FORMATS
from specchat.models.files.header import Header, read_header
from specchat.models.files.known import ARCHITECTURES
from specchat.models.files.numbers import check_numbers
from specchat.models.files.reading import KINDS, TOKENS
from specchat.models.files.vocabulary_check import check_embedding, check_vocabulary

_TYPES = {"mmproj": "model_is_projector", "adapter": "model_is_adapter", "imatrix": "model_is_imatrix"}

_ENCODERS = (
    *("bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2", "jina-bert-v3", "eurobert"),
    *("gemma-embedding", "llama-embed", "t5encoder"),
)
_ARCHITECTURES = {
    "clip": "model_is_projector",
    "controlvector": "model_is_adapter",
    **dict.fromkeys(_ENCODERS, "model_is_encoder"),
    "t5": "model_is_encoder_decoder",
    **dict.fromkeys(("dream", "llada", "llada-moe", "rnd1"), "model_is_diffusion"),
    **dict.fromkeys(("eagle3", "dflash", "gemma4-assistant"), "model_is_draft_head"),
    **dict.fromkeys(("wavtokenizer-dec", "qwen3tts", "pockettts"), "model_is_speech"),
}
"""Architectures that llama.cpp loads (or nearly), but that don't write text one token after another on their own."""

_MAX_PARTS = 10_000
"""Files of a split model. The largest known are a few hundred."""
_ALIGNMENT = 32
"""Where in memory weights may start; the file's own alignment may be less, and then llama.cpp ends the process."""
_FORMATS_OF_LISTS = {number for number, form in FORMATS.items() if form.name in ("F32", "I8", "I16", "I32", "I64")}
"""Norms and biases are always F32 (or whole numbers): llama.cpp ends the process over others in its first pass."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """The heads of a model that llama.cpp can chat with: of its (first) file and of a split model's other parts."""

    header: Header
    """Read with the vocabulary."""
    parts: Mapping[Path, Header]


def check_model_file(path: Path) -> None:
    """Raise `ModelFileError` if `path` can't be chatted with; also if one of a split model's other parts can't.

    Beyond the codes of `read_header`: `model_is_…` (see above; architecture), `model_vocab_only`,
    `file_architecture` (architecture), `file_architecture_unsaid`, `no_vocabulary`, `file_tokenizer` (tokenizer),
    `file_wrong_part` (first: where the first part lies), `file_part_name` (ending: how its name must end),
    `file_part_missing` (missing) and `file_number_format` (tensor, format: ggml's number for it).
    """
    inspect_model(path)


def inspect_model(path: Path) -> Inspected:
    """As `check_model_file`, with what was read on the way."""
    header = read_header(path, keep=(TOKENS, KINDS))
    _check_kind(path, header)
    parts = _parts(path, header)
    if not header.tensors and not parts:
        raise ModelFileError("model_vocab_only", path)
    _check_architecture(path, header)
    check_numbers(path, header)
    check_vocabulary(path, header)
    _check_weights(path, header)
    found = Inspected(header, {part: _read_part(path, part) for part in parts})
    tensors = [tensor for part in (header, *found.parts.values()) for tensor in part.tensors]
    check_embedding(path, header, tensors)
    return found


def _check_kind(path: Path, header: Header) -> None:
    architecture = header.architecture
    code = _TYPES.get(header.text("general.type")) or _ARCHITECTURES.get(architecture)
    if code is None and _is_encoder(header, architecture):
        code = "model_is_encoder"
    if code is not None:
        raise ModelFileError(code, path, architecture=architecture)


def _is_encoder(header: Header, architecture: str) -> bool:
    """Embedding models of a chat model's architecture name a way to pool; a chat model has none (0)."""
    pools = header.integer(f"{architecture}.pooling_type")
    return bool(pools) or header.metadata.get(f"{architecture}.attention.causal") is False


def _check_architecture(path: Path, header: Header) -> None:
    if not header.architecture:
        raise ModelFileError("file_architecture_unsaid", path)
    if header.architecture not in ARCHITECTURES:
        raise ModelFileError("file_architecture", path, architecture=header.architecture)


def _check_weights(path: Path, header: Header) -> None:
    """The tensors follow each other without gaps, and the file holds the last one's end."""
    end = offset = 0
    for tensor in header.tensors:
        if tensor.format not in FORMATS or (len(tensor.shape) < 2 and tensor.format not in _FORMATS_OF_LISTS):
            raise ModelFileError("file_number_format", path, tensor=tensor.name, format=tensor.format)
        try:
            size = tensor.size
        except ValueError:
            raise ModelFileError("file_damaged", path, what="tensors") from None
        if tensor.offset != offset or (header.data_offset + offset) % _ALIGNMENT:
            raise ModelFileError("file_damaged", path, what="tensors")
        end = offset + size
        offset = end + -end % header.alignment
    if header.data_offset + end > header.file_size and header.tensors:
        raise ModelFileError("file_truncated", path, have=header.file_size, need=header.data_offset + end)


def _parts(path: Path, header: Header) -> list[Path]:
    """The other parts of a model that is split over files as llama.cpp names them; empty for a whole model."""
    count, number = header.integer("split.count") or 1, header.integer("split.no") or 0
    if not 0 <= number < count <= _MAX_PARTS:
        raise ModelFileError("file_damaged", path, what="header")
    if count == 1:
        return []
    ending = _ending(number, count)
    if not path.name.endswith(ending):
        raise ModelFileError("file_part_name", path, ending=ending)
    paths = [path.with_name(path.name.removesuffix(ending) + _ending(part, count)) for part in range(count)]
    if number and not os.path.exists(paths[0]):  # noqa: PTH110  # which raises where a folder denies access
        raise ModelFileError("file_part_missing", path, missing=str(paths[0]))
    if number:
        raise ModelFileError("file_wrong_part", path, first=str(paths[0]))
    return paths[1:]


def _read_part(path: Path, part: Path) -> Header:
    try:
        header = read_header(part)
        _check_weights(part, header)
    except ModelFileError as error:
        if error.code != "file_missing":
            raise
        raise ModelFileError("file_part_missing", path, missing=str(part)) from None
    return header


def _ending(number: int, count: int) -> str:
    return f"-{number + 1:05d}-of-{count:05d}.gguf"
