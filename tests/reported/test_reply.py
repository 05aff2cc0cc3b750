"""Replies that public harnesses have misread: neighbours of the cases in `tests/policies/test_reply_cases.py`."""

from __future__ import annotations

import pytest

from tests.policies.legal_sets import TO_TEN
from tests.work import assert_linear
from weigh.policies.reply import Reading, read_reply


def read(value: str) -> Reading:
    return read_reply(f'I bid.\n{{"bid": {value}}}', "end", TO_TEN)


@pytest.mark.parametrize("value", ["7.0", "7.00000000000000000000", "70e-1", "7e0", "0.7E+1", '" 7 "', '"07"'])
def test_R23_a_whole_number_is_one_however_it_is_written(value: str) -> None:
    assert read(value).move == 7


@pytest.mark.parametrize(
    "value",
    ["7.0000000000000000001", "6.99999999999999999999", "7e-99999999", "1e-400", "75e-1", '"7.0"', '"0x7"', '"7e0"'],
)
def test_R23_a_broken_number_is_not_rounded_to_a_move(value: str) -> None:
    reading = read(value)
    assert (reading.fault, reading.move, reading.candidates) == ("illegal", None, 1)
    assert value.strip('"')[:20] in reading.detail or reading.detail == "7.5 is not a whole number"


def test_R23_numbers_of_many_places_elsewhere_in_an_answer_do_no_harm() -> None:
    assert read('7, "confidence": 0.123456789012345678, "tiny": 1e-400, "huge": 1e400').move == 7


@pytest.mark.timeout(60)
def test_R35_many_places_in_many_numbers_are_read_in_proportion_to_their_number() -> None:
    def why(numbers: int) -> str:
        return '7, "why": [' + ", ".join(["7.0000000000000001"] * numbers) + "]"

    assert_linear(read, why, 2_000)
    assert read(why(90_000)).move == 7


@pytest.mark.parametrize("value", ['"-1"', "-1", '"−1"', '"+7"', '"7%"', '".7"', '"7."', '"7,"', '"$7"', '"7 or 8"'])
def test_R10_R44_nothing_around_a_number_is_stripped(value: str) -> None:
    assert read(value).fault == "illegal"
