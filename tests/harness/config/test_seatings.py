"""Rows of a block: everybody in every seat once, and everybody right before everybody else equally often."""

from collections import Counter
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.config.balance import describe
from weigh.harness.config.designs import Neighbours, needs_mirror, square
from weigh.harness.config.schedule import extend, schedule

KINDS = ["williams", "rotated"]


def names(count):
    return [f"e{number:02}" for number in range(count)]


def neighbours(rows):
    return Counter(pair for row in rows for pair in pairwise(row))


@given(st.integers(2, 14), st.sampled_from(KINDS))
def test_every_square_has_each_place_once_in_every_row_and_in_every_seat(seats, rows):
    made = square(seats, rows)
    whole = list(range(seats))
    assert [sorted(row) for row in made] == [whole] * seats
    assert [sorted(column) for column in zip(*made, strict=True)] == [whole] * seats


@given(st.integers(1, 7).map(lambda half: 2 * half))
def test_a_williams_square_of_even_size_has_every_ordered_pair_of_neighbours_exactly_once(seats):
    assert neighbours(square(seats, "williams")) == Counter(permutations(range(seats), 2))
    assert not needs_mirror(seats, "williams")


@given(st.integers(1, 6).map(lambda half: 2 * half + 1))
def test_a_williams_square_of_odd_size_and_its_mirror_have_every_ordered_pair_exactly_twice(seats):
    made = square(seats, "williams")
    alone = neighbours(made)
    assert all(alone[one, other] + alone[other, one] == 2 for one, other in permutations(range(seats), 2))
    both = neighbours((*made, *(row[::-1] for row in made)))
    assert both == Counter({pair: 2 for pair in permutations(range(seats), 2)})
    assert needs_mirror(seats, "williams")


def test_the_square_of_four_is_the_one_of_the_textbook():
    assert square(4, "williams") == ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))


def test_two_entrants_have_one_square_and_rotated_rows_keep_their_neighbours():
    assert square(2, "williams") == square(2, "rotated") == ((0, 1), (1, 0))
    assert neighbours(square(4, "rotated")) == {(0, 1): 3, (1, 2): 3, (2, 3): 3, (3, 0): 3}
    assert not needs_mirror(5, "rotated")


def test_of_a_square_and_its_mirror_the_one_that_evens_out_is_taken():
    seen = Neighbours()
    rows = (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"))
    assert seen.evened(rows) == rows
    seen.add(("b", "a"))
    assert seen.evened(rows) == rows
    for _ in range(2):
        seen.add(("a", "b"))
    assert seen.evened(rows) == tuple(row[::-1] for row in rows)


@given(st.integers(2, 14), st.integers(1, 3), st.integers(0, 2**32))
def test_a_full_table_has_even_neighbours_after_every_block_or_every_second_one(seats, times, seed):
    blocks = times * (1 + seats % 2)
    chairs = describe(schedule("g", names(seats), seats, blocks, seed)).chairs
    assert chairs.neighbour_range == (blocks, blocks)
    assert chairs.seat_range == (blocks, blocks)


@pytest.mark.parametrize(("entrants", "seats", "met"), [(13, 4, 1), (7, 4, 2), (5, 4, 3), (6, 2, 1)])
def test_exact_designs_of_even_tables_have_even_neighbours_too(entrants, seats, met):
    cycle = entrants if seats == 4 else 15
    report = describe(schedule("g", names(entrants), seats, 2 * cycle, 4))
    assert report.chairs.neighbour_range == (2 * met, 2 * met)
    assert report.balanced


@pytest.mark.parametrize(("entrants", "seats"), [(7, 3), (11, 5), (9, 5)])
def test_odd_tables_even_out_who_sits_before_whom_as_far_as_single_blocks_allow(entrants, seats):
    """Drawn without looking back, the same blocks spread more; sums of both directions are even anyway."""
    report = describe(schedule("g", names(entrants), seats, 20 * entrants, 4))
    fewest, most = report.chairs.neighbour_range
    counts, met = report.chairs.neighbours, report.tables.meetings
    for one, other in permutations(range(entrants), 2):
        assert counts[one][other] + counts[other][one] == 2 * met[one][other]
    # A coin for each of some 60 to 80 meetings would leave one of so many pairs 20 or more apart.
    assert most - fewest <= 12


def test_rows_change_neighbours_and_nothing_else():
    williams, rotated = (schedule("g", names(7), 4, 14, 3, rows) for rows in KINDS)
    assert [(e.key, e.block, e.deal_key) for e in williams] == [(e.key, e.block, e.deal_key) for e in rotated]
    assert [frozenset(e.entrants) for e in williams] == [frozenset(e.entrants) for e in rotated]
    assert describe(williams).tables.meetings == describe(rotated).tables.meetings
    assert describe(williams).chairs.sittings == describe(rotated).chairs.sittings
    assert describe(williams).chairs.neighbour_range == (4, 4)
    assert describe(rotated).chairs.neighbour_range != (4, 4)


@given(st.integers(3, 6), st.integers(1, 6), st.sampled_from(KINDS))
def test_blocks_of_an_extension_have_the_same_kind_of_rows(seats, blocks, rows):
    played = schedule("g", names(seats), seats, 2, 1, rows)
    added = extend(played, [*names(seats), "new"], blocks, 1, rows)
    for start in range(0, len(added), seats):
        block = [episode.entrants for episode in added[start : start + seats]]
        place = {name: number for number, name in enumerate(block[0])}
        turned = {tuple(place[name] for name in row) for row in block}
        assert [sorted(column) for column in zip(*turned, strict=True)] == [list(range(seats))] * seats
        counts = neighbours(turned)
        if rows == "rotated":
            assert set(counts.values()) == {seats - 1}
        else:
            assert all(counts[a, b] + counts[b, a] == 2 for a, b in permutations(range(seats), 2))


def test_a_report_of_more_than_64_entrants_has_no_matrices():
    report = describe(schedule("g", names(65), 2, 70, 0), names(65)).to_json()
    assert report["meetings"] is report["episodes_by_entrant_and_seat"] is None
    assert report["pair_meetings"] == {"fewest": 0, "most": 1}
    assert describe(schedule("g", names(64), 2, 70, 0), names(64)).to_json()["meetings"]["e00"]["e01"] in (0, 1)
