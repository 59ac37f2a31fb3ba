"""A model's vocabulary as its file tells it: what llama.cpp would make of it, without llama.cpp."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path

from specchat.models.files.errors import ModelFileError
from specchat.models.files.header import Header, read_header
from specchat.models.files.known import TOKENIZERS
from specchat.models.files.vocabulary import TokenKind, Vocabulary

TOKENS, KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"

_KINDS: dict[float, int] = {
    1: TokenKind.NORMAL,
    2: TokenKind.UNKNOWN,
    3: TokenKind.CONTROL,
    4: TokenKind.USER_DEFINED,
    5: TokenKind.UNUSED,
    6: TokenKind.BYTE,
}
"""`enum llama_token_type`; any other number is `TokenKind.UNDEFINED`."""

_DEFAULTS: dict[str, tuple[int | None, int | None]] = {
    "llama": (1, 2),
    "bert": (101, None),
    "t5": (None, 1),
    "plamo2": (1, 2),
    **dict.fromkeys(("gpt2", "hybriddna", "whitespace"), (11, 11)),
}
"""BOS and EOS where the file names none."""
_WITHOUT_BOS = frozenset({"chatglm-bpe", "glm4", "glm5"})
_ADDING_BOS = frozenset(
    {"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"}
    | {"tekken", "chameleon"}
)
_ALWAYS_BOS = frozenset({"gemma4", "granite-embed-multi-311m"})

_ENDS = frozenset(
    "<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s> "
    "<|eom_id|> <EOT> _<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos> <turn|> <|tool_response> "
    "<｜end▁of▁sentence｜> [e~[".encode().split()
)
"""Texts that end a reply: control tokens, whatever the file says of them."""
_FILL_IN = {
    "fim_pre": "<|fim_prefix|> <fim-prefix> <fim_prefix> <｜fim▁begin｜> <PRE> ▁<PRE> <|code_prefix|> <|prefix|>",
    "fim_suf": "<|fim_suffix|> <fim-suffix> <fim_suffix> <｜fim▁hole｜> <SUF> ▁<SUF> <|code_suffix|> <|suffix|>",
    "fim_mid": "<|fim_middle|> <fim-middle> <fim_middle> <｜fim▁end｜> <MID> ▁<MID> <|code_middle|> <|middle|>",
    "fim_pad": "<|fim_pad|> <fim-pad> <fim_pad> <PAD> [PAD]",
    "fim_rep": "<|fim_repo|> <|repo_name|> <fim-repo> <REPO> <reponame>",
    "fim_sep": "<|file_sep|>",
}
"""Texts for filling in code: control tokens as well, unless the file names the token of that purpose."""
_OLD_NAMES = {"fim_pre": "prefix", "fim_suf": "suffix", "fim_mid": "middle"}
_HARMONY = tuple(b"<|channel|> <|message|> <|start|> <|constrain|>".split())
_CALLS, _RETURNS = {b"<|call|>", b"<|calls|>"}, {b"<|return|>", b"<|flush|>"}
"""Where there is one of each, a message may go on after `<|end|>`."""


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of the GGUF `path`. Raises `ModelFileError`, also with `no_vocabulary`."""
    vocabulary = vocabulary_of(read_header(path, keep=(TOKENS, KINDS)))
    if vocabulary is None:
        raise ModelFileError("no_vocabulary", path)
    return vocabulary


def vocabulary_of(header: Header) -> Vocabulary | None:
    """The vocabulary in `header`, which was read with `TOKENS` and `KINDS` kept; None if there is none.

    As `llama_vocab::impl::load` builds it and `specchat.models.llama.tokenizer.Tokenizer.vocabulary` returns it.
    """
    model = header.text("tokenizer.ggml.model")
    tokens = token_texts(header)
    if model not in TOKENIZERS or not tokens:
        return None
    attributes = _attributes(header, tokens)
    bos, eos = (_special(header, name, attributes) for name in ("bos", "eos"))
    adds_bos, adds_eos = _adds(header)
    return Vocabulary(
        kind=TOKENIZERS[model],
        tokens=tokens,
        attributes=tuple(attributes),
        bos=bos,
        eos=eos,
        add_bos=bos is not None and adds_bos,
        add_eos=eos is not None and adds_eos,
    )


