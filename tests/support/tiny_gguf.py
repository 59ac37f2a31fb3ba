"""Real GGUF files of a few hundred kB with random F32 weights, for tests that run llama.cpp."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from gguf import GGUFWriter
from numpy.typing import NDArray

from support.tiny_vocabulary import TinyVocabulary, byte_vocabulary, wordpiece_vocabulary

_BIAS = 4.0
"""Size of a hidden value that is the same for every token and left alone by every layer."""
_NEVER = -12.0
"""Weight on that value in the output row of a token that must not be written; its logit is below -20."""


class _Weights:
    """Draws the tensors and adds them to the file."""

    def __init__(self, writer: GGUFWriter, seed: int) -> None:
        self._writer = writer
        self._rng = np.random.default_rng(seed)

    def add(self, name: str, tensor: NDArray[np.floating]) -> None:
        self._writer.add_tensor(name, tensor.astype(np.float32))

    def ones(self, *sizes: tuple[str, int]) -> None:
        for name, size in sizes:
            self.add(f"{name}.weight", np.ones(size))

    def matrix(self, name: str, outputs: int, inputs: int, scale: float = 1.0) -> None:
        self.add(f"{name}.weight", self.draw(outputs, inputs, scale))

    def draw(self, outputs: int, inputs: int, scale: float = 1.0) -> NDArray[np.floating]:
        return self._rng.normal(0, scale / np.sqrt(inputs), (outputs, inputs))


def write_tiny_llama(
    path: Path,
    *,
    vocabulary: TinyVocabulary | None = None,
    architecture: str = "llama",
    seed: int = 0,
    layers: int = 2,
    width: int = 32,
    heads: int = 2,
    ctx_train: int = 256,
    scale: float = 1.5,
    template: str | None = None,
    usable: int = 0,
    ends: bool = False,
) -> Path:
    """Write a llama model (or another `architecture` with the same tensors) to `path`.

    `scale` is about the standard deviation of the logits. With `usable`, only the first so many of
    `vocabulary.ordinary`, and with `ends` the end token, have a probability that matters at temperature 1;
    otherwise every token has one.
    """
    vocabulary = vocabulary or byte_vocabulary()
    writer = _begin(path, architecture, layers=layers, width=width, heads=heads, ctx_train=ctx_train)
    vocabulary.write(writer)
    if template is not None:
        writer.add_chat_template(template)
    weights = _Weights(writer, seed)
    count = len(vocabulary.texts)
    embedding = weights.draw(count, width, np.sqrt(width))
    embedding[:, 0] = _BIAS
    weights.add("token_embd.weight", embedding)
    for i in range(layers):
        _add_block(weights, f"blk.{i}", width)
    weights.ones(("output_norm", width))
    output = weights.draw(count, width, scale)
    output[:, 0] = 0
    if usable:
        written = [*vocabulary.ordinary[:usable], *([vocabulary.eos] if ends else [])]
        output[np.setdiff1d(np.arange(count), written), 0] = _NEVER
    weights.add("output.weight", output)
    return _finish(writer, path)


def write_tiny_sliding(path: Path, *, window: int = 8, seed: int = 0, width: int = 32, heads: int = 2) -> Path:
    """Write a gemma3 model, whose layers look back `window` tokens."""
    vocabulary = byte_vocabulary()
    writer = _begin(path, "gemma3", layers=2, width=width, heads=heads, ctx_train=1024)
    writer.add_sliding_window(window)
    vocabulary.write(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", len(vocabulary.texts), width)
    for i in range(2):
        block = f"blk.{i}"
        _add_block(weights, block, width)
        weights.ones((f"{block}.post_attention_norm", width), (f"{block}.post_ffw_norm", width))
        weights.ones((f"{block}.attn_k_norm", width // heads), (f"{block}.attn_q_norm", width // heads))
    weights.ones(("output_norm", width))
    return _finish(writer, path)


def write_tiny_recurrent(path: Path, *, seed: int = 0, width: int = 32) -> Path:
    """Write a mamba model, which can't roll back."""
    vocabulary, inner, state, rank = byte_vocabulary(), 2 * width, 4, 2
    writer = _begin(path, "mamba", layers=2, width=width, heads=0, ctx_train=256)
    writer.add_ssm_conv_kernel(4)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(rank)
    vocabulary.write(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", len(vocabulary.texts), width)
    for block in ("blk.0", "blk.1"):
        weights.ones((f"{block}.attn_norm", width))
        weights.matrix(f"{block}.ssm_in", 2 * inner, width)
        weights.matrix(f"{block}.ssm_conv1d", inner, 4)
        weights.add(f"{block}.ssm_conv1d.bias", np.zeros(inner))
        weights.matrix(f"{block}.ssm_x", rank + 2 * state, inner)
        weights.matrix(f"{block}.ssm_dt", inner, rank)
        weights.add(f"{block}.ssm_dt.bias", np.zeros(inner))
        weights.add(f"{block}.ssm_a", -np.ones((inner, state)))
        weights.add(f"{block}.ssm_d", np.ones(inner))
        weights.matrix(f"{block}.ssm_out", width, inner)
    weights.ones(("output_norm", width))
    return _finish(writer, path)


def write_tiny_bert(path: Path, *, seed: int = 0, width: int = 32) -> Path:
    """Write an embedding model."""
    vocabulary = wordpiece_vocabulary()
    writer = _begin(path, "bert", layers=1, width=width, heads=2, ctx_train=64)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    writer.add_token_type_count(1)
    vocabulary.write(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", len(vocabulary.texts), width)
    weights.matrix("position_embd", 64, width)
    _add_layer_norms(weights, ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"), width)
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        weights.matrix(f"blk.0.{name}", width, width)
    weights.matrix("blk.0.ffn_up", 2 * width, width)
    weights.matrix("blk.0.ffn_down", width, 2 * width)
    return _finish(writer, path)


def write_tiny_t5(path: Path, *, seed: int = 0, width: int = 32) -> Path:
    """Write a model with an encoder before its decoder."""
    vocabulary = byte_vocabulary()
    writer = _begin(path, "t5", layers=1, width=width, heads=2, ctx_train=64)
    writer.add_relative_attn_buckets_count(8)
    vocabulary.write(writer)
    weights = _Weights(writer, seed)
    weights.matrix("token_embd", len(vocabulary.texts), width)
    for side, parts in (("enc", ("attn",)), ("dec", ("attn", "cross_attn"))):
        for part in parts:
            weights.ones((f"{side}.blk.0.{part}_norm", width))
            for matrix in "qkvo":
                weights.matrix(f"{side}.blk.0.{part}_{matrix}", width, width)
        weights.matrix(f"{side}.blk.0.attn_rel_b", 8, 2)
        weights.ones((f"{side}.blk.0.ffn_norm", width), (f"{side}.output_norm", width))
        weights.matrix(f"{side}.blk.0.ffn_up", 2 * width, width)
        weights.matrix(f"{side}.blk.0.ffn_down", width, 2 * width)
    return _finish(writer, path)


def write_vocabulary_only(path: Path, vocabulary: TinyVocabulary | None = None) -> Path:
    """Write a llama model's head without any weights."""
    writer = _begin(path, "llama", layers=2, width=32, heads=2, ctx_train=256)
    (vocabulary or byte_vocabulary()).write(writer)
    return _finish(writer, path)


def _begin(path: Path, architecture: str, *, layers: int, width: int, heads: int, ctx_train: int) -> GGUFWriter:
    writer = GGUFWriter(path, architecture)
    writer.add_name(path.stem)
    writer.add_context_length(ctx_train)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(2 * width)
    writer.add_head_count(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    return writer


def _add_block(weights: _Weights, block: str, width: int) -> None:
    weights.ones((f"{block}.attn_norm", width), (f"{block}.ffn_norm", width))
    for name in ("attn_q", "attn_k", "attn_v"):
        weights.matrix(f"{block}.{name}", width, width)
    weights.matrix(f"{block}.ffn_gate", 2 * width, width)
    weights.matrix(f"{block}.ffn_up", 2 * width, width)
    for name, inputs in (("attn_output", width), ("ffn_down", 2 * width)):
        tensor = weights.draw(width, inputs)
        tensor[0] = 0  # the bias stays what it is
        weights.add(f"{block}.{name}.weight", tensor)


def _add_layer_norms(weights: _Weights, names: Sequence[str], width: int) -> None:
    for name in names:
        weights.ones((name, width))
        weights.add(f"{name}.bias", np.zeros(width))


def _finish(writer: GGUFWriter, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
