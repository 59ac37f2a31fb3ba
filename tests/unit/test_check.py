"""What `check_model_file` says of each kind of file, and that no file can make it say anything else."""

from __future__ import annotations

import os
import random
import struct
from array import array
from pathlib import Path
from typing import Any

import pytest
from gguf.constants import GGML_QUANT_SIZES

from specchat.models.files import header as header_module
from specchat.models.files import walk
from specchat.models.files.check import check_model_file
from specchat.models.files.errors import ModelFileError
from specchat.models.files.formats import FORMATS
from specchat.models.files.header import Omitted, read_header
from support.gguf_bytes import ARRAY, BOOL, F32, F32_PAIR, I32, STRING, TINY, U32, gguf, text, typed
from support.tiny_gguf import (
    write_tiny_bert,
    write_tiny_llama,
    write_tiny_recurrent,
    write_tiny_t5,
    write_vocabulary_only,
)


def problem(path: Path) -> tuple[str, dict[str, Any]]:
    """The code and the other parameters than the path."""
    with pytest.raises(ModelFileError) as caught:
        check_model_file(path)
    params = dict(caught.value.params)
    assert params.pop("path") == str(path)
    return caught.value.code, params


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf())
    return path


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    return path


# ------------------------------------------------------------------ files that are no GGUF


def test_a_sound_model_passes(model: Path) -> None:
    check_model_file(model)


def test_missing_folder_and_empty(tmp_path: Path, model: Path) -> None:
    assert problem(tmp_path / "nowhere.gguf") == ("file_missing", {})
    assert problem(model / "below-a-file.gguf") == ("file_missing", {})
    assert problem(Path("nul\0character")) == ("file_missing", {})
    assert problem(tmp_path) == ("file_is_folder", {})
    assert problem(written(tmp_path, b"")) == ("file_empty", {})


