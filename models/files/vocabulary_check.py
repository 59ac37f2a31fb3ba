"""Whether llama.cpp can make a vocabulary of what a file's head holds."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path

from specchat.models.files.errors import ModelFileError
from specchat.models.files.header import Header, Omitted, Tensor
from specchat.models.files.known import PRE_TOKENIZERS, TOKENIZERS
from specchat.models.files.reading import KINDS, TOKENS, token_texts

_MERGES, _SCORES = "tokenizer.ggml.merges", "tokenizer.ggml.scores"
_WITHOUT_MERGES = "kimi-k2"


def check_vocabulary(path: Path, header: Header) -> None:
    """Raise `ModelFileError` for a vocabulary that llama.cpp would refuse, or end the process over.

    Codes: `no_vocabulary`, `file_tokenizer` (tokenizer) and `file_damaged`.
    """
    tokens = header.texts(TOKENS)
    model, pre = header.text("tokenizer.ggml.model"), header.text("tokenizer.ggml.pre")
    if model in ("", "none", "no_vocab") or not tokens:
        raise ModelFileError("no_vocabulary", path)
    if model not in TOKENIZERS:
        raise ModelFileError("file_tokenizer", path, tokenizer=model)
    if TOKENIZERS[model] == "BPE":
        _check_bpe(path, header, "gemma4" if model == "gemma4" else pre)
    for key in (KINDS, _SCORES):
        column = header.metadata.get(key)
        if column is not None and not (isinstance(column, array | Omitted) and len(column) >= len(tokens)):
            raise ModelFileError("file_damaged", path, what="vocabulary_size")
    if len(set(token_texts(header))) < len(tokens):  # a token that comes twice ends the process
        raise ModelFileError("file_damaged", path, what="vocabulary")


def _check_bpe(path: Path, header: Header, pre: str) -> None:
    if pre and pre not in PRE_TOKENIZERS:
        raise ModelFileError("file_tokenizer", path, tokenizer=pre)
    if pre != _WITHOUT_MERGES and not isinstance(header.metadata.get(_MERGES), Omitted):
        raise ModelFileError("file_damaged", path, what="merges")


def check_embedding(path: Path, header: Header, tensors: Iterable[Tensor]) -> None:
    """Raise `ModelFileError` with `file_damaged` unless there is one row of weights for each token."""
    embedding = next((tensor for tensor in tensors if tensor.name == "token_embd.weight"), None)
    if embedding is None:
        raise ModelFileError("file_damaged", path, what="tensors")
    if embedding.shape != (header.own("embedding_length"), len(header.texts(TOKENS))):
        raise ModelFileError("file_damaged", path, what="vocabulary_size")
