"""How the moves of Half-Hearted Step are read: the answer forms of its three phases, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.games.game import MoveIllegal, MoveRefused, MoveUnreadable
from weigh.games.half_hearted_step.moves import AuctionBids, Axis, FirstChoices, Steps, answered, steps
from weigh.policies.layout import answer_schema
from weigh.policies.reply import read_reply

OPEN = AuctionBids(-999, 999)
RAISE = AuctionBids(4, 999)
LAST = AuctionBids(1000, 999)
WIDE = steps("horizontal", 3, 7, 2, True)
BOUND = steps("vertical", 6, 7, 1, False)

# Bids


@pytest.mark.parametrize("value", [5, 5.0, "5", " 5 ", {"bid": 5}, {"bid": "5"}, {"bid": 5, "pass": False}])
def test_a_bid_however_it_is_written(value: Any) -> None:
    read = RAISE.read(value)
    assert (read, type(read)) == (5, int)


@pytest.mark.parametrize(
    "value",
    [
        "pass",
        "PASS",
        " Pass ",
        {"bid": "pass"},
        {"pass": True},
        {"bid": None, "pass": True},
        {"bid": "Pass", "pass": 1 < 2},
    ],
)
def test_a_pass_however_it_is_written(value: Any) -> None:
    for legal in (OPEN, RAISE, LAST):
        assert legal.read(value) == "pass"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"bid": 5, "pass": True}, "both bids and passes"),
        ({"pass": False}, "neither bids nor passes"),
        ({}, "neither bids nor passes"),
        ({"pass": "yes"}, '"pass" is "yes": it must be true or false'),
        ({"pass": 1}, '"pass" is 1'),
        ({"bid": [5]}, "is not a number; a bid is one whole number"),
        ("passs", "is not one whole number"),
        (True, "true is not a number"),
        (4.5, "4.5 is not a whole number"),
        (None, "null is not a number"),
    ],
)
def test_what_is_no_bid_is_unreadable(value: Any, message: str) -> None:
    with pytest.raises(MoveUnreadable, match=r".") as refused:
        RAISE.read(value)
    assert message in str(refused.value)


@pytest.mark.parametrize("value", [3, -4, 1000, "-1", {"bid": 0}, 10**400])
def test_a_bid_that_is_not_larger_or_beyond_the_limit_is_illegal(value: Any) -> None:
    with pytest.raises(MoveIllegal, match='you may bid "pass", 4 to 999') as refused:
        RAISE.read(value)
    assert len(str(refused.value)) < 200


def test_1999_bids_make_neither_the_text_nor_the_schema_long() -> None:
    assert OPEN.describe() == '"pass", -999 to 999'
    assert answer_schema(OPEN) == {
        "type": "object",
        "properties": {
            "bid": {
                "anyOf": [
                    {"type": "string", "enum": ["pass"]},
                    {"type": "integer", "minimum": -999, "maximum": 999},
                ]
            }
        },
        "required": ["bid"],
        "additionalProperties": False,
    }
    assert answer_schema(LAST)["properties"] == {"bid": {"type": "string", "enum": ["pass"]}}


def test_the_example_of_a_bid_is_a_pass_which_nobody_can_copy_to_raise_a_bid() -> None:
    assert {legal.answer.example for legal in (OPEN, RAISE, LAST)} == {'{"bid": "pass"}'}


@pytest.mark.parametrize(
    ("reply", "move", "fault"),
    [
        ('I bid. {"bid": 7}', 7, None),
        ('{"bid": "pass"}', "pass", None),
        ('{"pass": true}', "pass", None),
        ('{"pass": true, "bid": 9}', None, "illegal"),
        ('{"bid": 3}', None, "illegal"),
        ('{"raise": 3}', None, "unreadable"),
    ],
)
def test_a_reply_in_the_auction_is_read(reply: str, move: Any, fault: Any) -> None:
    reading = read_reply(reply, "end", RAISE)
    assert (reading.move, reading.fault) == (move, fault)


# Choices


def test_there_are_four_choices() -> None:
    legal = FirstChoices()
    assert list(legal) == [
        {"active": "me", "axis": "horizontal"},
        {"active": "me", "axis": "vertical"},
        {"active": "opponent", "axis": "horizontal"},
        {"active": "opponent", "axis": "vertical"},
    ]
    assert legal.describe() == ", ".join(map(json.dumps, legal))
    assert {"active": "me", "axis": "vertical"} in legal
    for other in ({"active": "me"}, {"active": "me", "axis": "up"}, "me", {"active": "me", "axis": "vertical", "x": 1}):
        assert other not in legal


def test_a_choice_is_read_whatever_its_letter_case() -> None:
    assert FirstChoices().read({"axis": "Vertical", "active": " ME "}) == {"active": "me", "axis": "vertical"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"active": "me"}, 'lacks "axis", which is horizontal or vertical'),
        ({"axis": "vertical"}, 'lacks "active", which is me or opponent'),
        ({"active": "you", "axis": "vertical"}, '"you" is not a value of "active"'),
        ({"active": "me", "axis": 1}, '1 is not a value of "axis"'),
        (["me", "vertical"], "is no choice"),
        (None, "null is no choice"),
    ],
)
def test_what_is_no_choice_is_unreadable(value: Any, message: str) -> None:
    with pytest.raises(MoveUnreadable) as refused:
        FirstChoices().read(value)
    assert message in str(refused.value)


# Movements


@pytest.mark.parametrize(
    ("value", "step"),
    [
        ({"direction": "left", "distance": 2}, -2),
        ({"direction": "RIGHT", "distance": "1"}, 1),
        ({"direction": "right", "distance": 2.0}, 2),
        ({"direction": "stay", "distance": 0}, 0),
        ({"direction": "stay"}, 0),
        ({"direction": "stay", "distance": None}, 0),
        ({"direction": "left", "distance": 0}, 0),
        (-2, -2),
        ("-1", -1),
        (0, 0),
    ],
)
def test_a_movement_however_it_is_written(value: Any, step: int) -> None:
    read = WIDE.read(value)
    assert (read, type(read)) == (step, int)


def test_up_is_negative_and_down_positive() -> None:
    legal = steps("vertical", 3, 7, 2, True)
    assert legal.read({"direction": "up", "distance": 2}) == -2
    assert legal.read({"direction": "down", "distance": 1}) == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"direction": "left"}, 'lacks "distance"'),
        ({"distance": 1}, 'lacks "direction", which is left or right or stay'),
        ({"direction": "left", "distance": -1}, '"distance" is -1'),
        ({"direction": "left", "distance": None}, "null is not a number"),
        ({"direction": "stay", "distance": 1}, '"stay" goes 0 squares, not 1'),
        ({"direction": "west", "distance": 1}, '"west" is not a direction'),
        ({"direction": 1, "distance": 1}, "1 is not a direction"),
        ({"direction": "left", "distance": 1.5}, "1.5 is not a whole number"),
        ("left", "is not one whole number"),
        (None, "null is not a number; a movement is one whole number"),
    ],
)
def test_what_is_no_movement_is_unreadable(value: Any, message: str) -> None:
    with pytest.raises(MoveUnreadable) as refused:
        WIDE.read(value)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("legal", "value", "message"),
    [
        (
            WIDE,
            {"direction": "left", "distance": 3},
            "too far or off the board: you may go left 2, left 1, stay, right",
        ),
        (WIDE, {"direction": "up", "distance": 1}, "up is along the other axis: you may go left 2"),
        (BOUND, {"direction": "down", "distance": 1}, "too far or off the board: you may go up 1"),
        (BOUND, {"direction": "stay", "distance": 0}, "you stayed in the turn before: you may go up 1"),
        (BOUND, -2, "-2 is not a legal move now"),
        (BOUND, {"direction": "up", "distance": 10**400}, "too far or off the board"),
    ],
)
def test_a_movement_that_is_not_open_is_illegal(legal: Steps, value: Any, message: str) -> None:
    with pytest.raises(MoveIllegal) as refused:
        legal.read(value)
    assert message in str(refused.value)
    assert len(str(refused.value)) < 240


def test_movements_are_told_as_a_model_writes_them() -> None:
    assert BOUND.describe() == '{"direction": "up", "distance": 1}'
    assert WIDE.describe().startswith('{"direction": "left", "distance": 2}, {"direction": "left", "distance": 1}, ')
    assert WIDE.answer.schema == {
        "direction": {"type": "string", "enum": ["left", "stay", "right"]},
        "distance": {"type": "integer", "enum": [0, 1, 2]},
    }
    assert json.loads(WIDE.answer.example) == {"direction": "left", "distance": 1}
    assert json.loads(BOUND.answer.example) == {"direction": "up", "distance": 1}


@given(
    st.sampled_from(["horizontal", "vertical"]),
    st.sampled_from([3, 7, 11]),
    st.integers(0, 10),
    st.integers(1, 2),
    st.booleans(),
)
def test_what_a_model_writes_for_a_movement_is_read_as_it(
    axis: Axis, size: int, at: int, reach: int, may_stay: bool
) -> None:
    legal = steps(axis, at % size, size, reach, may_stay)
    assert len(legal) >= 1
    for step in range(-3, 4):
        if step in legal:
            assert legal.read(answered(axis, step)) == step == legal.read(step)
            assert 0 <= at % size + step < size
        else:
            with pytest.raises(MoveRefused):
                legal.read(answered(axis, step))
