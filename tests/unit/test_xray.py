"""The X-ray of a reply: where each token came from, and how it is shown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from specchat.app.chats.records import Step
from specchat.app.widgets.xray_facts import facts
from specchat.app.widgets.xray_text import MARKS, STYLES, Layout, legend, paint
from specchat.app.widgets.xray_tokens import Origin, tokens_of, visible_piece
from specchat.models.decoding.rounds import Round
from support.rounds import make_round, make_step

PRIME = (
    make_step(own="A"),
    make_step(" prime| number", own=" has"),
    make_step(" exactly", " one| of", own=" two"),
    make_step("", " factors", own=" divisors"),
    make_step(" so|.", "", own=""),
)


def text(*steps: Step, width: int = 200) -> list[str]:
    """The lines of a reply under X-ray."""
    return ["".join(run.text for run in line) for line in Layout(steps, width).lines]


# ------------------------------------------------------------------ origins


@pytest.mark.parametrize(
    ("step", "origins"),
    [
        (make_step(own="x"), [Origin.PLAIN]),
        (make_step("a|b", own="x"), [Origin.ACCEPTED, Origin.ACCEPTED, Origin.BONUS]),
        (make_step("a", "b|c", "x"), [Origin.ACCEPTED, Origin.REJECTED, Origin.UNUSED, Origin.REPLACEMENT]),
        (make_step("", "b", "x"), [Origin.REJECTED, Origin.REPLACEMENT]),
        (make_step("a", "b|c"), [Origin.ACCEPTED, Origin.UNUSED, Origin.UNUSED]),
        (make_step("", ""), []),
    ],
)
def test_every_token_has_its_origin(step: Step, origins: list[Origin]) -> None:
    tokens = list(tokens_of(step))
    assert [token.origin for token in tokens] == origins
    assert tuple(token.piece for token in tokens) == step.pieces


# ------------------------------------------------------------------ tokens made visible


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        (b" two", " two"),
        ("模型".encode(), "模型"),
        (b"", "⟨⟩"),
        (b"\xf0\x9f", "⟨F0 9F⟩"),
        (b"\x99\x82!", "⟨99 82⟩!"),
        (b"a\xc3", "a⟨C3⟩"),
        (b"a\n\tb", "a⏎\n⇥b"),
        (b"\x1b[31m\r\x7f\x00", "⟨1B⟩[31m⟨0D⟩⟨7F⟩⟨00⟩"),
        ("\x9b31m\u202e\u200b".encode(), "⟨U+009B⟩31m⟨U+202E⟩⟨U+200B⟩"),
        ("é".encode(), "é"),
        ("e\u0301".encode(), "e\u0301"),
        ("\u0301x".encode(), "⟨U+0301⟩x"),
        (("e" + 6 * "\u0301").encode(), "e" + 4 * "\u0301" + 2 * "⟨U+0301⟩"),
        ("\u00a0\u3000".encode(), "\u00a0\u3000"),
        (b"[/INST][@click=app.quit]", "[/INST][@click=app.quit]"),
    ],
)
def test_a_token_is_shown_and_not_obeyed(piece: bytes, shown: str) -> None:
    assert visible_piece(piece) == shown


def test_nothing_that_a_terminal_obeys_gets_through() -> None:
    for number in range(0x11000):
        piece = chr(number).encode("utf-8", "surrogatepass")
        for char in visible_piece(piece).replace("⏎\n", ""):
            assert char.isprintable() or (char.isspace() and char >= "\xa0"), hex(number)
            assert not "\x7f" <= char < "\xa0"


def test_any_bytes_take_at_least_a_cell() -> None:
    for first in (0x1B, 0x80, 0xC2, 0xE2, 0xFF):
        assert all(cell_len(visible_piece(bytes([first, second]))) >= 1 for second in range(256))


# ------------------------------------------------------------------ the text


def test_rounds_are_apart_and_what_was_rejected_stands_before_its_replacement() -> None:
    assert text(*PRIME) == ["A│ prime number +has│ exactly ✗one →two│ ✗factors →divisors│ so.│"]


def test_each_run_has_its_origin() -> None:
    [line] = Layout(PRIME, 200).lines
    marked = [(run.text, run.origin) for run in line if run.origin]
    assert marked == [
        ("A", Origin.PLAIN),
        ("prime", Origin.ACCEPTED),
        ("number", Origin.ACCEPTED),
        ("has", Origin.BONUS),
        ("exactly", Origin.ACCEPTED),
        ("one", Origin.REJECTED),
        ("two", Origin.REPLACEMENT),
        ("factors", Origin.REJECTED),
        ("divisors", Origin.REPLACEMENT),
        ("so", Origin.ACCEPTED),
        (".", Origin.ACCEPTED),
    ]


@pytest.mark.parametrize("missing", ["nothing", "strike", "bold", "underline", "dim"])
def test_origins_differ_without_colour_and_without_any_one_style(missing: str) -> None:
    shown = [origin for origin in Origin if origin is not Origin.UNUSED]
    looks = {(re.sub(rf"\$\S+|{missing}", "", STYLES[origin]).strip(), MARKS.get(origin, "")) for origin in shown}
    assert len(looks) == len(shown) - (missing == "underline")  # a plain token is known by being alone in its round
    assert legend().plain == "accepted  ✗rejected  →replacement  +bonus  plain  │ end of a round"


def test_a_newline_is_shown_and_breaks_the_line() -> None:
    assert text(make_step("a|\n\n|  b", own="\n"), make_step(own="c")) == ["a⏎", "⏎", "  b+⏎│", "c│"]


def test_a_rejected_newline_breaks_none() -> None:
    assert text(make_step("", "\n", "a")) == ["✗⏎→a│"]


def test_tokens_of_nothing_but_spaces_are_visible() -> None:
    assert text(make_step("  |  x", " ", "y")) == ["␣␣  x✗␣→y│"]


def test_lines_are_broken_between_words() -> None:
    assert text(make_step(" cal|cul|ator", own=" is"), make_step(own=" on"), width=12) == [" calculator", "+is│ on│"]


def test_text_without_spaces_is_broken_anywhere() -> None:
    assert text(make_step(own="x" * 25), width=10) == ["x" * 10, "x" * 10, "xxxxx│"]
    assert text(make_step(own="漢"), make_step(own="字"), make_step(own="文"), width=6) == ["漢│字│", "文│"]
    assert text(make_step(own="漢字文"), width=5) == ["漢字", "文│"]


@pytest.mark.parametrize("width", [1, 2, 3, 7, 20, 80])
def test_no_text_is_lost_and_no_line_too_long(width: int) -> None:
    steps = [*PRIME * 3, make_step(" verylongwordinpieces|||", " no", own="漢字")]
    lines = Layout(steps, width).lines
    assert all(sum(cell_len(run.text) for run in line) <= max(width, 2) for line in lines)
    shown = "".join(run.text for line in lines for run in line)
    assert shown.replace(" ", "") == text(*steps, width=9999)[0].replace(" ", "")


def test_every_round_begins_in_a_line() -> None:
    steps = (make_step(own="a\n"), make_step(own="b"), make_step("", ""), make_step(own="\n"), make_step(own="c"))
    layout = Layout(steps, 20)
    assert text(*steps, width=20) == ["a⏎│", "b││⏎│", "c│"]
    assert layout.first_lines == [0, 1, 1, 1, 2]


def test_the_marked_round_is_reversed() -> None:
    [line] = Layout(PRIME, 200).lines
    content = paint(line, 1)
    reversed_ = [content.plain[span.start : span.end] for span in content.spans if "reverse" in str(span.style)]
    assert "".join(reversed_) == " prime number +has│"


# ------------------------------------------------------------------ a round's facts


def test_the_facts_of_a_round() -> None:
    assert facts(PRIME[2], 3, 1234).plain.split("\n") == [
        "round 3 of 1,234 · 3 drafted (model) · 1 accepted · 1 rejected · 1 unused",
        "✓ exactly   ✗ one   – of   → two",
        "2 tokens in 100.0 ms: draft 20.0 · verify 70.0 · sampling 5.0 · other 5.0",
        "",  # from before there were reasons
    ]


@pytest.mark.parametrize(
    ("round", "why"),
    [
        (replace(make_round(3, 1), reason="costly"), "3 guesses: more wouldn't pay"),
        (replace(make_round(3, 1), reason="fixed", padding=4), "3 guesses: γ is fixed · 4 tokens of padding"),
        (replace(make_round(0, 0), reason="plain", padding=1), "plain: guessing wouldn't pay · 1 token of padding"),
    ],
)
def test_the_facts_end_with_the_reason(round: Round, why: str) -> None:
    pieces = (b"a",) * (len(round.guesses) + 1)
    assert facts(Step(round, pieces), 1, 1).plain.split("\n")[3] == why


def test_the_facts_of_rounds_without_guesses() -> None:
    assert facts(make_step(own="\n"), 1, 1).plain.split("\n")[:2] == ["round 1 of 1 · nothing guessed", "→⏎"]
    assert "speculation was off" in facts(make_step(own="a", on=False), 1, 1).plain


def test_the_facts_name_the_lookup() -> None:
    step = Step(replace(make_round(1, 1), drafter="lookup"), (b"a", b"b"))
    assert "1 drafted (lookup)" in facts(step, 1, 1).plain
