"""How a move of Ballast is read, listed and described; and that the answer's schema admits just the legal moves."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.work import work
from weigh.games.ballast.moves import Actions
from weigh.games.game import Json, MoveIllegal, MoveRefused, MoveUnreadable

TURN = Actions(hand=(1, 3, 5), scales=3, weights=5, targets=(2, 10))
SPENT = Actions(hand=(4,), scales=2, weights=4, spent=True)
DISCARD = Actions(hand=(2, 5), scales=3, weights=5, targets=(), spent=True, discarding=True)


@pytest.mark.parametrize(
    "value",
    [
        ["place", 3, 1, 5],
        ["PLACE", 3, 1, 5],
        [" Place ", "3", " 1 ", 5.0],
        ("place", 3, 1, 5),
    ],
    ids=repr,
)
def test_a_placement_however_it_is_written(value: Json) -> None:
    read = TURN.read(value)
    assert read == ["place", 3, 1, 5]
    assert [type(item) for item in read] == [str, int, int, int]


def test_a_challenge_and_a_discard() -> None:
    assert TURN.read(["Challenge", "10"]) == ["challenge", 10]
    assert DISCARD.read(["DISCARD", 5.0]) == ["discard", 5]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "null is not a list that begins with a word"),
        ("place 3 1 5", "is not a list that begins with a word"),
        ([], "[] is not a list that begins with a word"),
        ({"place": [3, 1, 5]}, "is not a list that begins with a word"),
        (7, "7 is not a list"),
        (["put", 3, 1, 5], '"put" is not an action: an action is place, challenge or discard'),
        (["placement", 3, 1, 5], '"placement" is not an action'),
        ([3, 1, 5], "3 is not an action"),
        (["place", 3, 1], '["place", 3, 1] has 3 items; ["place", WEIGHT, SCALE, ANNOUNCED] has 4'),
        (["place", 3, 1, 5, 5], "has 5 items"),
        (["challenge"], '["challenge"] has 1 items; ["challenge", NUMBER] has 2'),
        (["challenge", 2, 4], "has 3 items"),
        (["discard", 2, 2], "has 3 items"),
        (["place", 3.5, 1, 5], "3.5 is not a whole number"),
        (["place", True, 1, 5], "true is not a number; the weight is one whole number"),
        (["place", 3, None, 5], "null is not a number; the scale is one whole number"),
        (["place", 3, 1, "5 or 4"], '"5 or 4" is not one whole number'),
        (["place", 3, 1, [5]], "[5] is not a number; the announced value is one whole number"),
        (["challenge", "#2"], '"#2" is not one whole number'),
    ],
)
def test_what_is_no_move_is_unreadable(value: Any, why: str) -> None:
    for legal in (TURN, DISCARD):
        with pytest.raises(MoveUnreadable) as refused:
            legal.read(value)
        assert why in str(refused.value)
        assert value not in legal


@pytest.mark.parametrize(
    ("legal", "value"),
    [
        (TURN, ["place", 2, 1, 5]),
        (TURN, ["place", 3, 3, 5]),
        (TURN, ["place", 3, 1, 6]),
        (TURN, ["place", 10**30, 1, 5]),
        (TURN, ["challenge", 3]),
        (TURN, ["challenge", -2]),
        (TURN, ["discard", 3]),
        (SPENT, ["challenge", 2]),
        (SPENT, ["place", 4, 2, 1]),
        (SPENT, ["place", 4, 1, 5]),
        (DISCARD, ["discard", 3]),
        (DISCARD, ["place", 5, 1, 5]),
        (DISCARD, ["challenge", 2]),
    ],
    ids=repr,
)
def test_a_move_that_may_not_be_made_is_illegal(legal: Actions, value: Any) -> None:
    with pytest.raises(MoveIllegal):
        legal.read(value)
    assert value not in legal


def test_only_the_canonical_move_is_in_the_set() -> None:
    assert ["place", 3, 1, 5] in TURN
    for value in (["PLACE", 3, 1, 5], ("place", 3, 1, 5), ["place", 3.0, 1, 5], ["place", 3, True, 5], "place", None):
        assert value not in TURN


def test_giants_are_refused_at_once_with_a_short_message() -> None:
    def read(value: Any) -> None:
        with pytest.raises(MoveRefused) as refused:
            TURN.read(value)
        assert len(str(refused.value)) < 200

    for value in (["place"] * 1_000_000, ["place", "9" * 1_000_000, 1, 5], ["p" * 1_000_000, 1], [["place"]] * 100_000):
        read(value)
        done = work(partial(read, value))
        assert done.steps < 500
        assert done.memory < 50_000


def test_the_set_is_counted_and_listed_in_order() -> None:
    assert len(TURN) == 3 * 3 * 5 + 2
    assert next(iter(TURN)) == ["place", 1, 0, 1]
    assert list(TURN)[-3:] == [["place", 5, 2, 5], ["challenge", 2], ["challenge", 10]]
    assert list(SPENT) == [["place", 4, scale, said] for scale in (0, 1) for said in (1, 2, 3, 4)]
    assert list(DISCARD) == [["discard", 2], ["discard", 5]]


def test_a_description_names_the_forms_and_what_may_stand_in_them() -> None:
    assert TURN.describe() == (
        '["place", weight, scale, announced] with weight 1, 3, 5; scale 0, 1, 2; announced 1, 2, 3, 4, 5; '
        'or ["challenge", number] with number 2, 10'
    )
    assert SPENT.describe() == '["place", weight, scale, announced] with weight 4; scale 0, 1; announced 1, 2, 3, 4'
    assert DISCARD.describe() == '["discard", weight] with weight 2, 5'


def test_the_answer_has_one_key_and_an_example_of_the_forms_due() -> None:
    assert TURN.answer.keys == TURN.answer.required == ("move",)
    assert [legal.answer.example for legal in (TURN, SPENT, DISCARD)] == [
        '{"move": ["place", 3, 1, 3]}',
        '{"move": ["place", 4, 1, 2]}',
        '{"move": ["discard", 5]}',
    ]
