"""Text to tokens and back, with a model's own vocabulary."""

from __future__ import annotations

import ctypes
import re
from functools import cached_property

import llama_cpp

from specchat.models.files.vocabulary import KIND_BITS, TokenKind, Vocabulary
from specchat.models.llama.model import LlamaModel

_KINDS = {1: "SPM", 2: "BPE", 3: "WPM", 4: "UGM", 5: "RWKV", 6: "PLAMO2"}
"""`enum llama_vocab_type`."""

_HARMONY = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>")
"""Control tokens of GPT-OSS that llama.cpp turns into ordinary ones, so that they are rendered and parsed in any text
(llama-vocab.cpp, "quick hack for gpt-oss")."""


class Tokenizer:
    """The vocabulary of `model`, which must outlive it."""

    def __init__(self, model: LlamaModel) -> None:
        self._model = model
        vocab = model.vocab
        self.n_vocab: int = llama_cpp.llama_vocab_n_tokens(vocab)
        self._attributes: list[int] = [llama_cpp.llama_vocab_get_attr(vocab, i) for i in range(self.n_vocab)]
        self._pieces: dict[int, bytes] = {}
        self.bos = self._special(llama_cpp.llama_vocab_bos(vocab), "tokenizer.ggml.bos_token_id")
        self.eos = self._special(llama_cpp.llama_vocab_eos(vocab), "tokenizer.ggml.eos_token_id")
        self.add_bos: bool = self.bos is not None and llama_cpp.llama_vocab_get_add_bos(vocab)
        """Whether a text should start with `bos`; `encode` never adds it."""
        self.add_eos: bool = self.eos is not None and llama_cpp.llama_vocab_get_add_eos(vocab)

    def encode(self, text: str, special: bool) -> list[int]:
        """The tokens of `text`, with no BOS or EOS around them.

        With `special`, the texts of control tokens become those tokens; without, no control token ever comes out
        of a text. Half a surrogate pair becomes U+FFFD.
        """
        tokens = self._tokenize(text, special)
        if special or self._reserved.isdisjoint(tokens):
            return tokens
        # Cut into the reserved texts, so that none is whole any more.
        return [token for part in self._reserved_texts.split(text) for token in self._tokenize(part, False)]

    def piece(self, token: int) -> bytes:
        """The bytes that `token` adds to a text: none for control tokens, perhaps part of a character."""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._render(token)
        return known

    def text(self, token: int | None) -> str:
        """What the vocabulary calls `token`, as chat templates write it; empty for None."""
        return "" if token is None else self._text(token).decode(errors="replace")

    def is_end(self, token: int) -> bool:
        """Whether `token` ends a reply."""
        ends: bool = llama_cpp.llama_vocab_is_eog(self._model.vocab, token)
        return ends

    @cached_property
    def adds_space_prefix(self) -> bool:
        """Whether `encode` puts a space before a text."""
        return b"".join(map(self.piece, self.encode("a", special=False))).startswith(b" ")

    def control_texts(self) -> tuple[str, ...]:
        """The texts that `encode` with `special` makes control tokens of."""
        return tuple(self._text(token).decode(errors="replace") for token in sorted(self._reserved))

    def vocabulary(self) -> Vocabulary:
        """The whole vocabulary as a plain value."""
        return Vocabulary(
            kind=_KINDS.get(llama_cpp.llama_vocab_type(self._model.vocab), "none"),
            tokens=tuple(self._text(token) for token in range(self.n_vocab)),
            # Tokens that llama.cpp found out to be control tokens keep a second kind.
            attributes=tuple(
                TokenKind.CONTROL if bits & TokenKind.CONTROL else bits & KIND_BITS for bits in self._attributes
            ),
            bos=self.bos,
            eos=self.eos,
            add_bos=self.add_bos,
            add_eos=self.add_eos,
        )

    @cached_property
    def _reserved(self) -> frozenset[int]:
        bits = TokenKind.CONTROL | TokenKind.UNKNOWN
        harmony = [self._tokenize(text, True) for text in _HARMONY]
        return frozenset(
            [token for token, attribute in enumerate(self._attributes) if attribute & bits]
            + [tokens[0] for tokens in harmony if len(tokens) == 1]
        )

    @cached_property
    def _reserved_texts(self) -> re.Pattern[str]:
        """Matches the place after the first character of each reserved text."""
        texts = (text for text in self.control_texts() if len(text) > 1)
        return re.compile("|".join(f"(?<={re.escape(text[0])})(?={re.escape(text[1:])})" for text in texts))

    def _special(self, token: int, key: str) -> int | None:
        # For BPE, llama.cpp takes token 11 where the file names none.
        if not 0 <= token < self.n_vocab:
            return None
        return token if key in self._model.metadata or self._attributes[token] & TokenKind.CONTROL else None

    def _text(self, token: int) -> bytes:
        text: bytes = llama_cpp.llama_vocab_get_text(self._model.vocab, token)
        return text

    def _tokenize(self, text: str, special: bool) -> list[int]:
        data = _utf8(text)
        room = len(data) + 8
        while True:
            buffer = (llama_cpp.llama_token * room)()
            count: int = llama_cpp.llama_tokenize(self._model.vocab, data, len(data), buffer, room, False, special)
            if count >= 0:
                return list(buffer[:count])
            room = -count

    def _render(self, token: int) -> bytes:
        if not 0 <= token < self.n_vocab:
            raise IndexError(token)  # llama.cpp would end the process
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            count: int = llama_cpp.llama_token_to_piece(self._model.vocab, token, buffer, room, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            room = -count


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Joins surrogate pairs, as JSON from elsewhere may hold them, and replaces single halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
