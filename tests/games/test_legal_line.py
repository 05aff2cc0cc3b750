"""Sets of legal moves on one line: what the games write is read back whole, and nothing else is guessed at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.games import legal_line
from weigh.games.legal import Bids
from weigh.games.legal_line import Moves, read
from weigh.games.values import commas

bid_sets = st.sets(st.integers(-50, 1000), min_size=1).map(lambda found: Bids(tuple(sorted(found))))
numbers = st.lists(st.integers(-50, 50), min_size=1, unique=True)


@given(bid_sets)
def test_a_described_set_of_bids_is_read_back_whole(bids: Bids) -> None:
    assert list(read(bids.describe(), ())) == list(bids)


@given(st.dictionaries(st.sampled_from(["scale", "side", "weight"]), numbers, min_size=2))
def test_named_lists_are_read_back_whole(values: dict[str, list[int]]) -> None:
    line = legal_line.lists({name: commas(found) for name, found in values.items()})
    found = read(f"{line}.", [*values, "notes"])
    assert isinstance(found, dict)
    assert {name: list(moves) for name, moves in found.items()} == values
    assert read(line, [*values][1:]) is None


def test_a_list_that_binds_others_to_its_values_is_read_back_as_objects_of_both() -> None:
    weights = commas([legal_line.bound(1, "modify", "0 to 1"), legal_line.bound(3, "modify", commas([-1, 0]))])
    line = legal_line.lists({"scale": commas("AB"), "weight": weights})
    assert line == "scale A, B; weight 1 (modify 0 to 1), 3 (modify -1, 0)"
    found = read(line, ("scale", "weight", "modify"))
    assert isinstance(found, dict)
    assert list(found["weight"]) == [{"weight": w, "modify": m} for w, m in ((1, 0), (1, 1), (3, -1), (3, 0))]
    assert read(line, ("scale", "weight")) is None


def test_forms_are_read_back_whole() -> None:
    line = legal_line.forms(
        {"place": {"weight": commas([1, 3]), "scale": legal_line.run(range(2))}, "pass": {"times": "2"}}
    )
    assert line == '["place", weight, scale] with weight 1, 3; scale 0 to 1; or ["pass", times] with times 2'
    found = read(line, ())
    assert isinstance(found, Moves)
    assert list(found) == [["place", 1, 0], ["place", 1, 1], ["place", 3, 0], ["place", 3, 1], ["pass", 2]]
    assert len(found) == 5


@pytest.mark.parametrize(
    ("line", "moves"),
    [
        ("1, 2, 5, 9", [1, 2, 5, 9]),
        ("1 to 4.", [1, 2, 3, 4]),
        ('"pass", -2 to 1', ["pass", -2, -1, 0, 1]),
        ("me, opponent", ["me", "opponent"]),
        ('["place", 3], {"axis": "up"}, {"distance": 0}', [["place", 3], {"axis": "up"}, {"distance": 0}]),
    ],
)
def test_numbers_runs_words_and_json_are_understood(line: str, moves: list[object]) -> None:
    assert list(read(line, ())) == moves


def test_a_long_run_is_not_written_out() -> None:
    found = read("0 to 999999999", ())
    assert isinstance(found, Moves)
    assert (len(found), found[0], found[len(found) - 1]) == (1_000_000_000, 0, 999_999_999)


@pytest.mark.parametrize(
    "line",
    [
        "any whole number above 5",
        "5 to 3",
        "1, 2 (or pass)",
        "1,2",
        "",
        "…",
        "{",
        "scale A; scale B",
        "scale A; weight",
        "scale A; weight 1 (or 2)",
        "scale A; weight 1 (scale 2 (scale 3))",
        "scale A; weight 1 (scale 2), 3",
        "scale A; weight 1 (scale)",
        "scale A; weight 1 (scale 0 to 999999)",
        ";",
        '["place", weight]',
        '["place", weight] with scale 1',
        '["place", weight, scale] with weight 1',
        '["place", weight] with weight 1; and more',
        '["place", weight] with weight (1)',
        '["place"] with weight 1',
        "place with weight 1",
        '["place", weight, scale] with weight 1 to 9999; scale 1 to 9999',
    ],
)
def test_a_line_that_says_something_else_is_not_guessed_at(line: str) -> None:
    assert read(line, {"scale", "weight"}) is None
