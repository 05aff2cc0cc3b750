"""Model text made fit to be shown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.policies.show import encodable, escaped, one_line

ANY_TEXT = st.text(st.characters(codec=None))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\x00b\x07", "a\\x00b\\x07"),
        ("\u202eevil\u202c", "\\u202eevil\\u202c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\u2066iso\u2069", "\\u2066iso\\u2069"),
        ("\U000e0041tag", "\\U000e0041tag"),
        ("a\u2028b", "a\\u2028b"),
        ("half \ud83d", "half \\ud83d"),
        ("\x85\x9b31m", "\\x85\\x9b31m"),
        ("bell\r", "bell\\r"),
    ],
)
def test_R29_what_acts_or_hides_becomes_a_visible_escape(raw: str, shown: str) -> None:
    assert escaped(raw) == shown
    assert one_line(raw) == shown


def test_what_has_a_shape_of_its_own_is_left_alone() -> None:
    for text in ("naïve 出价 שלום سلام ½ → 🂡", "☀️", "e\u0301", "C:\\temp"):
        assert escaped(text) == text
        assert one_line(text) == text


def test_line_breaks_stay_in_text_and_not_in_a_line() -> None:
    assert escaped("a\r\nb\n\tc") == "a\nb\n\tc"
    assert one_line("a\r\nb\n\tc") == "a\\r\\nb\\n\\tc"


def test_cuts_are_on_code_points_and_say_how_much_is_missing() -> None:
    assert one_line("🂡" * 5, 5) == "🂡" * 5
    assert one_line("🂡" * 5, 3) == "🂡🂡🂡… (+2)"
    assert one_line("x" * 100, 10) == "x" * 10 + "… (+90)"
    assert one_line("x" * 10, 10) == "x" * 10


def test_an_escape_is_never_cut_in_two() -> None:
    assert one_line("\x1b\x1b\x1b", 9) == "\\x1b\\x1b… (+1)"
    assert one_line("\U000e0041", 9) == "… (+1)"


@given(ANY_TEXT, st.integers(0, 50))
def test_a_line_is_short_printable_and_encodable(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line.partition("… (+")[0]) <= limit or "… (+" in text
    assert line.encode().decode() == line
    for character in line:
        assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )


@given(ANY_TEXT)
def test_what_was_escaped_once_is_not_escaped_again(text: str) -> None:
    assert escaped(escaped(text)) == escaped(text)


@given(ANY_TEXT)
def test_encodable_text_keeps_its_length_and_encodes(text: str) -> None:
    assert len(encodable(text)) == len(text)
    assert encodable(text).encode().decode() == encodable(text)


def test_a_line_of_a_huge_text_costs_no_more_than_its_limit() -> None:
    assert one_line("\x1b" * 2_000_000, 8) == "\\x1b\\x1b… (+1999998)"