def test_unreadable(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert problem(model) == ("file_unreadable", {"reason": "Permission denied"})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of Unix")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    assert problem(tmp_path / "pipe.gguf") == ("file_not_gguf", {"looks_like": "data"})


def test_git_lfs_pointer(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 98000000\n"
    assert problem(written(tmp_path, pointer)) == ("file_lfs_pointer", {})


@pytest.mark.parametrize(
    ("content", "look"),
    [
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "web_page"),
        (b"\xef\xbb\xbf\n <HTML lang='en'>", "web_page"),
        (b"PK\x03\x04\x14\0\0\0", "archive"),
        (b"\x1f\x8b\x08\0", "archive"),
        (b"lmgg\x00\x7d\0\0", "old_ggml"),
        (b"fmgg\x01\0\0\0", "old_ggml"),
        (b"tjgg\x03\0\0\0", "old_ggml"),
        (struct.pack("<Q", 40) + b'{"__metadata__":{}}', "safetensors"),
        (bytes(5000), "zeros"),
        ("Ein Text mit Umlaut: ä".encode(), "text"),
        (b"a" * 1023 + "ä".encode(), "text"),  # cut in the middle of a character
        (b"GG", "text"),
        (b"\x7fELF\x02\x01\x01\0", "data"),
        ("ä".encode("latin-1") + b" and more text", "data"),
    ],
)
def test_what_it_is_instead(tmp_path: Path, content: bytes, look: str) -> None:
    assert problem(written(tmp_path, content)) == ("file_not_gguf", {"looks_like": look})


# ------------------------------------------------------------------ GGUFs that llama.cpp can't read


def test_versions(tmp_path: Path) -> None:
    check_model_file(written(tmp_path, gguf(version=2)))
    assert problem(written(tmp_path, gguf(version=1))) == ("file_version", {"version": 1})
    assert problem(written(tmp_path, gguf(version=4))) == ("file_version_newer", {"version": 4})
    assert problem(written(tmp_path, gguf(version=0))) == ("file_version", {"version": 0})
    assert problem(written(tmp_path, gguf(version=3 << 24))) == ("file_big_endian", {})


def test_cut_short_in_the_weights(tmp_path: Path) -> None:
    whole = gguf()
    cut = written(tmp_path, whole[:-1])
    assert problem(cut) == ("file_truncated", {"have": len(whole) - 1, "need": len(whole)})


def test_cut_short_anywhere(tmp_path: Path) -> None:
    whole = gguf()
    for length in range(4, len(whole)):
        code, params = problem(written(tmp_path, whole[:length]))
        assert code == "file_truncated"
        assert params["have"] == length < params["need"] <= len(whole)


def test_more_bytes_than_needed_do_no_harm(tmp_path: Path) -> None:
    check_model_file(written(tmp_path, gguf(weights=500)))


def test_padding_after_the_last_tensor_may_be_missing(tmp_path: Path) -> None:
    tensors = [("token_embd.weight", (8, 3), 0), ("b.weight", (1, 1), 0)]
    check_model_file(written(tmp_path, gguf(tensors=tensors, weights=96 + 4)))


@pytest.mark.parametrize(
    "tensors",
    [
        [("a.weight", (33, 1), 2)],  # no whole number of blocks
        [("a.weight", (8, 3), 0), ("b.weight", (8, 3), 0), ("c.weight", (8, 3), 0)],  # overlaps: see the offsets
        [("a.weight", (8, 3), 0), ("a.weight", (8, 3), 0)],
        [("a.weight", (1, 1, 1, 1, 1), 0)],
    ],
)
def test_tensors_that_make_no_sense(tmp_path: Path, tensors: list[Any]) -> None:
    broken = gguf(tensors=tensors, offsets=(0, 96, 96), weights=4096)
    assert problem(written(tmp_path, broken)) == ("file_damaged", {"what": "tensors"})


def test_a_norm_that_is_no_f32_makes_llama_cpp_abort(tmp_path: Path) -> None:
    norm = gguf(tensors=[("token_embd.weight", (8, 3), 0), ("output_norm.weight", (8,), 1)], offsets=(0, 96))
    assert problem(written(tmp_path, norm)) == ("file_number_format", {"tensor": "output_norm.weight", "format": 1})


@pytest.mark.parametrize("alignment", [1, 8, 16])
def test_weights_that_start_where_llama_cpp_can_not_take_them(tmp_path: Path, alignment: int) -> None:
    for extra in range(32 // alignment):  # the head's length decides where they start
        metadata = {**TINY, "general.alignment": (U32, alignment), "extra": (STRING, "x" * alignment * extra)}
        content = gguf(metadata, rows(3))
        path = written(tmp_path, content)
        if read_header(path).data_offset % 32:
            assert problem(path) == ("file_damaged", {"what": "tensors"})
        else:
            check_model_file(path)


def test_number_format_that_llama_cpp_has_dropped(tmp_path: Path) -> None:
    q4_0_4_4 = gguf(tensors=[("a.weight", (32, 3), 31)])
    expected = ("file_number_format", {"tensor": "a.weight", "format": 31})
    assert problem(written(tmp_path, q4_0_4_4)) == expected


def test_block_sizes_are_ggmls() -> None:
    assert {kind: FORMATS[kind][1:] for kind in GGML_QUANT_SIZES} == GGML_QUANT_SIZES


@pytest.mark.parametrize(
    "metadata",
    [
        [*TINY.items(), ("general.architecture", (STRING, "llama"))],  # twice
        {**TINY, "general.alignment": (U32, 33)},
        {**TINY, "general.alignment": (U32, 0)},
        {**TINY, "list": (ARRAY, ARRAY, [])},
        {**TINY, "llama.block_count\0": (U32, 0)},
    ],
)
def test_metadata_that_makes_no_sense(tmp_path: Path, metadata: Any) -> None:
    assert problem(written(tmp_path, gguf(metadata))) == ("file_damaged", {"what": "header"})


HUGE = 1 << 62


@pytest.mark.parametrize(
    "entry",
    [
        struct.pack("<Q", HUGE),  # a key's length
        text("key") + struct.pack("<I", 99),  # an unknown type
        text("key") + struct.pack("<IQ", STRING, HUGE),
        text("key") + struct.pack("<IIQ", ARRAY, U32, HUGE),
        text("key") + struct.pack("<IIQQ", ARRAY, STRING, 2, HUGE),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", ARRAY, STRING, header_module.MAX_KEPT_ITEMS + 1),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQQ", ARRAY, STRING, 1, walk.MAX_KEPT_BYTES),
        text("tokenizer.ggml.merges") + struct.pack("<IIQ", ARRAY, STRING, walk.MAX_STRINGS + 1),
    ],
)
def test_lengths_that_no_file_has(tmp_path: Path, entry: bytes) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
    assert problem(written(tmp_path, head + entry)) == ("file_damaged", {"what": "header"})


@pytest.mark.parametrize("counts", [(HUGE, 0), (0, HUGE)])
def test_counts_that_no_file_has(tmp_path: Path, counts: tuple[int, int]) -> None:
    content = b"GGUF" + struct.pack("<IQQ", 3, *counts)
    assert problem(written(tmp_path, content)) == ("file_damaged", {"what": "header"})


def test_offsets_and_shapes_that_no_file_has(tmp_path: Path) -> None:
    far = gguf(offsets=(0, HUGE))
    assert problem(written(tmp_path, far)) == ("file_damaged", {"what": "tensors"})
    vast = gguf(tensors=[("a.weight", (1 << 62, 1 << 62), 0)])
    assert problem(written(tmp_path, vast))[0] == "file_truncated"


def test_damage_anywhere_is_told_apart_from_a_crash(tmp_path: Path) -> None:
    dice = random.Random(0)
    whole = gguf()
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(len(whole) - 192)] = dice.choice((0, 1, 255, dice.randrange(256)))
        try:
            check_model_file(written(tmp_path, bytes(damaged)))
        except ModelFileError as error:
            assert error.params["path"]


