"""Small vocabularies that llama.cpp can load, for `support.tiny_gguf`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gguf import GGUFWriter, TokenType

START, END = "<|im_start|>", "<|im_end|>"
"""Control tokens of the BPE vocabulary; the second ends a reply."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class TinyVocabulary:
    """`model` is the GGUF's name of the tokenizer: gpt2 (BPE), llama (SPM) or bert (WPM)."""

    model: str
    texts: tuple[str, ...]
    kinds: tuple[TokenType, ...]
    bos: int
    eos: int
    merges: tuple[str, ...] = ()
    add_bos: bool = False

    @property
    def ordinary(self) -> tuple[int, ...]:
        """The tokens that write something, single letters first."""
        return tuple(i for i, kind in enumerate(self.kinds) if kind in (TokenType.NORMAL, TokenType.BYTE))

    def write(self, writer: GGUFWriter) -> None:
        writer.add_tokenizer_model(self.model)
        writer.add_tokenizer_pre("gpt-2")
        writer.add_vocab_size(len(self.texts))
        writer.add_token_list(self.texts)
        writer.add_token_types(self.kinds)
        writer.add_token_scores([-float(i) for i in range(len(self.texts))])
        if self.merges:
            writer.add_token_merges(self.merges)
        writer.add_bos_token_id(self.bos)
        writer.add_eos_token_id(self.eos)
        writer.add_add_bos_token(self.add_bos)


def byte_vocabulary(words: Sequence[str] = ("the", " a"), controls: Sequence[str] = ()) -> TinyVocabulary:
    """Byte-level BPE: any text can be encoded. `words` (ASCII) become tokens, `controls` further control tokens."""
    special = ("<|endoftext|>", START, END, *controls)
    signs = _byte_signs()
    letters = [signs[ord(letter)] for letter in LETTERS]
    pieces, merges = [*letters, *(sign for sign in signs if sign not in letters)], []
    for word in words:
        spelled = "".join(signs[byte] for byte in word.encode())
        for end in range(2, len(spelled) + 1):
            pieces.append(spelled[:end])
            merges.append(f"{spelled[: end - 1]} {spelled[end - 1]}")
    return TinyVocabulary(
        model="gpt2",
        texts=(*special, *dict.fromkeys(pieces)),
        kinds=(TokenType.CONTROL,) * len(special) + (TokenType.NORMAL,) * len(dict.fromkeys(pieces)),
        bos=0,
        eos=2,
        merges=tuple(dict.fromkeys(merges)),
    )


def spm_vocabulary() -> TinyVocabulary:
    """SentencePiece with byte fallback, BOS and a space before every text, as Llama 2's."""
    special = {"<unk>": TokenType.UNKNOWN, "<s>": TokenType.CONTROL, "</s>": TokenType.CONTROL}
    letters = dict.fromkeys([*LETTERS, "▁", "▁a", "<", "</", "s>"], TokenType.NORMAL)
    fallback = {f"<0x{byte:02X}>": TokenType.BYTE for byte in range(256)}
    kinds = special | letters | fallback
    return TinyVocabulary("llama", tuple(kinds), tuple(kinds.values()), bos=1, eos=2, add_bos=True)


def wordpiece_vocabulary() -> TinyVocabulary:
    """BERT's kind."""
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    kinds = (TokenType.CONTROL,) * len(special) + (TokenType.NORMAL,) * len(LETTERS)
    return TinyVocabulary("bert", (*special, *(f"▁{letter}" for letter in LETTERS)), kinds, bos=2, eos=3)


def _byte_signs() -> list[str]:
    """GPT-2's printable stand-in for each byte."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(spare)) for byte in range(256)]
