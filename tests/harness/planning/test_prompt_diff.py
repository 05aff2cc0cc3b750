"""The difference of two texts: against the standard library's, and with nothing hidden in it."""

from __future__ import annotations

import difflib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.planning.prompt_diff import TextDiff, by_lines, by_words, skeleton, visible

OLD = "Bid low.\nSave high cards.\nWatch the rest.\nA\nB\nC\nD\nE\nThink.\n"
NEW = "Bid low.\nSave your high cards.\nWatch the rest.\nA\nB\nC\nD\nE\nThink twice.\n"


def lines(diff: TextDiff) -> list[str]:
    return ["".join(piece.text for piece in line) for line in diff.lines]


def named(diff: TextDiff) -> dict[str, tuple[int, int]]:
    return {one.named: (one.first, one.second) for one in diff.hidden}


@pytest.mark.parametrize(
    ("old", "new"),
    [(OLD, NEW), (NEW, OLD), (OLD, ""), ("", NEW), ("one", "two"), (OLD, OLD + "more"), ("a\n" + OLD, OLD)],
)
def test_plain_texts_differ_as_the_standard_library_says(old: str, new: str) -> None:
    whole = list(difflib.unified_diff(old.split("\n"), new.split("\n"), n=3, lineterm=""))[2:]
    assert [line for line in lines(by_lines(old, new)) if line[0] != "@"] == [line for line in whole if line[0] != "@"]
    assert sum(line.startswith("@@") for line in lines(by_lines(old, new))) == sum(line[0] == "@" for line in whole)


def test_where_a_change_stands_is_told_in_lines_of_both() -> None:
    assert lines(by_lines("a\nb\nc", "a\nx\ny\nc"))[0] == "@@ -1,3 +1,4 @@"


def test_equal_texts_have_no_difference() -> None:
    assert by_lines(OLD, OLD) == by_words(OLD, OLD) == TextDiff()


def test_words_are_marked_within_the_lines_of_the_second_text() -> None:
    diff = by_words("Bid low. Save\nhigh cards.", "Bid high. Save\nhigh cards now.")
    assert [[(piece.kind, piece.text) for piece in line] for line in diff.lines] == [
        [("place", "@@ line 1 @@")],
        [("same", "Bid"), ("gone", "low."), ("new", "high."), ("same", "Save")],
        [("same", "high"), ("gone", "cards."), ("new", "cards now.")],
    ]


def test_a_reflowed_text_differs_in_blanks_only() -> None:
    reflowed = by_words("Bid low. Save high cards.", "Bid low.\nSave high cards.")
    assert reflowed.respaced
    assert lines(reflowed)[1:] == ["-Bid low. Save high cards.", "+Bid low.", "+Save high cards."]
    assert not by_words("Bid low.", "Bid high.").respaced


@pytest.mark.parametrize(
    ("old", "new", "shown", "name"),
    [
        ("Bid.", "Bid. ", "+Bid.\\x20", "U+0020 SPACE at the end of a line"),
        ("Bid low.", "Bid\u00a0low.", "+Bid\\xa0low.", "U+00A0 NO-BREAK SPACE"),
        ("Bid low.", "Bid\tlow.", "+Bid\\tlow.", "U+0009 TAB"),
        ("Bid low.", "Bid\u200b low.", "+Bid\\u200b low.", "U+200B ZERO WIDTH SPACE"),
        ("Bid low.", "Bid l\u043ew.", "+Bid l\\u043ew.", "U+043E CYRILLIC SMALL LETTER O"),
        ("don't", "don\u2019t", "+don\\u2019t", "U+2019 RIGHT SINGLE QUOTATION MARK"),
        ("1-2", "1\u20132", "+1\\u20132", "U+2013 EN DASH"),
        ("Bid \u202eevil", "Bid evil", "+Bid evil", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("caf\u00e9", "cafe\u0301", "+cafe\\u0301", "U+0301 COMBINING ACUTE ACCENT"),
        ("\u0441\u0430", "ca", "+ca", "U+0430 CYRILLIC SMALL LETTER A"),
        ("\ufeffBid", "Bid", "+Bid", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
    ],
)
def test_what_the_eye_cannot_tell_is_escaped_and_named(old: str, new: str, shown: str, name: str) -> None:
    diff = by_lines(old, new)
    assert lines(diff)[-1] == shown
    first, second = named(diff)[name]
    assert first != second
    assert lines(diff)[1][1:] != lines(diff)[2][1:]
    assert "".join(lines(diff)).isascii()


def test_words_of_another_script_stay_readable() -> None:
    diff = by_lines("Ставь мало, caf\u00e9.", "Ставь много, caf\u00e9.")
    assert lines(diff)[1:] == ["-Ставь мало, caf\u00e9.", "+Ставь много, caf\u00e9."]
    assert diff.hidden == ()


def test_an_escape_that_was_typed_is_told_from_what_it_stands_for() -> None:
    gone, came = lines(by_lines(r"Bid\x20", "Bid "))[1:]
    assert gone[1:] != came[1:]


_HARD = st.text(
    st.sampled_from("ab \t\n\r\\x20u\u00a0\u0430\u200b\u2019'-\u2013\u00e9e\u0301\ufeff\u202e"), max_size=12
)


@given(_HARD, _HARD)
def test_two_texts_that_differ_never_look_the_same(old: str, new: str) -> None:
    for diff in (by_lines(old, new), by_words(old, new)):
        assert bool(diff.lines) == (old != new)
    gone = [line[1:] for line in lines(by_lines(old, new)) if line[0] == "-"]
    came = [line[1:] for line in lines(by_lines(old, new)) if line[0] == "+"]
    assert (gone != came) == (old != new)


@given(st.text(max_size=30))
def test_what_is_shown_can_do_nothing_to_a_terminal(text: str) -> None:
    line = visible(text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", line)


def test_texts_that_look_alike_have_one_skeleton() -> None:
    assert skeleton("\u0441aution \u2014 don\u2019t\u00a0bid") == skeleton("caution - don't  bid")
    assert skeleton("bid low") != skeleton("bid now")


def test_a_text_of_one_word_again_and_again_takes_no_minutes() -> None:
    assert by_words("x " + "a " * 9_998, "a y " * 5_000).lines