# ------------------------------------------------------------------ GGUFs that make llama.cpp abort


@pytest.mark.parametrize(("layers", "sound"), [(0, False), (1, True), (512, True), (513, False)])
def test_number_of_layers(tmp_path: Path, layers: int, sound: bool) -> None:
    path = written(tmp_path, gguf({**TINY, "llama.block_count": (U32, layers)}))
    if sound:
        check_model_file(path)
    else:
        assert problem(path) == ("file_damaged", {"what": "layers"})


@pytest.mark.parametrize(
    "changes",
    [
        {"context_length": None},
        {"embedding_length": None},
        {"block_count": None},
        {"embedding_length": (U32, 0)},
        {"feed_forward_length": (U32, 1 << 31)},
        {"attention.head_count_kv": (ARRAY, I32, [1, -1])},
        {"nextn_predict_layers": (U32, 3)},
        {"expert_count": (U32, 513), "expert_used_count": (U32, 2)},
        {"expert_count": (U32, 4)},
        {"expert_count": (U32, 4), "expert_used_count": (U32, 5)},
        {"expert_used_count": (U32, 2)},
        {"expert_count": (U32, 4), "expert_used_count": (U32, 2), "expert_group_count": (U32, 4)},
        {"expert_count": (U32, 4), "expert_used_count": (U32, 2), "expert_group_count": (U32, 3)},
        {"expert_count": (U32, 4), "expert_used_count": (U32, 2), "expert_group_count": (U32, 2)},
        {"attention.layer_norm_rms_epsilon": (F32, -1.0)},
        {"attention.layer_norm_epsilon": (F32, float("nan"))},
        {"rope.scaling.type": (STRING, "")},
        {"rope.scaling.type": (STRING, "other")},
        {"rope.dimension_count": (U32, 0)},
        {"rope.dimension_count": (U32, 3)},
        {"rope.dimension_count": (U32, 6)},
        {"rope.dimension_count": (U32, 2)},
        {"attention.value_length": (U32, 2)},
    ],
)
def test_numbers_that_make_llama_cpp_abort(tmp_path: Path, changes: dict[str, Any]) -> None:
    metadata = {**TINY, **{f"llama.{key}": value for key, value in changes.items()}}
    path = written(tmp_path, gguf({key: value for key, value in metadata.items() if value is not None}))
    assert problem(path) == ("file_damaged", {"what": "numbers"})


