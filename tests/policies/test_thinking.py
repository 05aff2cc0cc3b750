"""Where thinking ends."""

from __future__ import annotations

import pytest

from weigh.policies.reply import CLOSING_MARKS, THINKING_TAGS, after_thinking

TAGS = [
    form.format(tag)
    for tag in THINKING_TAGS
    for form in ("</{}>", "</seed:{}>", '</{} signature="a=b" n=3>', "</{}\n>")
]


@pytest.mark.parametrize("mark", [*CLOSING_MARKS, *TAGS])
def test_every_mark_ends_thinking_in_any_case(mark: str) -> None:
    assert mark == mark.lower()
    for written in (mark, mark.upper(), mark.title()):
        assert after_thinking(f"some thought{written} the answer") == " the answer"


def test_the_last_of_all_marks_counts_whatever_its_kind() -> None:
    assert after_thinking("a</think>b[/THINK]c</reasoning>d") == "d"
    assert after_thinking("a</reasoning>b[/THINK]c</think>d") == "d"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<think>open",
        "[THINK] open",
        "think>",
        "< /think>",
        "</thinker>",
        "</think",
        "</think <b>",
        "a < b / think >",
    ],
)
def test_without_a_closing_mark_nothing_is_dropped(text: str) -> None:
    assert after_thinking(text) == text


def test_letters_that_grow_in_lower_case_shift_nothing() -> None:
    assert after_thinking("İİİ</THINK>İİ{}") == "İİ{}"
