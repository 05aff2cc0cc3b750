"""A provider's words in a line for people."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.providers.errors.reading import LIMIT, PIECE, one_line, without_markup


def test_white_space_and_line_breaks_become_single_spaces() -> None:
    assert one_line("  a\n\n b\t\tc ") == "a b c"


def test_what_a_terminal_would_obey_is_shown_instead() -> None:
    assert one_line("\x1b[31mred\u202e\u200b") == "\\u001b[31mred\\u202e\\u200b"


def test_text_is_cut_with_a_mark() -> None:
    assert len(one_line("x" * 5000)) == LIMIT
    assert one_line("x" * 5000).endswith("…")


def test_keys_go_before_the_text_is_cut() -> None:
    secret = "abcdefghijklmnop"
    assert "abcdef" not in one_line("x" * (LIMIT - 10) + secret, secret)
    assert one_line(f"key {secret}.", secret) == "key [key]."


def test_whatever_looks_like_a_key_goes_too() -> None:
    said = "Incorrect API key provided: sk-proj-abcd1234****wxyz. Bearer abcdefgh12345678 was sent"
    assert one_line(said) == "Incorrect API key provided: [key] [key] was sent"


def test_markup_goes_with_its_scripts() -> None:
    page = "<html><style>b {}</style><script>alert(1)</script><!-- x --><h1>Sign in</h1><p class='x'>here"
    assert one_line(without_markup(page)) == "Sign in here"


@given(st.text())
def test_any_text_becomes_one_printable_line(text: str) -> None:
    shown = one_line(text)
    assert len(shown) <= LIMIT
    assert shown == "" or shown.splitlines() == [shown]
    shown.encode()


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_secret_never_comes_through(before: str, after: str) -> None:
    secret = "Zq8-secret-value-77"
    assert secret not in one_line(before + secret + after, secret)


SECRET = "sk_live-51H8Xq+Zz/0aB9cD8eF7gH6iJ5kL4mN3oP2qR1"
CODED = [
    base64.b64encode(before + SECRET.encode() + b"!").decode()
    for before in (b"", b"u", b"us", b"user:", b"\x00\xff\x10")
]
CODED += [text.replace("+", "-").replace("/", "_") for text in CODED]


@pytest.mark.parametrize("at", range(0, len(SECRET) - PIECE, 5))
def test_a_secret_does_not_come_through_in_pieces(at: int) -> None:
    piece = SECRET[at : at + PIECE]
    assert one_line(f"got {piece}, and {SECRET}", SECRET) == "got [key], and [key]"


@pytest.mark.parametrize("coded", CODED)
def test_a_secret_does_not_come_through_as_base64(coded: str) -> None:
    said = one_line(f"Authorization: Basic {coded} refused", SECRET)
    assert "[key]" in said
    assert not any(coded[at : at + PIECE + 4] in said for at in range(len(coded) - PIECE - 4))


def test_the_words_around_a_secret_stay() -> None:
    text = "The quick brown fox jumps over the lazy dog, many times a day"
    assert one_line(text, SECRET) == text
    assert one_line(f"{text}{SECRET}{text}", SECRET) == f"{text}[key]{text}"