def token_texts(header: Header) -> tuple[bytes, ...]:
    """The texts of the tokens as llama.cpp has them: they end at a NUL character, and none is empty."""
    stored = header.texts(TOKENS)
    if b"\0" in b"".join(stored):
        stored = tuple(text.partition(b"\0")[0] for text in stored)
    if b"" in stored:
        stored = tuple(text or b"[EMPTY_%d]" % token for token, text in enumerate(stored))
    return stored


def _attributes(header: Header, tokens: tuple[bytes, ...]) -> list[int]:
    kinds = header.metadata.get(KINDS)
    if isinstance(kinds, array) and kinds.typecode == "i" and len(kinds) >= len(tokens):
        attributes = [_KINDS.get(kind, 0) for kind in kinds[: len(tokens)]]
    else:
        attributes = [int(TokenKind.NORMAL)] * len(tokens)
    ids = {text: token for token, text in enumerate(tokens)}
    ends = _ENDS & ids.keys()
    for text in (*ends, *_found(header, ids)):
        attributes[ids[text]] = TokenKind.CONTROL
    for text in _HARMONY:
        if text in ids:
            attributes[ids[text]] = TokenKind.USER_DEFINED
    if b"<|end|>" in ends and ends & _CALLS and ends & _RETURNS:
        attributes[ids[b"<|end|>"]] = TokenKind.USER_DEFINED
    if b"</s>" in ends and (b"<|tool_response>" in ends or tokens[_id(header, "eos") or 0] == b"<|plamo:eos|>"):
        attributes[ids[b"</s>"]] = TokenKind.NORMAL
    return attributes


def _found(header: Header, ids: dict[bytes, int]) -> Iterable[bytes]:
    """The tokens for filling in code that the file doesn't name. llama.cpp takes any one of several for one purpose."""
    for purpose, texts in _FILL_IN.items():
        names = (purpose, *([_OLD_NAMES[purpose]] if purpose in _OLD_NAMES else ()))
        if not any(_named(header, name, len(ids)) for name in names):
            yield from (text for text in texts.encode().split() if text in ids)


def _named(header: Header, name: str, count: int) -> bool:
    token = header.integer(f"tokenizer.ggml.{name}_token_id")
    return token is not None and 0 <= token < count


def _id(header: Header, name: str) -> int | None:
    """The id of BOS or EOS, of the file or by default; None if it is beyond the vocabulary."""
    count = len(header.texts(TOKENS))
    if _named(header, name, count):
        return header.integer(f"tokenizer.ggml.{name}_token_id")
    bos, eos = _DEFAULTS.get(header.text("tokenizer.ggml.model"), (None, None))
    if header.text("tokenizer.ggml.pre") in _WITHOUT_BOS:
        bos = None
    default = bos if name == "bos" else eos
    return default if default is not None and default < count else None


def _special(header: Header, name: str, attributes: list[int]) -> int | None:
    """As `_id`, but a default must be a control token: for BPE it is 11 whatever that is."""
    token = _id(header, name)
    stated = f"tokenizer.ggml.{name}_token_id" in header.metadata
    return token if token is not None and (stated or attributes[token] == TokenKind.CONTROL) else None


def _adds(header: Header) -> tuple[bool, bool]:
    """Whether a text gets a BOS before and an EOS behind it."""
    kind, pre = TOKENIZERS[header.text("tokenizer.ggml.model")], header.text("tokenizer.ggml.pre")
    if header.text("tokenizer.ggml.model") == "gemma4":
        pre = "gemma4"
    bos = kind in ("SPM", "WPM") or (kind == "BPE" and pre in _ADDING_BOS)
    bos = _flag(header, "add_bos_token", bos) or (kind == "BPE" and pre in _ALWAYS_BOS)
    return bos, _flag(header, "add_eos_token", kind == "UGM")


def _flag(header: Header, name: str, default: bool) -> bool:
    value = header.metadata.get(f"tokenizer.ggml.{name}")
    return value if isinstance(value, bool) else default
