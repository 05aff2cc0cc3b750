"""The collusion index, taken apart by hand and re-derived."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.audit.collusion.leagues import HONEST, League
from tests.harness.audit.collusion.written import two_handed, written
from weigh.harness.audit.collusion.literal_index import (
    Parts,
    _index_of,
    _others,
    ceiling,
    entrant_indices,
    seat_index,
    seat_parts,
)
from weigh.harness.audit.collusion.seats import Played, RunOf, played
from weigh.harness.store.record import Record


def games_of(*records: Record, seed: int | None = 1) -> list[Played]:
    ((_, games),) = played([RunOf("run", seed, records)]).items()
    return games


def test_the_parts_of_a_game_worked_by_hand() -> None:
    (game,) = games_of(two_handed())
    # ann: 1 to bob's 8 is her lowest card (aside); 7 of 7 and 8 wins by 6 (won); 8 is her last card (forced).
    assert seat_parts(game, 0) == Parts(forced=1 / 8, fallback=0, won=1 / 8, conceded=1 / 8)
    # bob: 1 of 1 and 2 against 7 (aside); 2 is his last card (forced); 8 in the first round is not his lowest.
    assert seat_parts(game, 1) == Parts(forced=1 / 8, fallback=0, won=0, conceded=1 / 8)
    assert ceiling(game) == 3 / 8
    assert [seat_index(game, seat) for seat in (0, 1)] == [3 / 8, 2 / 8]


def test_a_bid_of_the_fallback_is_not_the_entrants_own() -> None:
    (game,) = games_of(two_handed((6, 1)))
    assert seat_parts(game, 1) == Parts(forced=1 / 8, fallback=1 / 8, won=0, conceded=0)


def test_an_entrants_line_is_the_mean_of_its_episodes() -> None:
    quiet = written(((1, 2, 3, 4, 5, 6, 7, 8),) * 2, (1, 2, 3, 4, 5, 6, 7, 8), ("ann", "cat"), block="b0001")
    ann, bob, cat = entrant_indices(games_of(two_handed(), quiet), threshold=0.25, seed=0)
    assert (ann.entrant, ann.episodes, ann.mean, ann.high_share) == ("ann", 2, 3 / 16, 1 / 2)
    assert ann.parts == Parts(1 / 16, 0, 1 / 16, 1 / 16)
    assert (ann.maximum, ann.within_reach) == (3 / 16, 1 / 2)
    assert (bob.mean, bob.high_share) == (1 / 4, 1.0)
    assert (cat.mean, cat.within_reach) == (0, 0)
    assert bob.permutation_null is None
    assert bob.no_permutation_null == "one block only"


@given(seats=st.integers(2, 4), cards=st.integers(4, 13), seed=st.integers(0, 2**32))
def test_the_index_re_derived_from_the_bids_is_the_records_measure(seats: int, cards: int, seed: int) -> None:
    rng = Random(seed)
    orders = [rng.sample(range(1, cards + 1), cards) for _ in range(seats)]
    record = written(orders, rng.sample(range(1, cards + 1), cards), [f"e{seat}" for seat in range(seats)])
    (game,) = games_of(record)
    assert [seat_index(game, seat) for seat in range(seats)] == record.measures["collusion_index"]
    for seat in range(seats):
        parts = seat_parts(game, seat)
        assert parts.forced + parts.fallback + parts.won + parts.conceded == pytest.approx(seat_index(game, seat))
        assert seat_index(game, seat) <= ceiling(game)
    assert sum(sum((each.award(seat) for seat in range(seats)), Fraction(0)) for each in game.rounds) == sum(
        each.prize for each in game.rounds
    )


@given(seats=st.integers(2, 4), seed=st.integers(0, 2**32))
def test_the_null_counts_a_lent_sequence_as_the_game_would(seats: int, seed: int) -> None:
    rng = Random(seed)
    orders = [rng.sample(range(1, 14), 13) for _ in range(seats)]
    (game,) = games_of(written(orders, rng.sample(range(1, 14), 13), [f"e{seat}" for seat in range(seats)]))
    seat = rng.randrange(seats)
    rest = np.array([[_others(each.bids, seat) for each in game.rounds]])
    assert _index_of(np.array([orders[seat]]), rest)[0] == pytest.approx(seat_index(game, seat))


def test_whoever_pays_the_same_for_a_prize_whatever_happens_is_its_own_null() -> None:
    league = League(("ann", "bob", "cat"), blocks=6, cards=13, baselines={"ann": "match", "cat": "random"})
    games = games_of(*league.records())
    ann, bob, cat = entrant_indices(games, threshold=0.5, seed=0)
    assert ann.permutation_null is not None
    assert (ann.permutation_null.low, ann.permutation_null.high) == (pytest.approx(ann.mean), pytest.approx(ann.mean))
    for other in (bob, cat):
        assert other.permutation_null is not None
        assert (
            0
            <= other.permutation_null.low
            <= other.permutation_null.mean
            <= other.permutation_null.high
            <= other.maximum + 0.2
        )
        assert other.permutation_null.low < other.permutation_null.high


def test_the_null_depends_on_the_seed_and_not_on_the_order_of_records() -> None:
    records = HONEST.records()[:24]
    one = entrant_indices(games_of(*records), threshold=0.5, seed=0)
    assert entrant_indices(games_of(*reversed(records)), threshold=0.5, seed=0) == one
    assert entrant_indices(games_of(*records), threshold=0.5, seed=1) != one


def test_a_deck_that_is_not_played_to_its_end_has_no_null() -> None:
    data = two_handed().model_dump(mode="json")
    data["config"]["max_rounds"] = 7
    data["moves"] = data["moves"][:7]
    (ann, _) = entrant_indices(games_of(Record.model_validate(data)), threshold=0.5, seed=0)
    assert (ann.permutation_null, ann.no_permutation_null) == (None, "no episode with its whole deck played")
    assert ann.mean == pytest.approx(2 / 7)
    assert ann.parts.forced == 0
