"""Which vocabularies can work together, and that every difference between two is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specchat.models.files.pairing import Pairing, compare
from specchat.models.files.vocabulary import TokenKind, Vocabulary

N, C, U, D = TokenKind.NORMAL, TokenKind.CONTROL, TokenKind.UNUSED, TokenKind.USER_DEFINED


def vocabulary(*tokens: tuple[str, TokenKind]) -> Vocabulary:
    return Vocabulary(
        kind="BPE",
        tokens=tuple(text.encode() for text, _ in tokens),
        attributes=tuple(int(kind) for _, kind in tokens),
        bos=0,
        eos=1,
        add_bos=False,
        add_eos=False,
    )


BASE = (("<s>", C), ("</s>", C), ("a", N), ("b", N), ("<tool>", D), ("[PAD5]", U))
TARGET = vocabulary(*BASE)


def with_token(token: int, text: str, kind: TokenKind) -> Vocabulary:
    return vocabulary(*BASE[:token], (text, kind), *BASE[token + 1 :])


def codes(pairing: Pairing) -> list[str]:
    return [difference.code for difference in pairing.differences]


def test_equal_vocabularies() -> None:
    pairing = compare(TARGET, vocabulary(*BASE))
    assert pairing == Pairing(differences=(), shared=6)
    assert pairing.works
    assert pairing.reason is None


def test_another_kind() -> None:
    pairing = compare(TARGET, replace(TARGET, kind="SPM"))
    assert not pairing.works
    assert pairing.reason is not None
    assert pairing.reason.code == "pair_kind_differs"
    assert pairing.reason.params == {"target_kind": "BPE", "draft_kind": "SPM"}


def test_other_texts_name_the_first_id_and_count_the_rest() -> None:
    draft = vocabulary(*BASE[:2], ("x", N), ("b", N), ("<other>", D), BASE[5])
    pairing = compare(TARGET, draft)
    assert not pairing.works
    assert pairing.reason is not None
    assert pairing.reason.code == "pair_differs"
    assert pairing.reason.params == {"id": 2, "target_text": "a", "draft_text": "x", "count": 2}


@pytest.mark.parametrize("kind", [TokenKind.NORMAL, TokenKind.USER_DEFINED, TokenKind.BYTE, TokenKind.UNDEFINED])
def test_every_kind_that_writes_text_is_decisive(kind: TokenKind) -> None:
    assert not compare(TARGET, with_token(3, "x", kind)).works


@pytest.mark.parametrize("kind", [TokenKind.CONTROL, TokenKind.UNUSED, TokenKind.UNKNOWN])
def test_a_token_that_is_text_in_one_alone_does_no_harm(kind: TokenKind) -> None:
    for pairing in (compare(TARGET, with_token(4, "x", kind)), compare(with_token(4, "x", kind), TARGET)):
        assert pairing.works
        assert codes(pairing) == ["pair_control_differs"]
    assert compare(TARGET, with_token(4, "x", kind)).differences[0].params == {
        "id": 4,
        "target_text": "<tool>",
        "draft_text": "x",
        "count": 1,
    }


def test_renamed_control_tokens_do_no_harm() -> None:
    draft = vocabulary(("<bos>", C), ("<eos>", C), *BASE[2:])
    pairing = compare(TARGET, draft)
    assert pairing.works
    assert pairing.differences[0].params["count"] == 2


@pytest.mark.parametrize("extra", [("[PAD6]", U), ("word", N)])
def test_a_longer_vocabulary_works_either_way(extra: tuple[str, TokenKind]) -> None:
    longer = vocabulary(*BASE, extra)
    for target, draft in ((TARGET, longer), (longer, TARGET)):
        pairing = compare(target, draft)
        assert pairing.works
        assert pairing.shared == 6
        assert codes(pairing) == ["pair_size_differs"]
        assert pairing.differences[0].params == {"target_size": len(target.tokens), "draft_size": len(draft.tokens)}


def test_a_difference_before_the_padding_is_still_found() -> None:
    longer = vocabulary(*BASE[:3], ("x", N), *BASE[4:], ("[PAD6]", U))
    assert codes(compare(TARGET, longer)) == ["pair_differs", "pair_size_differs"]


def test_another_attribute_on_the_same_text_does_no_harm() -> None:
    pairing = compare(TARGET, with_token(4, "<tool>", C))
    assert pairing.works
    assert codes(pairing) == ["pair_attribute_differs"]
    assert pairing.differences[0].params == {
        "id": 4,
        "text": "<tool>",
        "target_kind": "user_defined",
        "draft_kind": "control",
        "count": 1,
    }


def test_specials_and_what_tokenizers_add_do_no_harm() -> None:
    pairing = compare(TARGET, replace(TARGET, bos=None, eos=5, add_bos=True, add_eos=True))
    assert pairing.works
    assert [(difference.code, difference.params) for difference in pairing.differences] == [
        ("pair_special_differs", {"name": "bos", "target_id": 0, "draft_id": -1}),
        ("pair_special_differs", {"name": "eos", "target_id": 1, "draft_id": 5}),
        ("pair_adds_differs", {"name": "bos", "target": 0, "draft": 1}),
        ("pair_adds_differs", {"name": "eos", "target": 0, "draft": 1}),
    ]


def test_everything_at_once() -> None:
    draft = vocabulary(("<bos>", C), ("</s>", N), ("x", N), *BASE[3:], ("[PAD6]", U))
    pairing = compare(TARGET, replace(draft, kind="SPM", eos=4, add_bos=True))
    assert codes(pairing) == [
        "pair_kind_differs",
        "pair_differs",
        "pair_control_differs",
        "pair_attribute_differs",
        "pair_special_differs",
        "pair_adds_differs",
        "pair_size_differs",
    ]
    assert [difference.decisive for difference in pairing.differences] == [True, True, *[False] * 5]


def test_texts_that_are_no_utf_8_are_shown_all_the_same() -> None:
    draft = replace(TARGET, tokens=(*TARGET.tokens[:2], b"\xff", *TARGET.tokens[3:]))
    reason = compare(TARGET, draft).reason
    assert reason is not None
    assert reason.params["draft_text"] == "\ufffd"
