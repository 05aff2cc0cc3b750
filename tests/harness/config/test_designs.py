"""Designs: every pair meets equally often where that is possible, nearly so elsewhere."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.harness.config.designs import KNOWN_BASES, balance, design
from weigh.harness.errors import ScheduleInvalid


@pytest.mark.parametrize(
    ("entrants", "seats", "kind", "tables", "meetings"),
    [
        (13, 4, "shifts of {0,1,3,9} mod 13", 13, 1),
        (7, 4, "shifts of {0,1,2,4} mod 7", 7, 2),
        (5, 4, "shifts of {0,1,2,3} mod 5", 5, 3),
        (7, 3, "shifts of {0,1,3} mod 7", 7, 1),
        (13, 3, "shifts of {0,1,4} and {0,2,7} mod 13", 26, 1),
        (9, 4, "shifts of {0,1,2,4} and {0,1,4,6} mod 9", 18, 3),
        (4, 4, "full table", 1, 1),
        (2, 2, "full table", 1, 1),
        (6, 2, "all pairs", 15, 1),
        (7, 2, "all pairs", 21, 1),
    ],
)
def test_exact_designs_let_every_pair_meet_equally_often(entrants, seats, kind, tables, meetings):
    found = design(entrants, seats)
    assert found.exact
    assert found.kind == kind
    assert len(found.tables) == tables
    assert balance(found.tables, entrants, seats).pair_range == (meetings, meetings)


@pytest.mark.parametrize(("entrants", "seats"), sorted(KNOWN_BASES))
def test_known_base_blocks_are_perfect_difference_sets(entrants, seats):
    found = design(entrants, seats)
    assert found.exact
    assert balance(found.tables, entrants, seats).pair_range == (1, 1)


@given(st.integers(2, 30), st.integers(2, 10))
def test_every_cycle_seats_everybody_equally_often_with_honest_claims(entrants, seats):
    if entrants < seats:
        with pytest.raises(ScheduleInvalid):
            design(entrants, seats)
        return
    found = design(entrants, seats)
    assert all(len(set(table)) == seats for table in found.tables)
    counts = balance(found.tables, entrants, seats)
    assert len({sum(row) for row in counts.sittings}) == 1
    fewest, most = counts.pair_range
    assert found.exact == (fewest == most)
    assert ("best effort" in found.kind) == (not found.exact)


@pytest.mark.parametrize("entrants", [6, 8, 10, 11, 12, 14, 16, 20, 25])
def test_best_effort_at_four_seats_is_as_even_as_whole_numbers_allow(entrants):
    found = design(entrants, 4)
    fewest, most = balance(found.tables, entrants, 4).pair_range
    assert not found.exact
    assert most - fewest == 1


def test_best_effort_beats_every_other_single_base_block():
    def spread(base):
        shifts = [tuple((x + s) % 8 for x in base) for s in range(8)]
        fewest, most = balance(shifts, 8, 4).pair_range
        return most - fewest

    fewest, most = balance(design(8, 4).tables, 8, 4).pair_range
    assert most - fewest == min(spread((0, *rest)) for rest in combinations(range(1, 8), 3))


def test_all_pairs_come_in_rounds_without_a_double_booking():
    tables = design(8, 2).tables
    for start in range(0, len(tables), 4):
        seated = [x for table in tables[start : start + 4] for x in table]
        assert sorted(seated) == list(range(8))


def test_a_large_field_gets_a_greedy_base_block():
    found = design(40, 8)
    assert found.kind == "shifts of {0,1,3,7,12,17,18,20} mod 40 (best effort)"
    assert balance(found.tables, 40, 8).pair_range == (1, 3)


def test_balance_counts_meetings_and_seats():
    counts = balance([(0, 1), (1, 0), (2, 0)], 3, 2)
    assert counts.meetings == ((0, 2, 1), (2, 0, 0), (1, 0, 0))
    assert counts.sittings == ((1, 2), (1, 1), (1, 0))
    assert counts.pair_range == (0, 2)
    assert counts.seat_range == (0, 2)


def test_too_few_entrants_are_refused_with_how_many_are_missing():
    with pytest.raises(ScheduleInvalid, match=r"4 seats and there are 2 entrants: add 2 more \(scripted baselines"):
        design(2, 4)
    with pytest.raises(ScheduleInvalid, match="there is 1 entrant: add 1 more"):
        design(1, 2)
    with pytest.raises(ScheduleInvalid, match="at least 2 seats, not 1"):
        design(3, 1)
