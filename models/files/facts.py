"""What a model file says about its model: all that a person chooses by, and all that memory and pairs are judged by.

Facts are plain and small (a few kB of JSON), so that they can be kept by path, size and time of change: reading them
takes about a tenth of a second with a large vocabulary.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypedDict

import msgspec

from specchat.models.files.check import Inspected, inspect_model
from specchat.models.files.errors import ModelFileError
from specchat.models.files.formats import FORMATS, MIXES
from specchat.models.files.header import Header, Tensor
from specchat.models.files.known import HYBRID, RECURRENT
from specchat.models.files.reading import vocabulary_of
from specchat.models.files.shape import Shape, shape_of
from specchat.models.files.vocabulary import Vocabulary

FACTS_VERSION = 2
"""Changes whenever facts that were kept are no longer what `read_facts` would say."""

_BLOCK = re.compile(r"blk\.(\d{1,4})\.")
_ONE_EXPERT = re.compile(r"\.ffn_(?:gate|up|down)\.\d+\.weight$")
_INPUT = ("token_embd.", "token_embd_norm.", "position_embd.", "token_types.", "per_layer_token_embd.")

_THINKING = ("<think>", "</think>", "enable_thinking", "thinking_budget", "reasoning_effort", "[THINK]", "<|channel|>")
"""What the templates of models that think before they answer write, or ask for."""


class Weights(msgspec.Struct, frozen=True):
    """Bytes of a group of tensors, and how many of them are matrices of each format that CPUs like rearranged."""

    size: int = 0
    matrices: dict[str, int] = {}


class VocabularyPrint(msgspec.Struct, frozen=True):
    """A vocabulary in short. Two of equal `digest` are equal in every way that `pairing.compare` looks at."""

    kind: str
    size: int
    digest: str


class Facts(msgspec.Struct, frozen=True):
    """A model that llama.cpp can chat with, by what its file says. Sizes in bytes, contexts in tokens.

    All texts come from the file and are neither cleaned nor shortened.
    """

    path: str
    parts: tuple[str, ...]
    """Every file of the model, `path` first."""
    size: int
    """Bytes of all parts."""
    name: str
    architecture: str
    parameters: int
    active_parameters: int
    """Parameters that one token is computed with: fewer than all in a mixture of experts."""
    quantisation: str
    """As a person knows it: `Q4_K_M`, `BF16` …"""
    ctx_trained: int
    has_template: bool
    thinks: bool
    """Whether its template knows of thinking before the answer."""
    licence: str
    """As the file names it; empty if it doesn't."""
    layers: int
    experts: int
    """Experts of a layer; 0 if it is no mixture."""
    rolls_back: bool
    """Whether it can take back tokens. A recurrent model can't, and neither drafts nor is drafted for."""
    active_size: int
    """Bytes of weights that are read to compute one token: not the table of inputs, and not experts left aside."""
    vocabulary: VocabularyPrint
    shape: Shape
    input: Weights
    """What stays in RAM, whatever goes to a GPU."""
    blocks: tuple[Weights, ...]
    output: Weights
    """Goes to a GPU as if it were one more layer."""
    tied: Weights
    """What of `input` is the output's matrix as well; a GPU gets a copy."""


def read_facts(path: Path) -> Facts:
    """The facts of the GGUF `path` (of a split model: its first part).

    Raises `ModelFileError` as `check.check_model_file` does, and nothing else, if it can't be chatted with.
    """
    found = inspect_model(path)
    vocabulary = vocabulary_of(found.header)
    if vocabulary is None:  # `inspect_model` has looked
        raise ModelFileError("no_vocabulary", path)
    return _facts(path, found, vocabulary)


