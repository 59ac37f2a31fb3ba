"""Checks the numbers of a model's head that llama.cpp takes on trust: wrong ones end the process."""

from __future__ import annotations

from pathlib import Path

from specchat.models.files.errors import ModelFileError
from specchat.models.files.header import Header

MAX_LAYERS = 512
"""Above it (or without any layer) llama.cpp ends the process."""
MAX_EXPERTS = 512
"""Experts of a layer, likewise (`LLAMA_MAX_EXPERTS`)."""

_ROPE_SCALINGS = ("none", "linear", "yarn", "longrope")


def check_numbers(path: Path, header: Header) -> None:
    """Raise `ModelFileError` with `file_damaged` if a number is one that llama.cpp would abort over."""
    layers = header.own("block_count")
    if layers is not None and not 0 < layers <= MAX_LAYERS:
        raise ModelFileError("file_damaged", path, what="layers")
    if not _sound(header, layers or 0):
        raise ModelFileError("file_damaged", path, what="numbers")


def _sound(header: Header, layers: int) -> bool:
    if header.text(f"{header.architecture}.rope.scaling.type") not in ("", *_ROPE_SCALINGS):
        return False
    if (header.own("nextn_predict_layers") or 0) > layers:
        return False
    return _sound_experts(header, layers)


def _sound_experts(header: Header, layers: int) -> bool:
    experts, groups = header.own("expert_count") or 0, header.own("expert_group_count") or 0
    used = max(header.each("expert_used_count", layers), default=0)
    if experts == 0:
        return used == groups == 0
    if not (0 < used <= experts <= MAX_EXPERTS and groups < experts):
        return False
    return groups <= 1 or (experts % groups == 0 and 0 < (header.own("expert_group_used_count") or 0) < groups)
