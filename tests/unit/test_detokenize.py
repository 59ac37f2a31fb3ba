import pytest

from specchat.models.llama.detokenize import Detokenizer

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("text", ["plain", "日本語", "🙂", "👩‍👩‍👧 família", "é\n🇪🇺 ü"])
def test_text_survives_any_cut(text: str) -> None:
    data = text.encode()
    for cut in range(len(data) + 1):
        detokenizer = Detokenizer()
        assert detokenizer.feed(data[:cut]) + detokenizer.feed(data[cut:]) + detokenizer.flush() == text


def test_a_character_comes_with_its_last_byte() -> None:
    detokenizer = Detokenizer()
    assert [detokenizer.feed(bytes([byte])) for byte in "a🙂b".encode()] == ["a", "", "", "", "🙂", "b"]


def test_an_invalid_byte_costs_no_neighbour() -> None:
    assert Detokenizer().feed(b"a\xffb") == f"a{REPLACEMENT}b"


def test_a_character_that_breaks_off_is_replaced_when_the_next_begins() -> None:
    detokenizer = Detokenizer()
    assert detokenizer.feed("日".encode()[:2]) == ""
    assert detokenizer.feed(b"a") == f"{REPLACEMENT}a"


def test_flush_gives_up_on_the_unfinished_and_starts_afresh() -> None:
    detokenizer = Detokenizer()
    assert detokenizer.feed("ok 🙂".encode()[:-1]) == "ok "
    assert detokenizer.flush() == REPLACEMENT
    assert detokenizer.flush() == ""
    assert detokenizer.feed("é".encode()) == "é"
