"""What `read_facts` tells of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from specchat.models.files.bundled import bundled_model
from specchat.models.files.errors import ModelFileError
from specchat.models.files.facts import Facts, Weights, read_facts
from support.gguf_bytes import ARRAY, I32, STRING, TINY, U32, gguf

EMBEDDING = ("token_embd.weight", (8, 3), 0)


def facts(tmp_path: Path, metadata: dict[str, Any], *tensors: tuple[str, tuple[int, ...], int], **parts: Any) -> Facts:
    path = tmp_path / "model-x.gguf"
    sizes = [96, *parts.get("sizes", [])]
    offsets = [sum(sizes[:number]) for number in range(len(sizes))]
    path.write_bytes(gguf(TINY | metadata, [EMBEDDING, *tensors], offsets=offsets, weights=sum(sizes)))
    return read_facts(path)


def test_a_plain_model(tmp_path: Path) -> None:
    known = facts(tmp_path, {})
    path = tmp_path / "model-x.gguf"
    assert (known.path, known.parts, known.size) == (str(path), (str(path),), path.stat().st_size)
    assert (known.name, known.architecture, known.layers, known.ctx_trained) == ("model-x", "llama", 2, 256)
    assert (known.parameters, known.active_parameters, known.experts) == (24, 24, 0)
    assert (known.quantisation, known.has_template, known.thinks, known.licence) == ("F32", False, False, "")
    assert (known.vocabulary.kind, known.vocabulary.size, known.rolls_back) == ("BPE", 3, True)


def test_what_a_file_says_of_itself(tmp_path: Path) -> None:
    said = {"general.name": (STRING, "  A Name "), "general.license": (STRING, "mit"), "general.file_type": (U32, 15)}
    known = facts(tmp_path, {**said, "tokenizer.chat_template": (STRING, "{{ messages }}")})
    assert (known.name, known.licence, known.quantisation) == ("A Name", "mit", "Q4_K_M")
    assert (known.has_template, known.thinks) == (True, False)


@pytest.mark.parametrize("template", ["{{ '<think>' }}", "{% if enable_thinking %}", "<|channel|>analysis"])
def test_templates_that_know_of_thinking(tmp_path: Path, template: str) -> None:
    assert facts(tmp_path, {"tokenizer.chat_template": (STRING, template)}).thinks


def test_the_format_of_most_bytes_where_the_file_names_no_mix(tmp_path: Path) -> None:
    matrix = ("blk.0.ffn_up.weight", (32, 16), 8)
    assert facts(tmp_path, {}, matrix, sizes=[34 * 16]).quantisation == "Q8_0"
    assert facts(tmp_path, {"general.file_type": (U32, 99)}, matrix, sizes=[34 * 16]).quantisation == "Q8_0"


def test_a_mixture_of_experts_computes_with_a_part_of_itself(tmp_path: Path) -> None:
    mixture = {"llama.expert_count": (U32, 4), "llama.expert_used_count": (U32, 1)}
    stacked = ("blk.0.ffn_up_exps.weight", (8, 8, 4), 0)
    known = facts(tmp_path, mixture, ("output.weight", (8, 3), 0), stacked, sizes=[96, 1024])
    assert (known.parameters, known.active_parameters, known.experts) == (24 + 24 + 256, 24 + 24 + 64, 4)
    assert known.active_size == 96 + 256  # of the table of inputs, one row is read
    single = [(f"blk.0.ffn_up.{expert}.weight", (8, 8), 0) for expert in range(4)]
    assert facts(tmp_path, mixture, *single, sizes=[256] * 4).active_parameters == 24 + 64


def test_a_table_of_inputs_that_is_the_outputs_matrix(tmp_path: Path) -> None:
    tied = facts(tmp_path, {})
    assert (tied.input, tied.tied, tied.active_size) == (Weights(96, {"F32": 96}), Weights(96, {"F32": 96}), 96)
    own = facts(tmp_path, {}, ("output.weight", (8, 3), 0), sizes=[96])
    assert (own.output, own.tied, own.active_size) == (Weights(96, {"F32": 96}), Weights(), 96)


def test_weights_by_layer(tmp_path: Path) -> None:
    blocks = [
        ("blk.0.attn_norm.weight", (8,), 0),
        ("blk.1.ffn_up.weight", (32, 16), 2),
        ("output_norm.weight", (8,), 0),
    ]
    known = facts(tmp_path, {}, *blocks, sizes=[32, 18 * 16, 32])
    assert known.blocks == (Weights(32), Weights(288, {"Q4_0": 288}))
    assert known.output == Weights(32)


def test_all_parts_of_a_split_model_count(tmp_path: Path) -> None:
    paths = [tmp_path / f"big-{number:05d}-of-00002.gguf" for number in (1, 2)]
    for part, path in enumerate(paths):
        numbers = {"split.no": (U32, part), "split.count": (U32, 2)}
        tensors = [EMBEDDING] if part else []
        path.write_bytes(gguf({**(numbers if part else TINY | numbers)}, tensors, weights=96 * part))
    known = read_facts(paths[0])
    assert known.parts == tuple(map(str, paths))
    assert known.size == sum(path.stat().st_size for path in paths)
    assert known.parameters == 24


def test_what_a_context_must_keep(tmp_path: Path) -> None:
    grouped = {"llama.attention.head_count_kv": (U32, 1)}
    assert facts(tmp_path, {}).shape.keys == (8, 8)
    assert facts(tmp_path, grouped).shape.keys == facts(tmp_path, grouped).shape.values == (4, 4)
    by_layer = {"llama.attention.head_count_kv": (ARRAY, I32, [1, 0])}
    assert facts(tmp_path, by_layer).shape.keys == (4, 0)
    compressed = {"attention.key_length_mla": 4, "attention.key_length": 6, "rope.dimension_count": 2}
    latent = {f"deepseek2.{key}": (U32, value) for key, value in compressed.items()}
    base = {key.replace("llama.", "deepseek2."): value for key, value in TINY.items()}
    known = facts(tmp_path, {**base, **latent, "general.architecture": (STRING, "deepseek2")})
    assert (known.shape.keys, known.shape.values) == ((12, 12), (0, 0))


def test_models_that_keep_a_state_take_nothing_back(tmp_path: Path) -> None:
    state = {"ssm.inner_size": 16, "ssm.state_size": 4, "ssm.conv_kernel": 4, "attention.head_count": 0}
    base = {key.replace("llama.", "mamba."): value for key, value in TINY.items()}
    sizes = {f"mamba.{key}": (U32, value) for key, value in state.items()}
    known = facts(tmp_path, {**base, **sizes, "general.architecture": (STRING, "mamba")})
    assert not known.rolls_back
    assert (known.shape.keys, known.shape.state) == ((0, 0), 2 * (3 * 16 + 4 * 16))


def test_facts_survive_json(tmp_path: Path) -> None:
    known = facts(tmp_path, {"general.name": (STRING, "\x1b[31m “Ä”")})
    assert msgspec.json.decode(msgspec.json.encode(known), type=Facts) == known


def test_a_file_that_can_not_be_used_has_no_facts(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelFileError, match="file_not_gguf"):
        read_facts(tmp_path / "model.gguf")


def test_the_bundled_model() -> None:
    path = bundled_model()
    assert path is not None
    known = read_facts(path)
    assert (known.architecture, known.quantisation, known.layers, known.ctx_trained) == ("llama", "Q4_1", 30, 8192)
    assert (known.parameters, known.has_template, known.thinks) == (134_515_008, True, False)
    assert (known.vocabulary.kind, known.vocabulary.size, known.licence) == ("BPE", 49_152, "apache-2.0")