@pytest.mark.parametrize(
    "changes",
    [
        {"expert_count": (U32, 4), "expert_used_count": (ARRAY, U32, [2, 4])},
        {"expert_count": (U32, 512), "expert_used_count": (U32, 512), "expert_group_count": (U32, 1)},
        {
            "expert_count": (U32, 4),
            "expert_used_count": (U32, 2),
            "expert_group_count": (U32, 2),
            "expert_group_used_count": (U32, 1),
        },
        {"rope.scaling.type": (STRING, "yarn"), "rope.dimension_count": (U32, 4)},
        {"attention.head_count": (ARRAY, U32, [0, 2])},
        {"attention.head_count_kv": (ARRAY, U32, [1, 2])},
    ],
)
def test_numbers_that_are_fine(tmp_path: Path, changes: dict[str, Any]) -> None:
    check_model_file(written(tmp_path, gguf({**TINY, **{f"llama.{key}": value for key, value in changes.items()}})))


def tokens(*texts: str) -> dict[str, Any]:
    """Metadata with this vocabulary; `rows` makes the weights for one."""
    return {**TINY, "tokenizer.ggml.tokens": (ARRAY, STRING, texts)}


def rows(count: int) -> list[tuple[str, tuple[int, ...], int]]:
    return [("token_embd.weight", (8, count), 0)]


def test_a_token_that_comes_twice(tmp_path: Path) -> None:
    assert problem(written(tmp_path, gguf(tokens("a", "b", "a")))) == ("file_damaged", {"what": "vocabulary"})


def test_empty_tokens_get_names_from_llama_cpp(tmp_path: Path) -> None:
    check_model_file(written(tmp_path, gguf(tokens("a", "", "", "b", ""), rows(5))))
    for twice in (("a", "", "", "a"), ("a", "", "[EMPTY_1]")):
        spoilt = written(tmp_path, gguf(tokens(*twice), rows(len(twice))))
        assert problem(spoilt) == ("file_damaged", {"what": "vocabulary"})


def test_tokens_end_at_a_nul_character(tmp_path: Path) -> None:
    check_model_file(written(tmp_path, gguf(tokens("a\0", "b", "\0"))))
    assert problem(written(tmp_path, gguf(tokens("a\0b", "a", "c")))) == ("file_damaged", {"what": "vocabulary"})


@pytest.mark.parametrize("texts", [("a", "b"), ("a", "b", "c", "d")])
def test_a_vocabulary_that_is_not_the_weights(tmp_path: Path, texts: tuple[str, ...]) -> None:
    assert problem(written(tmp_path, gguf(tokens(*texts)))) == ("file_damaged", {"what": "vocabulary_size"})


def test_weights_without_a_row_for_each_token(tmp_path: Path) -> None:
    other = written(tmp_path, gguf(tensors=[("output.weight", (8, 3), 0)]))
    assert problem(other) == ("file_damaged", {"what": "tensors"})


@pytest.mark.parametrize("column", [(ARRAY, I32, [1, 1]), (I32, 1), (STRING, "many")])
def test_fewer_kinds_than_tokens(tmp_path: Path, column: tuple[Any, ...]) -> None:
    path = written(tmp_path, gguf({**TINY, "tokenizer.ggml.token_type": column}))
    assert problem(path) == ("file_damaged", {"what": "vocabulary_size"})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"model": (STRING, "none")}, ("no_vocabulary", {})),
        ({"model": None}, ("no_vocabulary", {})),
        ({"tokens": None}, ("no_vocabulary", {})),
        ({"tokens": (ARRAY, I32, [1, 2, 3])}, ("no_vocabulary", {})),
        ({"model": (STRING, "newer")}, ("file_tokenizer", {"tokenizer": "newer"})),
        ({"pre": (STRING, "newer")}, ("file_tokenizer", {"tokenizer": "newer"})),
        ({"merges": None}, ("file_damaged", {"what": "merges"})),
        ({"merges": (ARRAY, I32, [1])}, ("file_damaged", {"what": "merges"})),
    ],
)
def test_tokenizers_that_llama_cpp_refuses(tmp_path: Path, changes: dict[str, Any], expected: object) -> None:
    metadata = {**TINY, **{f"tokenizer.ggml.{key}": value for key, value in changes.items()}}
    path = written(tmp_path, gguf({key: value for key, value in metadata.items() if value is not None}))
    assert problem(path) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"model": (STRING, "llama"), "pre": (STRING, "anything"), "merges": None},
        {"pre": (STRING, "kimi-k2"), "merges": None},
        {"pre": (STRING, "qwen2")},
    ],
)
def test_tokenizers_that_llama_cpp_takes(tmp_path: Path, changes: dict[str, Any]) -> None:
    metadata = {**TINY, **{f"tokenizer.ggml.{key}": value for key, value in changes.items()}}
    check_model_file(written(tmp_path, gguf({key: value for key, value in metadata.items() if value is not None})))