def _facts(path: Path, found: Inspected, vocabulary: Vocabulary) -> Facts:
    header = found.header
    tensors = [tensor for part in (header, *found.parts.values()) for tensor in part.tensors]
    layers, template = header.own("block_count") or 0, header.text("tokenizer.chat_template")
    share = _share(header, layers)
    return Facts(
        path=str(path),
        parts=tuple(map(str, (path, *found.parts))),
        size=sum(part.file_size for part in (header, *found.parts.values())),
        name=header.text("general.name").strip() or path.stem,
        architecture=header.architecture,
        parameters=sum(tensor.count for tensor in tensors),
        active_parameters=round(sum(tensor.count * (share if _is_expert(tensor) else 1.0) for tensor in tensors)),
        quantisation=_quantisation(header, tensors),
        ctx_trained=header.own("context_length") or 0,
        has_template=bool(template),
        thinks=any(sign in template for sign in _THINKING),
        licence=header.text("general.license"),
        layers=layers,
        experts=header.own("expert_count") or 0,
        rolls_back=header.architecture not in RECURRENT | HYBRID,
        active_size=_active_size(tensors, share),
        vocabulary=_print(vocabulary),
        shape=shape_of(header),
        **_groups(tensors, layers),
    )


def _share(header: Header, layers: int) -> float:
    """The share of a mixture's experts that one token is sent to; 1 if it is no mixture."""
    experts = header.own("expert_count") or 0
    return max(header.each("expert_used_count", layers), default=0) / experts if experts else 1.0


def _is_expert(tensor: Tensor) -> bool:
    return "_exps." in tensor.name or bool(_ONE_EXPERT.search(tensor.name))


def _quantisation(header: Header, tensors: Iterable[Tensor]) -> str:
    mix = MIXES.get(header.integer("general.file_type") or 0, "")
    sizes: Counter[int] = Counter()
    for tensor in tensors:
        sizes[tensor.format] += tensor.size
    (most, _size), *_rest = sizes.most_common(1) or [(0, 0)]
    main = FORMATS[most].name
    # Files are said to be F32 (0) by writers that leave the number out or never set it.
    return mix if mix and (mix != "F32" or main == "F32") else main


def _print(vocabulary: Vocabulary) -> VocabularyPrint:
    digest = blake2b(digest_size=16)
    rest = (vocabulary.kind, vocabulary.bos, vocabulary.eos, vocabulary.add_bos, vocabulary.add_eos)
    digest.update(repr(rest).encode())
    digest.update(array("I", map(len, vocabulary.tokens)).tobytes())
    digest.update(b"".join(vocabulary.tokens))
    digest.update(bytes(vocabulary.attributes))
    return VocabularyPrint(vocabulary.kind, len(vocabulary.tokens), digest.hexdigest())


class _Groups(TypedDict):
    input: Weights
    blocks: tuple[Weights, ...]
    output: Weights
    tied: Weights


def _groups(tensors: Sequence[Tensor], layers: int) -> _Groups:
    """The tensors' bytes by where llama.cpp puts them: before, in and after the layers."""
    groups: dict[int, list[Tensor]] = {}
    for tensor in tensors:
        block = _BLOCK.match(tensor.name)
        number = int(block[1]) if block else -1 if tensor.name.startswith(_INPUT) else layers
        groups.setdefault(number, []).append(tensor)
    weighed = {number: _weigh(group) for number, group in groups.items()}
    return _Groups(
        input=weighed.get(-1, Weights()),
        blocks=tuple(weighed.get(number, Weights()) for number in range(layers)),
        output=weighed.get(layers, Weights()),
        tied=_weigh(_tied(tensors)),
    )


def _tied(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The table of inputs where it is the output's matrix, too."""
    if any(tensor.name == "output.weight" for tensor in tensors):
        return []
    return [tensor for tensor in tensors if tensor.name == "token_embd.weight"]


def _active_size(tensors: Sequence[Tensor], share: float) -> int:
    """Bytes read for a token that is sent to `share` of the experts."""
    read = [tensor for tensor in tensors if not tensor.name.startswith(_INPUT)] + _tied(tensors)
    return round(sum(tensor.size * (share if _is_expert(tensor) else 1.0) for tensor in read))


def _weigh(tensors: list[Tensor]) -> Weights:
    matrices: Counter[str] = Counter()
    for tensor in tensors:
        if len(tensor.shape) > 1:
            matrices[FORMATS[tensor.format].name] += tensor.size
    return Weights(sum(tensor.size for tensor in tensors), dict(matrices))
