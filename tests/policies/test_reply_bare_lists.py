"""A move that is a list which begins with a word may be the whole answer, without the object around it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.policies.legal_sets import TO_TEN
from tests.work import assert_linear
from weigh.games.ballast.moves import Actions
from weigh.policies.reply import Reading, read_reply

TURN = Actions(hand=(1, 3, 5), scales=3, weights=5, targets=(2,))
MOVE = ["place", 3, 1, 5]


def read(text: str) -> Reading:
    return read_reply(text, "end", TURN)


@pytest.mark.parametrize(
    "text",
    [
        '["place", 3, 1, 5]',
        ' ["PLACE", "3", 1.0, 5]\n',
        '```json\n["place", 3, 1, 5]\n```',
        'Scale 1 is close.\n\n["place", 3, 1, 5]',
        '["place", 3, 1, 5]\n\nAgain: ["place",3,1,5]',
        'First ["challenge", 2], no: ["place", 3, 1, 5]',
        '[["place", 3, 1, 5]]',
        '<think>["challenge", 2]</think>["place", 3, 1, 5]',
    ],
)
def test_a_list_that_ends_the_reply_is_read(text: str) -> None:
    reading = read(text)
    assert (reading.move, reading.fault) == (MOVE, None)


def test_an_object_goes_before_any_list() -> None:
    reading = read('["challenge", 2] or {"move": ["place", 3, 1, 5]} or ["place", 5, 0, 5]')
    assert (reading.move, reading.candidates) == (MOVE, 1)
    assert read('{"move": ["place", 3, 1]} ["place", 3, 1, 5]').fault == "illegal"


@pytest.mark.parametrize(
    "text",
    [
        'I would play ["place", 3, 1, 5] if I had to, and I have to.',
        '{"action": ["place", 3, 1, 5]}',
        '{"move": ["place", 3, 1, 5]',
        '"["place", 3, 1, 5]"',
        "['place', 3, 1, 5]",
        '["place", 3, 1, 5',
        '["place", [3], 1, 5]',
        "[3, 1, 5]",
        "place 3 1 5",
        '"place", 3, 1, 5',
    ],
)
def test_what_does_not_end_the_reply_or_stands_in_something_else_is_not_guessed_at(text: str) -> None:
    assert read(text).fault == "unreadable"


def test_several_lists_are_ambiguous_like_several_objects() -> None:
    reading = read('["place", 1, 1, 5], ["place", 3, 1, 5] or ["place", 5, 1, 5]')
    assert (reading.fault, reading.candidates) == ("ambiguous", 3)


def test_a_list_that_is_no_legal_move_is_final() -> None:
    reading = read('["place", 3, 1, 5] no, ["place", 4, 1, 5]')
    assert (reading.fault, reading.candidates) == ("illegal", 2)
    assert "you do not hold weight 4" in reading.detail
    assert read('["put", 3, 1, 5]').fault == "illegal"


def test_games_whose_moves_are_no_lists_read_none() -> None:
    for text in ('["bid", 3]', '["3"]'):
        assert read_reply(text, "end", TO_TEN).fault == "unreadable"


@given(st.lists(st.sampled_from(["[", "]", '"', "place", ",", "3", " ", "{", "}", "\\", "```", "\n"]), max_size=40))
def test_any_text_is_read(parts: list[str]) -> None:
    reading = read("".join(parts))
    assert (reading.fault is None) == (reading.move in TURN)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    ['["a", ' * 49_000, '["a[" , ' * 24_000, '["' * 49_000, '["[",' * 24_000, '["place", 3, 1, 5] ' * 49_000],
    ids=["nested", "in strings", "unclosed", "alternating", "moves"],
)
def test_long_texts_are_read_in_proportion_to_their_length(text: str) -> None:
    for end in ("", str(Random(1).random())):
        assert_linear(read, lambda size: text[:size] + end, 20_000)  # noqa: B023 - called before the next one
        read(text + end)  # a tenth of a second; a pattern that goes back over it takes hours