def test_architectures_that_this_build_does_not_know(tmp_path: Path) -> None:
    newer = written(tmp_path, gguf({**TINY, "general.architecture": (STRING, "llama99")}))
    assert problem(newer) == ("file_architecture", {"architecture": "llama99"})
    unsaid = {key: value for key, value in TINY.items() if key != "general.architecture"}
    assert problem(written(tmp_path, gguf(unsaid))) == ("file_architecture_unsaid", {})


# ------------------------------------------------------------------ sound files of another sort


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"general.type": (STRING, "mmproj")}, "model_is_projector"),
        ({"general.architecture": (STRING, "clip")}, "model_is_projector"),
        ({"general.type": (STRING, "adapter")}, "model_is_adapter"),
        ({"general.architecture": (STRING, "controlvector")}, "model_is_adapter"),
        ({"general.type": (STRING, "imatrix")}, "model_is_imatrix"),
        ({"general.architecture": (STRING, "nomic-bert")}, "model_is_encoder"),
        ({"general.architecture": (STRING, "t5encoder")}, "model_is_encoder"),
        ({"llama.pooling_type": (U32, 3)}, "model_is_encoder"),
        ({"llama.attention.causal": (BOOL, False)}, "model_is_encoder"),
        ({"general.architecture": (STRING, "t5")}, "model_is_encoder_decoder"),
        ({"general.architecture": (STRING, "llada")}, "model_is_diffusion"),
        ({"general.architecture": (STRING, "eagle3")}, "model_is_draft_head"),
        ({"general.architecture": (STRING, "wavtokenizer-dec")}, "model_is_speech"),
    ],
)
def test_models_that_do_not_chat(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    metadata = {**TINY, **changes}
    path = written(tmp_path, gguf(metadata))
    assert problem(path) == (code, {"architecture": metadata["general.architecture"][1]})


def test_a_model_that_names_no_pooling_chats(tmp_path: Path) -> None:
    metadata = {**TINY, "llama.pooling_type": (U32, 0), "llama.attention.causal": (BOOL, True)}
    check_model_file(written(tmp_path, gguf(metadata)))


def test_vocabulary_only(tmp_path: Path) -> None:
    assert problem(written(tmp_path, gguf(tensors=[], weights=0))) == ("model_vocab_only", {})


def test_files_that_the_gguf_package_wrote(tmp_path: Path) -> None:
    check_model_file(write_tiny_llama(tmp_path / "llama.gguf"))
    check_model_file(write_tiny_recurrent(tmp_path / "mamba.gguf"))
    assert problem(write_tiny_bert(tmp_path / "bert.gguf"))[0] == "model_is_encoder"
    assert problem(write_tiny_t5(tmp_path / "t5.gguf"))[0] == "model_is_encoder_decoder"
    assert problem(write_vocabulary_only(tmp_path / "vocabulary.gguf"))[0] == "model_vocab_only"


# ------------------------------------------------------------------ models split over files


def split(folder: Path, count: int, *, name: str = "big") -> list[Path]:
    """A model in `count` parts whose first has no tensors, as llama-gguf-split can write it."""
    paths = [folder / f"{name}-{part + 1:05d}-of-{count:05d}.gguf" for part in range(count)]
    for part, path in enumerate(paths):
        numbers = {"split.no": (U32, part), "split.count": (U32, count)}
        content = gguf({**TINY, **numbers}, [], weights=0) if part == 0 else gguf(numbers)
        path.write_bytes(content)
    return paths


def test_all_parts_there(tmp_path: Path) -> None:
    check_model_file(split(tmp_path, 3)[0])


def test_a_missing_part(tmp_path: Path) -> None:
    paths = split(tmp_path, 3)
    paths[2].unlink()
    assert problem(paths[0]) == ("file_part_missing", {"missing": str(paths[2])})


def test_a_truncated_part_is_the_one_named(tmp_path: Path) -> None:
    paths = split(tmp_path, 3)
    whole = paths[1].read_bytes()
    paths[1].write_bytes(whole[:-1])
    with pytest.raises(ModelFileError) as caught:
        check_model_file(paths[0])
    assert caught.value.code == "file_truncated"
    assert caught.value.params == {"path": str(paths[1]), "have": len(whole) - 1, "need": len(whole)}


@pytest.mark.parametrize(("number", "count"), [(2, 2), (0, 1 << 31), (0, -2), (-1, 2), (3, 0)])
def test_parts_that_no_model_has(tmp_path: Path, number: int, count: int) -> None:
    numbers = {"split.no": (I32, number), "split.count": (U32 if count > 0 else I32, count)}
    assert problem(written(tmp_path, gguf(TINY | numbers))) == ("file_damaged", {"what": "header"})


def test_opened_at_another_part(tmp_path: Path) -> None:
    paths = split(tmp_path, 3)
    assert problem(paths[1]) == ("file_wrong_part", {"first": str(paths[0])})
    paths[0].unlink()  # then it can't be chosen instead
    assert problem(paths[1]) == ("file_part_missing", {"missing": str(paths[0])})


def test_a_renamed_part(tmp_path: Path) -> None:
    renamed = split(tmp_path, 2)[0].rename(tmp_path / "renamed.gguf")
    assert problem(renamed) == ("file_part_name", {"ending": "-00001-of-00002.gguf"})


# ------------------------------------------------------------------ the header


def test_metadata_is_read_as_it_was_written(tmp_path: Path) -> None:
    metadata = {
        **TINY,
        "a.float": (F32, 0.5),
        "a.flag": (BOOL, True),
        "a.negative": (I32, -1),
        "a.list": (ARRAY, I32, [3, -4]),
        "a.other": (ARRAY, I32, [3, -4]),
        "a.many": (ARRAY, I32, range(513)),
        "a.wanted": (ARRAY, I32, range(513)),
        "a.long": (STRING, "x" * (walk.MAX_TEXT + 1)),
    }
    header = read_header(written(tmp_path, gguf(metadata)), keep=("tokenizer.ggml.tokens", "a.wanted"))
    assert header.metadata["a.float"] == 0.5
    assert header.metadata["a.flag"] is True
    assert header.metadata["a.list"] == array("i", [3, -4])
    assert header.metadata["a.other"] == array("i", [3, -4])  # short enough to be kept unasked
    assert header.metadata["a.many"] == Omitted(513)
    assert header.metadata["a.wanted"] == array("i", range(513))
    assert header.metadata["a.long"] == Omitted(walk.MAX_TEXT + 1)
    assert header.metadata["tokenizer.ggml.tokens"] == (b"a", b"b", b"c")
    assert header.text("general.architecture") == "llama"
    assert header.integer("llama.block_count") == 2
    assert header.integer("a.flag") is None
    assert [(tensor.name, tensor.shape, tensor.size) for tensor in header.tensors] == [
        (name, shape, 96) for name, shape, _ in F32_PAIR
    ]


def test_all_texts_together_stay_below_a_limit(tmp_path: Path) -> None:
    longest = (STRING, "x" * walk.MAX_TEXT)
    header = read_header(written(tmp_path, gguf({str(number): longest for number in range(9)})))
    assert sum(isinstance(value, str) for value in header.metadata.values()) == 8
    assert header.metadata["8"] == Omitted(walk.MAX_TEXT)


def test_strings_that_straddle_the_window(tmp_path: Path) -> None:
    texts = [str(number) * 1000 for number in range(500)]  # 1.4 MB: more than is read at once
    metadata = {"skipped": (ARRAY, STRING, texts), **tokens(*texts), "last": (U32, 7)}
    header = read_header(written(tmp_path, gguf(metadata)), keep=("tokenizer.ggml.tokens",))
    assert header.metadata["skipped"] == Omitted(500)
    assert header.metadata["tokenizer.ggml.tokens"] == tuple(text.encode() for text in texts)
    assert header.integer("last") == 7


def test_a_text_cut_off_at_the_end(tmp_path: Path) -> None:
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + text("key") + typed((ARRAY, STRING, ["abc"]))
    assert problem(written(tmp_path, head[:-1])) == ("file_truncated", {"have": len(head) - 1, "need": len(head)})
