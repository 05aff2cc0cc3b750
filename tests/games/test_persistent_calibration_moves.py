"""What may be put down in Persistent Calibration: how it is written, read, refused, listed and offered."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.persistent_calibration_play import move
from weigh.games.game import MoveIllegal, MoveUnreadable
from weigh.games.persistent_calibration.moves import Placements
from weigh.policies.layout import answer_schema
from weigh.policies.reply import read_reply

PLAIN = Placements((1, 2, 3), 0)
RICH = Placements((1, 3), 2)

legal_sets = st.builds(
    Placements,
    st.sets(st.integers(1, 3), min_size=1).map(lambda held: tuple(sorted(held))),
    st.integers(0, 2),
)


def test_all_weights_on_all_sides() -> None:
    listed = list(PLAIN)
    assert len(listed) == len(PLAIN) == 18
    assert listed[:4] == [move("AL1"), move("AL2"), move("AL3"), move("AR1")]
    assert listed[-1] == move("CR3")
    assert list(RICH)[:6] == [move(written) for written in ("AL1", "AL1+", "AL1++", "AL3--", "AL3-", "AL3")]


@given(legal_sets, st.integers(0, 2**32))
def test_read_and_contains_and_samples_and_list_agree(legal: Placements, seed: int) -> None:
    listed = list(legal)
    assert len({json.dumps(each) for each in listed}) == len(listed) == len(legal)
    for each in listed:
        assert each in legal
        assert legal.read(each) == each
        placement = legal.find(each)
        assert placement is not None
        assert placement.to_json() == each
        assert placement.value in legal.values
        if each["modify"] == 0:
            assert legal.read({key: each[key] for key in ("scale", "side", "weight")}) == each
    assert legal.sample(Random(seed)) in listed


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"scale": "B", "side": "right", "weight": 3}, "BR3"),
        ({"scale": "b", "side": "Right", "weight": 3.0}, "BR3"),
        ({"weight": " 3 ", "side": " RIGHT", "scale": "B ", "modify": "0"}, "BR3"),
        ({"scale": "B", "side": "right", "weight": 3, "modify": -2.0}, "BR3--"),
    ],
)
def test_words_integers_and_a_modify_left_out_are_read(value: Any, meant: str) -> None:
    assert RICH.read(value) == move(meant)
    assert list(RICH.read(value) or ()) == ["scale", "side", "weight", "modify"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("BR3", '"BR3" is not an object with scale, side and weight'),
        (3, "3 is not an object with scale, side and weight"),
        (["B", "right", 3], '["B", "right", 3] is not an object with scale, side and weight'),
        ({}, "{} lacks scale, side, weight"),
        ({"scale": "B", "modify": 1}, '{"scale": "B", "modify": 1} lacks side, weight'),
        ({"scale": "B", "side": "right", "weight": 3, "garnets": 1}, 'the unknown key "garnets"; keys: scale, side'),
        ({"scale": "D", "side": "right", "weight": 3}, '"D" is not a scale: a scale is A, B or C'),
        ({"scale": "AB", "side": "right", "weight": 3}, '"AB" is not a scale'),
        ({"scale": "Scale B", "side": "right", "weight": 3}, '"Scale B" is not a scale'),
        ({"scale": "B", "side": "R", "weight": 3}, '"R" is not a side: a side is left or right'),
        ({"scale": "B", "side": None, "weight": 3}, "null is not a side"),
        ({"scale": "B", "side": "right", "weight": 2.5}, "2.5 is not a whole number"),
        ({"scale": "B", "side": "right", "weight": True}, "true is not a number; a weight is one whole number"),
        ({"scale": "B", "side": "right", "weight": "3 or 2"}, '"3 or 2" is not one whole number'),
        ({"scale": "B", "side": "right", "weight": 3, "modify": None}, "null is not a number; modify is one whole"),
        ({"scale": "B", "side": "right", "weight": 3, "modify": "none"}, '"none" is not one whole number'),
    ],
)
def test_what_has_not_the_shape_of_a_move_is_unreadable(value: Any, why: str) -> None:
    with pytest.raises(MoveUnreadable) as refused:
        RICH.read(value)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("AL2", "weight 2: you hold 1, 3"),
        ("AL9", "weight 9: you hold 1, 3"),
        ("AL1-", "weight 1 with modify -1 would be 0; it must stay within 1 to 3"),
        ("AL3---", "modify -3: you can spend at most 2 garnets now"),
    ],
)
def test_what_is_not_allowed_now_is_illegal(written: str, why: str) -> None:
    with pytest.raises(MoveIllegal) as refused:
        RICH.read(move(written))
    assert str(refused.value) == why


def test_shape_comes_before_legality() -> None:
    with pytest.raises(MoveUnreadable, match="is not a side"):
        PLAIN.read({"scale": "B", "side": "up", "weight": 9})


def test_described_in_one_line() -> None:
    assert PLAIN.describe() == "scale A, B, C; side left, right; weight 1, 2, 3"
    assert RICH.describe() == "scale A, B, C; side left, right; weight 1 (modify 0 to 2), 3 (modify -2 to 0)"
    assert Placements((2,), 1).describe() == "scale A, B, C; side left, right; weight 2 (modify -1 to 1)"


def test_an_answer_is_asked_for_a_modify_only_where_there_are_garnets() -> None:
    assert PLAIN.answer.required == tuple(PLAIN.answer.schema) == ("scale", "side", "weight")
    assert json.loads(PLAIN.answer.example) == {"scale": "B", "side": "right", "weight": 2}
    assert RICH.answer.required == tuple(RICH.answer.schema) == ("scale", "side", "weight", "modify")
    assert RICH.answer.schema["weight"] == {"type": "integer", "enum": [1, 3]}
    assert RICH.answer.schema["modify"] == {"type": "integer", "enum": [-2, -1, 0, 1, 2]}
    assert json.loads(RICH.answer.example) == {"scale": "B", "side": "right", "weight": 3, "modify": 0}


def test_structured_output_asks_for_every_property_it_names() -> None:
    for legal in (PLAIN, RICH):
        schema: Any = answer_schema(legal)
        assert schema["required"] == list(schema["properties"])


# Null


@given(legal_sets)
def test_null_is_legal_and_never_offered(legal: Placements) -> None:
    assert None in legal
    assert legal.read(None) is None
    assert None not in list(legal)
    assert "null" not in json.dumps(legal.answer.schema) + legal.describe() + legal.answer.example


@pytest.mark.parametrize("reply", ["null", "[null]", '{"move": null}', "```json\nnull\n```", '{"scale": null}'])
def test_no_reply_of_a_model_is_read_as_null(reply: str) -> None:
    reading = read_reply(reply, "end", PLAIN)
    assert reading.fault in ("unreadable", "illegal")


def test_a_reply_with_garnets_that_are_not_there_is_illegal_and_not_taken_without_them() -> None:
    reply = '{"scale": "A", "side": "left", "weight": 2, "modify": 1}'
    reading = read_reply(reply, "end", PLAIN)
    assert (reading.fault, reading.detail) == ("illegal", "modify 1: you can spend no garnets now")
    assert read_reply(reply, "end", Placements((2,), 1)).move == move("AL2+")


def test_a_reply_may_hold_other_keys_and_notes() -> None:
    reply = 'C is light.\n{"scale": "c", "side": "LEFT", "weight": "3", "why": "light", "notes": "watch C"}'
    reading = read_reply(reply, "end", PLAIN)
    assert (reading.move, reading.notes) == (move("CL3"), "watch C")
