"""Half-Hearted Step: the worked examples H1 to H18 on the example board, and the bounds of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from tests.games.half_hearted_step_cases import BOARD, HORIZONTAL_ME, SHORTEST, TOUR, P, bid, settled, sold, turned
from weigh.games.half_hearted_step.play import Auction, Call, Position
from weigh.games.half_hearted_step.rules import HALF_HEARTED_STEP, HalfHeartedStepConfig, PlayState


def standing(state: PlayState) -> tuple[Any, ...]:
    """Square, points, lives, who is active."""
    now = state.position
    return now.square, list(now.points), list(now.lives), now.active


# H1 to H5


def test_the_numbers_of_the_example_board_sum_to_111() -> None:
    assert sum(number or 0 for row in BOARD for number in row) == 111


H1 = [(1, 1), (1, -2), (1, 1), (-1, -1), (-2, 1)]


@pytest.mark.parametrize(
    ("turns", "after"),
    [
        (1, ((4, 4), [1, 0], [3, 3], 1)),
        (2, ((2, 5), [1, 0], [3, 3], 0)),
        (3, ((3, 6), [-1, 0], [3, 3], 1)),
        (4, ((2, 5), [-1, 0], [3, 2], 0)),
        (5, ((3, 3), [-1, 0], [2, 2], 1)),
    ],
    ids=["H1a", "H1b", "H1c", "H1d", "H1e"],
)
def test_H1_numbers_are_gained_and_lives_lost(turns: int, after: Any) -> None:
    assert standing(turned(H1[:turns])) == after


def test_H2_both_stay_and_neither_may_again() -> None:
    state = turned([(0, 0)])
    assert standing(state) == ((3, 3), [0, 0], [2, 3], 1)
    assert list(state.legal(0)) == [-1, 1]
    assert list(state.legal(1)) == [-2, -1, 1, 2]


H4 = [(0, 0), (1, 1), (-1, -1), (1, 1), (-1, -1), (-1, 2), (-1, -2), (0, 0), (1, 1), (-1, -1)]


@pytest.mark.parametrize(
    ("turns", "after"),
    [
        (5, ((3, 3), [0, 1], [0, 2], 1)),
        (6, ((5, 2), [0, 0], [0, 2], 1)),
        (7, ((3, 1), [0, 3], [0, 2], 1)),
        (8, ((3, 1), [0, 3], [0, 1], 1)),
        (9, ((4, 2), [0, 6], [0, 1], 1)),
        (10, ((3, 1), [0, 6], [0, 0], 1)),
    ],
)
def test_H4_a_seat_that_is_out_goes_on_moving(turns: int, after: Any) -> None:
    assert standing(turned(H4[:turns])) == after


def test_H4_is_over_after_ten_turns() -> None:
    assert turned(H4[:9]).outcome is None
    outcome = settled(turned(H4))
    assert (outcome.reason, outcome.ending) == ("complete", "lives-spent")
    assert (outcome.measures["turns"], outcome.measures["points"]) == (10, [0, 6])
    assert outcome.scores == (-1, 1)


def test_H5_is_over_after_seven_turns() -> None:
    assert turned(SHORTEST[:6]).outcome is None
    measures = settled(turned(SHORTEST)).measures
    assert (measures["turns"], measures["points"], measures["lives"]) == (7, [0, 1], [0, 0])


# H9 to H13


def test_H9_a_seat_may_raise_its_own_bid() -> None:
    state = sold([(-2, 1), (2, P), (P, P)])
    assert state.won == (0, 2)
    assert [call.bid for call in state.auction.calls] == [-2, 1, 2]


def test_H10_of_two_equal_bids_that_of_the_seat_with_priority_is_called() -> None:
    state = sold([(0, 0), (P, 1), (P, P)])
    assert state.won == (1, 1)
    assert state.auction.calls == (Call(0, 0), Call(1, 1))


def test_H11_with_priority_to_seat_1_it_is_called() -> None:
    assert sold([(0, 0), (P, P)], priority=1).won == (1, 0)


def test_H12_priority_changes_hands_each_round() -> None:
    state = sold([(0, P), (4, 4), (P, P)])
    assert state.won == (1, 4)
    assert state.auction.calls == (Call(0, 0), Call(1, 4))


@pytest.mark.parametrize("priority", [0, 1])
def test_H13_when_nobody_bids_the_first_priority_seat_holds_zero(priority: int) -> None:
    state = sold([(P, P), (P, P)], priority)
    assert state.won == (priority, 0)
    assert (state.auction.closed_by, state.auction.calls) == ("no-bid", ())


# H18


@pytest.mark.parametrize(
    ("row", "column", "stayed", "horizontal", "vertical"),
    [
        (3, 3, False, [-2, -1, 0, 1, 2], [-1, 0, 1]),
        (3, 3, True, [-2, -1, 1, 2], [-1, 1]),
        (0, 0, False, [0, 1, 2], [0, 1]),
        (0, 0, True, [1, 2], [1]),
    ],
)
def test_H18_movements_of_an_active_horizontal_and_an_inactive_vertical_seat(
    row: int, column: int, stayed: bool, horizontal: list[int], vertical: list[int]
) -> None:
    now = placed(row, column, stayed)
    assert list(now.legal(0)) == horizontal
    assert list(now.legal(1)) == vertical


def test_H18_movements_in_the_lower_corners_after_a_stay() -> None:
    assert list(placed(6, 6, stayed=True, active=1).legal(0)) == [-1]
    assert list(placed(6, 0, stayed=True).legal(0)) == [1, 2]


def placed(row: int, column: int, stayed: bool, active: int = 0) -> Position:
    first = turned([]).position
    return Position(first.board, 0, active, row, column, first.visited, (0, 0), (3, 3), (stayed, stayed))


# Bounds


def test_the_shortest_play_has_seven_turns() -> None:
    assert len(turned(SHORTEST).turns) == 7
    assert turned(SHORTEST).to_act == frozenset()


def test_the_longest_play_has_54_turns() -> None:
    state = turned(TOUR)
    assert (len(state.turns), list(state.position.lives)) == (48, [3, 3])
    assert sum(state.position.points) == 111
    assert len(settled(state.stop()).measures["visited"]) == 49  # type: ignore[arg-type]
    state = spent(state)
    assert settled(state).measures["turns"] == 54


def spent(state: Any) -> Any:
    """All lives lost, on a board with no new square left."""
    while state.to_act:
        state = state.play({seat: next(iter(state.legal(seat))) for seat in (0, 1)})
    return state


def test_the_longest_episode_has_75_steps_and_149_moves() -> None:
    creeping: Sequence[tuple[Any, Any]] = [(P, n) if n % 2 else (n, P) for n in range(20)]
    state = bid(creeping, 0, [None, HORIZONTAL_ME])
    assert state.auction.closed_by == "cap"
    # Seat 1 holds the last bid, so it is the one that moves left and right and is active first.
    state = bid(creeping, 0, [None, HORIZONTAL_ME], *([down, right] for right, down in TOUR))
    steps = 20 + 1 + len(spent(state).turns)
    assert steps == 75 == HALF_HEARTED_STEP.longest(HalfHeartedStepConfig())
    assert 2 * 20 + 1 + 2 * 54 == 149


@pytest.mark.parametrize(("size", "lives"), [(3, 1), (5, 2), (9, 3), (11, 9)])
def test_the_bounds_hold_on_other_boards(size: int, lives: int) -> None:
    config = HalfHeartedStepConfig(size=size, lives=lives)
    for seed in range(20):
        turns = settled(random_episode(config, seed)).measures["turns"]
        assert isinstance(turns, int)
        assert 2 * lives + 1 <= turns <= size * size - 1 + 2 * lives


def random_episode(config: HalfHeartedStepConfig, seed: int) -> PlayState:
    rng = Random(seed)
    state: Any = HALF_HEARTED_STEP.start(config, HALF_HEARTED_STEP.deal(config, rng))
    while state.to_act:
        state = state.play({seat: state.legal(seat).sample(rng) for seat in sorted(state.to_act)})
    assert isinstance(state, PlayState)
    return state


def check_bounds(state: PlayState) -> None:
    outcome, auction = settled(state), state.auction
    assert sorted(outcome.scores) == [-1, 1]
    assert isinstance(auction, Auction)
    assert 1 <= len(auction.rounds) <= 20
    new = len(outcome.measures["visited"]) - 1  # type: ignore[arg-type]
    assert len(state.turns) == 6 + new
    assert 7 <= len(state.turns) <= 54
    now = state.first
    for turn in state.turns:
        for seat in (0, 1):
            count = len(now.legal(seat))
            assert 2 <= count <= 5 if seat == now.active else 1 <= count <= 3
        _, now = now.after(turn.moves)


def test_random_play_stays_within_the_bounds_and_is_zero_sum() -> None:
    for seed in range(300):
        check_bounds(random_episode(HalfHeartedStepConfig(), seed))


@pytest.mark.slow
def test_twenty_thousand_random_episodes_stay_within_the_bounds_and_are_zero_sum() -> None:
    turns = []
    for seed in range(20_000):
        state = random_episode(HalfHeartedStepConfig(), seed)
        check_bounds(state)
        turns.append(len(state.turns))
    assert sum(turns) / len(turns) == pytest.approx(20.0, abs=0.15)
