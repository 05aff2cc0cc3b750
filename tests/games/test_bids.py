"""How an integer is read as a bid, and what the legal set says of itself."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.work import work
from weigh.games.game import Json, MoveIllegal, MoveRefused, MoveUnreadable
from weigh.games.goofspiel.rules import hand
from weigh.games.legal import Bids
from weigh.games.oshi_zumo.rules import purse
from weigh.games.values import LIMIT

SEVEN = Bids((1, 2, 5, 7, 9))
HAND = hand(1 << 1 | 1 << 2 | 1 << 7 | 1 << 11 | 1 << 13)


@pytest.mark.parametrize("value", [7, 7.0, "7", " 7 ", "\t7\n", "07"])
def test_seven_however_it_is_written(value: Json) -> None:
    read = SEVEN.read(value)
    assert read == 7
    assert type(read) is int


NOT_BIDS: list[Any] = [
    *(7.5, True, False, None, float("nan"), float("inf"), float("-inf")),
    *("7 or 8", "1_0", "", " ", "7.0", "+7", "7.", "0x7", "seven", "1e0", "--7", "- 7", "7\x00", "\u00a07"),
    *("７", "²", "٧", "七", "Ⅶ"),
    *([7], [], {"bid": 7}, {}, (7,), b"7", 7j),
]


@pytest.mark.parametrize("value", NOT_BIDS, ids=repr)
def test_what_is_no_whole_number_is_unreadable(value: Any) -> None:
    with pytest.raises(MoveUnreadable):
        SEVEN.read(value)
    assert value not in SEVEN


@pytest.mark.parametrize("value", [-1, "-1", -1.0, 0, "-0", 3, 8, 1e300, 10**30, "99999999999999999999"])
def test_a_whole_number_that_may_not_be_bid_is_illegal(value: Json) -> None:
    with pytest.raises(MoveIllegal, match="you may bid 1, 2, 5, 7, 9"):
        SEVEN.read(value)


def test_minus_zero_is_zero() -> None:
    for value in ("-0", -0.0, 0):
        assert str(Bids((0, 1)).read(value)) == "0"


@pytest.mark.parametrize(
    "value",
    ["9" * 5_000, "9" * 1_000_000, " " * 1_000_000 + "7", 10**5_000, -(10**100_000), "[" * 100_000],
    ids=["digits", "more digits", "spaces", "integer", "negative integer", "brackets"],
)
def test_giants_are_refused_at_once_with_a_short_message(value: Json) -> None:
    def read() -> None:
        with pytest.raises(MoveRefused) as refused:
            SEVEN.read(value)
        assert len(str(refused.value)) < LIMIT + 70

    read()
    done = work(read)
    assert done.steps < 500
    assert done.memory < 50_000


def test_a_refusal_quotes_the_value_and_says_why() -> None:
    messages = {
        "7.5": 7.5,
        '"7 or 8"': "7 or 8",
        "null": None,
        "true": True,
        "8": 8,
    }
    for quoted, value in messages.items():
        with pytest.raises(MoveRefused) as refused:
            HAND.read(value)
        assert str(refused.value).startswith(f"{quoted} is not ")
    with pytest.raises(MoveIllegal) as illegal:
        HAND.read(8)
    assert str(illegal.value) == "8 is not a legal bid now: you hold 1, 2, 7, 11, 13"


@pytest.mark.parametrize(("face", "card"), [("A", 1), ("a", 1), (" j ", 11), ("K", 13), ("k", 13)])
def test_a_hand_takes_the_names_of_cards(face: str, card: int) -> None:
    assert HAND.read(face) == card


@pytest.mark.parametrize("value", ["AK", "ace", "A♠", "10 K", "\u212a", "T"])  # U+212A is the Kelvin sign
def test_a_hand_takes_no_other_words(value: str) -> None:
    with pytest.raises(MoveUnreadable):
        HAND.read(value)


def test_a_card_by_name_must_be_held_too() -> None:
    with pytest.raises(MoveIllegal, match='"Q" is not a legal bid now'):
        HAND.read("Q")


def test_a_purse_takes_no_names_of_cards() -> None:
    with pytest.raises(MoveUnreadable):
        purse(1, 20).read("A")


def test_describe_lists_or_gives_the_ends_of_a_long_run() -> None:
    assert SEVEN.describe() == "1, 2, 5, 7, 9"
    assert purse(1, 20).describe() == "1 to 20"
    assert purse(1, 3).describe() == "1, 2, 3"
    assert purse(1, 0).describe() == "0"
    assert hand(0b10111111110).describe() == "1, 2, 3, 4, 5, 6, 7, 8, 10"


def test_the_answer_form_is_an_enum_of_the_legal_bids() -> None:
    answer = HAND.answer
    assert answer.keys == answer.required == ("bid",)
    assert answer.schema == {"bid": {"type": "integer", "enum": [1, 2, 7, 11, 13]}}
    assert json.loads(answer.example) == {"bid": 7}


@given(st.sets(st.integers(-5, 60), min_size=1), st.integers(-10, 70))
def test_contains_reads_and_iterates_the_same(values: set[int], value: int) -> None:
    bids = Bids(tuple(sorted(values)))
    assert list(bids) == sorted(values)
    assert len(bids) == len(values)
    if value in bids:
        assert bids.read(value) == bids.read(str(value)) == bids.read(float(value)) == value
    else:
        assert value not in values
        with pytest.raises(MoveIllegal):
            bids.read(value)


def test_legal_sets_are_values() -> None:
    assert hand(0b1010) is hand(0b1010)
    for bids in (HAND, purse(2, 7), SEVEN):
        for copied in (copy.deepcopy(bids), pickle.loads(pickle.dumps(bids))):
            assert copied == bids
            assert hash(copied) == hash(bids)
    assert purse(0, 3) != purse(1, 3)
