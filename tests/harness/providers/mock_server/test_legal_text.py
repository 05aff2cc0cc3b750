"""Reading the legal moves out of a prompt."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.games.legal import Bids
from weigh.harness.providers.mock_server.legal_text import find_offer, parse_choices, parse_forms, parse_lists

bid_sets = st.sets(st.integers(-50, 1000), min_size=1).map(lambda found: Bids(tuple(sorted(found))))


@given(bid_sets)
def test_a_described_set_of_bids_is_read_back_whole(bids: Bids) -> None:
    choices = parse_choices(bids.describe())
    assert choices is not None
    assert [choices[index] for index in range(len(choices))] == list(bids)


@given(bid_sets, st.integers())
def test_an_answer_to_a_prompt_with_bids_is_legal(bids: Bids, seed: int) -> None:
    prompt = f"The prize is 9.\nYour legal bids: {bids.describe()}.\nWrite e.g. {bids.answer.example}"
    offer = find_offer([prompt])
    assert offer is not None
    answer = offer.answer(Random(seed), "any")
    assert bids.read(answer["bid"]) in bids
    assert offer.answer(Random(seed), "first") == {"bid": bids.values[0]}
    assert offer.answer(Random(seed), "last") == {"bid": bids.values[-1]}


@pytest.mark.parametrize(
    ("line", "moves"),
    [
        ("1, 2, 5, 9", [1, 2, 5, 9]),
        ("1 to 4.", [1, 2, 3, 4]),
        ("0..2 and 7", [0, 1, 2, 7]),
        ("-2 to 1", [-2, -1, 0, 1]),
        ("me, opponent", ["me", "opponent"]),
        ("left or right", ["left", "right"]),
        ('["place", 3, 1, 5], ["pass"]', [["place", 3, 1, 5], ["pass"]]),
        ('{"direction": "left", "distance": 1}; {"direction": "stay", "distance": 0}', None),
    ],
)
def test_numbers_ranges_words_and_json_are_understood(line: str, moves: list[object] | None) -> None:
    choices = parse_choices(line)
    assert choices is not None
    found = [choices[index] for index in range(len(choices))]
    assert found == (
        [{"direction": "left", "distance": 1}, {"direction": "stay", "distance": 0}] if moves is None else moves
    )


def test_a_list_for_each_of_several_keys_is_understood() -> None:
    lists = parse_lists("scale A, B, C; side left, right; weight 1 to 3.", {"scale": "B", "side": "left", "weight": 2})
    assert {key: [choices[n] for n in range(len(choices))] for key, choices in lists.items()} == {
        "scale": ["A", "B", "C"],
        "side": ["left", "right"],
        "weight": [1, 2, 3],
    }
    prompt = 'Your legal moves: scale A, B; weight 1, 3.\nSuch as {"scale": "B", "weight": 3, "note": 0}'
    offer = find_offer([prompt])
    assert offer is not None
    assert offer.answer(Random(1), "first") == {"scale": "A", "weight": 1, "note": 0}
    answers = [offer.answer(Random(seed), "any") for seed in range(50)]
    assert {(answer["scale"], answer["weight"]) for answer in answers} == {("A", 1), ("A", 3), ("B", 1), ("B", 3)}


@pytest.mark.parametrize(
    "line",
    ["scale A, B", "scale A; scale B", "scale A; sort B", "scale A; weight", "scale A; weight 1 (or 2)", ";", ""],
)
def test_lists_of_something_else_are_not_guessed_at(line: str) -> None:
    assert parse_lists(line, {"scale": "A", "weight": 1}) == {}


def test_the_forms_of_moves_that_are_lists_are_understood() -> None:
    line = '["place", weight, scale] with weight 1, 3; scale 0 to 1; or ["pass", times] with times 2.'
    forms = parse_forms(line)
    assert forms is not None
    assert [forms[n] for n in range(len(forms))] == [
        ["place", 1, 0],
        ["place", 1, 1],
        ["place", 3, 0],
        ["place", 3, 1],
        ["pass", 2],
    ]
    offer = find_offer([f'Your legal moves: {line}\nSuch as {{"move": ["place", 3, 1]}}'])
    assert offer is not None
    assert offer.answer(Random(1), "last") == {"move": ["pass", 2]}


@pytest.mark.parametrize(
    "line",
    [
        '["place", weight]',
        '["place", weight] with scale 1',
        '["place", weight, scale] with weight 1',
        '["place", weight] with weight 1; and more',
        '["place", weight] with weight (1)',
        '["place"] with weight 1',
        "place with weight 1",
        "",
    ],
)
def test_forms_of_something_else_are_not_guessed_at(line: str) -> None:
    assert parse_forms(line) is None


@pytest.mark.parametrize("line", ["any whole number above 5", "5 to 3", "1, 2 (or pass)", "", "…", "{"])
def test_a_line_that_says_something_else_is_not_guessed_at(line: str) -> None:
    assert parse_choices(line) is None


def test_the_last_statement_of_the_newest_turn_counts() -> None:
    turns = [
        'Legal bids: 1, 2.\nAnswer {"bid": 1}',
        'Old: legal bids: 3, 4.\nYour legal bids: 7, 8.\nYour notes: "legal: 99"\nAnswer like {"bid": 7}',
    ]
    offer = find_offer(turns)
    assert offer is not None and offer.choices is not None
    assert [offer.choices[index] for index in range(len(offer.choices))] == [7, 8]


def test_what_is_illegal_is_not_taken_for_legal() -> None:
    offer = find_offer(['Legal: 3, 4\nYou said something illegal: 5\nAnswer {"bid": 3}'])
    assert offer is not None
    assert offer.answer(Random(0), "last") == {"bid": 4}


def test_a_retry_without_an_example_uses_the_one_from_before() -> None:
    turns = ['Legal bids: 1, 2.\nAnswer {"bid": 1}', "99 is not legal. Your legal bids: 2."]
    offer = find_offer(turns)
    assert offer is not None
    assert offer.answer(Random(0), "any") == {"bid": 2}


def test_without_a_list_of_moves_the_example_is_the_answer() -> None:
    offer = find_offer(['Place a weight. Example: {"move": ["place", 3, 1, 5]}'])
    assert offer is not None
    assert offer.answer(Random(0), "any") == {"move": ["place", 3, 1, 5]}


def test_moves_that_do_not_fit_the_example_leave_the_example() -> None:
    offer = find_offer(['Legal moves: left, right.\nExample: {"direction": "left", "distance": 2}'])
    assert offer is not None
    assert offer.answer(Random(0), "any") == {"direction": "left", "distance": 2}


def test_whole_answers_as_moves_stand_for_themselves() -> None:
    moves = [{"direction": "left", "distance": 1}, {"direction": "up", "distance": 2}]
    line = ", ".join(map(json.dumps, moves))
    offer = find_offer([f"Legal moves: {line}\nExample: {json.dumps(moves[0])}"])
    assert offer is not None
    assert offer.answer(Random(0), "last") == moves[1]


@pytest.mark.parametrize("turns", [[], [""], ["Legal bids: 1, 2."], ["{" * 5000], ['{"notes": "x"}', "{not json}"]])
def test_without_an_example_there_is_no_offer(turns: list[str]) -> None:
    assert find_offer(turns) is None


def test_an_object_within_another_is_not_the_example() -> None:
    offer = find_offer(['Example: {"move": {"scale": "A"}}'])
    assert offer is not None
    assert offer.example == {"move": {"scale": "A"}}
