"""A vocabulary read from a file's head is the one that llama.cpp makes of it, and the head what gguf reads in it."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path

import llama_cpp
import pytest
from gguf import GGUFReader, TokenType

from specchat.models.files.bundled import bundled_model
from specchat.models.files.header import Omitted, read_header
from specchat.models.files.known import ARCHITECTURES, PRE_TOKENIZERS
from specchat.models.files.reading import read_vocabulary
from specchat.models.llama.model import open_model
from specchat.models.llama.tokenizer import Tokenizer
from support.tiny_gguf import write_tiny_llama
from support.tiny_vocabulary import TinyVocabulary, byte_vocabulary, spm_vocabulary

HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|return|>", "<|call|>")


def spelled(vocabulary: TinyVocabulary, *texts: str, kind: TokenType = TokenType.NORMAL) -> TinyVocabulary:
    """`vocabulary` with more tokens, which the file says are of `kind`."""
    kinds = (*vocabulary.kinds, *[kind] * len(texts))
    return replace(vocabulary, texts=(*vocabulary.texts, *texts), kinds=kinds)


VOCABULARIES = {
    "bpe": byte_vocabulary(),
    "bpe with BOS": replace(byte_vocabulary(), add_bos=True),
    "spm": spm_vocabulary(),
    "empty tokens": spelled(byte_vocabulary(), "", ""),
    "tokens with NUL characters": spelled(byte_vocabulary(), "long word\0y", "\0", "\0z"),
    "harmony": spelled(byte_vocabulary(), *HARMONY, kind=TokenType.CONTROL),
    "an end that was called a word": spelled(byte_vocabulary(), "<|eot_id|>", "<end_of_turn>", "[EOS]", "<|end|>"),
    "code": spelled(byte_vocabulary(), "<|fim_prefix|>", "<fim_suffix>", "<|file_sep|>", "<PAD>"),
    "a word </s>": spelled(byte_vocabulary(), "</s>", "<|tool_response>", kind=TokenType.USER_DEFINED),
    "BOS beyond the end": replace(byte_vocabulary(), bos=100_000, eos=100_000),
    "every kind": spelled(spelled(byte_vocabulary(), "x1", kind=TokenType.UNUSED), "x2", kind=TokenType.UNKNOWN),
}


def assert_equal(path: Path) -> None:
    model = open_model(path, 0, -1)
    assert read_vocabulary(path) == Tokenizer(model).vocabulary()
    model.free()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_tiny(tmp_path: Path, name: str) -> None:
    assert_equal(write_tiny_llama(tmp_path / "tiny.gguf", vocabulary=VOCABULARIES[name]))


def test_bundled() -> None:
    path = bundled_model()
    assert path is not None
    assert_equal(path)


def test_the_head_is_what_gguf_reads(tmp_path: Path) -> None:
    path = write_tiny_llama(tmp_path / "tiny.gguf", template="{{ messages }}")
    header, reader = read_header(path, keep=("tokenizer.ggml.tokens",)), GGUFReader(path)
    assert header.metadata.keys() == {name for name in reader.fields if not name.startswith("GGUF.")}
    for name, value in header.metadata.items():
        theirs = reader.fields[name].contents()
        if isinstance(value, Omitted):
            assert len(value) == len(theirs)
        elif isinstance(value, array):
            assert value.tolist() == theirs
        else:
            assert ([text.decode() for text in value] if isinstance(value, tuple) else value) == theirs
    ours = [(t.name, t.shape, t.format, t.size, header.data_offset + t.offset) for t in header.tensors]
    assert ours == [
        (t.name, tuple(map(int, t.shape)), int(t.tensor_type), t.n_bytes, t.data_offset) for t in reader.tensors
    ]


def test_every_name_is_one_that_the_installed_llama_cpp_knows() -> None:
    library = Path(llama_cpp.llama_cpp._lib._name).read_bytes()
    unknown = [name for name in ARCHITECTURES | PRE_TOKENIZERS if name.encode() + b"\0" not in library]
    assert unknown == []
