"""Text to tokens and back, on tiny vocabularies and the bundled model's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gguf import TokenType

from specchat.models.files.bundled import bundled_model
from specchat.models.files.vocabulary import TokenKind
from specchat.models.llama.model import open_model
from specchat.models.llama.tokenizer import Tokenizer
from support.tiny_gguf import write_tiny_llama
from support.tiny_vocabulary import END, START, TinyVocabulary, byte_vocabulary, spm_vocabulary

TEXTS = ("the cat", "  two  spaces\n\ttab", "naïve 漢字 😀 e\u0301", "a\0b", "", f"{START}user{END}", "</s> <s> <unk>")
HARMONY = ("<|start|>", "<|message|>")

Open = Callable[[TinyVocabulary], Tokenizer]


@pytest.fixture
def tokenizer(tmp_path: Path) -> Iterator[Open]:
    models = []

    def open_one(vocabulary: TinyVocabulary) -> Tokenizer:
        models.append(open_model(write_tiny_llama(tmp_path / "tiny.gguf", vocabulary=vocabulary), 0, -1))
        return Tokenizer(models[-1])

    yield open_one
    for model in models:
        model.free()


@pytest.fixture(scope="module")
def bundled() -> Iterator[Tokenizer]:
    path = bundled_model()
    assert path is not None
    model = open_model(path, 0, -1)
    yield Tokenizer(model)
    model.free()


def written(tokenizer: Tokenizer, tokens: list[int]) -> bytes:
    return b"".join(map(tokenizer.piece, tokens))


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back_from_bpe(tokenizer: Open, text: str) -> None:
    bpe = tokenizer(byte_vocabulary())
    assert written(bpe, bpe.encode(text, special=False)) == text.encode()
    assert not bpe.adds_space_prefix


@pytest.mark.parametrize("text", [text for text in TEXTS if text])
def test_text_comes_back_from_sentencepiece_after_a_space(tokenizer: Open, text: str) -> None:
    spm = tokenizer(spm_vocabulary())
    assert spm.adds_space_prefix
    # Where a text looks like a control token it is cut, and the parts are texts of their own.
    assert written(spm, spm.encode(text, special=False)).replace(b" ", b"") == text.replace(" ", "").encode()


@pytest.mark.parametrize("text", TEXTS)
def test_text_comes_back_from_the_bundled_model(bundled: Tokenizer, text: str) -> None:
    assert written(bundled, bundled.encode(text, special=False)) == text.encode()


def test_a_token_of_64_spaces_is_not_lost(bundled: Tokenizer) -> None:
    tokens = bundled.encode(" " * 64, special=False)
    assert written(bundled, tokens) == b" " * 64
    assert len(tokens) == 1


@pytest.mark.parametrize(
    ("text", "meant"),
    [("\ud83d\ude00", "😀"), ("a\ud83d", "a\ufffd"), ("\ude00b", "\ufffdb"), ("😀\udc80", "😀\ufffd")],
)
def test_surrogates_become_characters(tokenizer: Open, text: str, meant: str) -> None:
    bpe = tokenizer(byte_vocabulary())
    assert written(bpe, bpe.encode(text, special=False)) == meant.encode()


def test_control_tokens_come_from_templates_and_write_nothing(tokenizer: Open) -> None:
    bpe = tokenizer(byte_vocabulary())
    tokens = bpe.encode(f"{START}a{END}", special=True)
    assert tokens == [1, *bpe.encode("a", special=False), 2]
    assert written(bpe, tokens) == b"a"
    assert set(bpe.control_texts()) == {"<|endoftext|>", START, END}
    assert (bpe.text(1), bpe.text(2), bpe.text(None)) == (START, END, "")


@pytest.mark.parametrize("vocabulary", [byte_vocabulary(), spm_vocabulary(), byte_vocabulary(controls=HARMONY)])
def test_user_text_never_becomes_a_control_token(tokenizer: Open, vocabulary: TinyVocabulary) -> None:
    chosen = tokenizer(vocabulary)
    controls = {i for i, kind in enumerate(vocabulary.kinds) if kind in (TokenType.CONTROL, TokenType.UNKNOWN)}
    for control in controls:
        text = vocabulary.texts[control]
        assert control in chosen.encode(text, special=True)
        assert controls.isdisjoint(chosen.encode(f"a{text}b {text}{text}", special=False))
    assert set(chosen.control_texts()) == {vocabulary.texts[i] for i in controls}


def test_ends_and_the_tokens_around_a_text(tokenizer: Open, bundled: Tokenizer) -> None:
    bpe, spm = tokenizer(byte_vocabulary()), tokenizer(spm_vocabulary())
    assert [token for token in range(bpe.n_vocab) if bpe.is_end(token)] == [0, 2]
    assert (bpe.bos, bpe.eos, bpe.add_bos) == (0, 2, False)
    assert (spm.bos, spm.eos, spm.add_bos) == (1, 2, True)
    assert spm.encode("a", special=True)[0] != spm.bos
    assert bundled.is_end(bundled.encode("<|im_end|>", special=True)[0])


def test_tokens_outside_the_vocabulary_are_refused(tokenizer: Open) -> None:
    bpe = tokenizer(byte_vocabulary())
    for token in (-1, bpe.n_vocab):
        with pytest.raises(IndexError):
            bpe.piece(token)


def test_the_vocabulary_as_a_value(tokenizer: Open) -> None:
    tiny = spm_vocabulary()
    value = tokenizer(tiny).vocabulary()
    assert value.kind == "SPM"
    assert value.tokens == tuple(text.encode() for text in tiny.texts)
    kinds = {
        TokenType.UNKNOWN: TokenKind.UNKNOWN,
        TokenType.CONTROL: TokenKind.CONTROL,
        TokenType.NORMAL: TokenKind.NORMAL,
        TokenType.BYTE: TokenKind.BYTE,
    }
    assert value.attributes == tuple(kinds[kind] for kind in tiny.kinds)
    assert (value.bos, value.eos, value.add_bos, value.add_eos) == (1, 2, True, False)
    assert tokenizer(byte_vocabulary()).vocabulary().kind == "BPE"
