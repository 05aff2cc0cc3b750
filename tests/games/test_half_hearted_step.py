"""The rules of Half-Hearted Step in play: board, turns, lives, the end, and resolutions A5 to A16; config and deal."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.games.half_hearted_step_cases import (
    BOARD,
    HORIZONTAL_ME,
    SHORTEST,
    START,
    TOUR,
    P,
    bid,
    dealt,
    settled,
    told,
    turned,
)
from weigh.games.game import ConfigInvalid, DealInvalid, MoveIllegal, MoveUnreadable
from weigh.games.half_hearted_step.rules import HALF_HEARTED_STEP, HalfHeartedStepConfig
from weigh.games.registry import read_config

CONFIG = HalfHeartedStepConfig()


def drawn(seed: int, size: int = 7) -> dict[str, Any]:
    return dict(HALF_HEARTED_STEP.deal(HalfHeartedStepConfig(size=size), Random(seed)))


# Rules 1 and 2: the board


def test_rule_1_the_piece_starts_in_the_middle_which_has_no_number() -> None:
    for size in (3, 5, 7, 11):
        deal = drawn(1, size)
        start = {**deal, "start": START}
        state: Any = HALF_HEARTED_STEP.start(HalfHeartedStepConfig(size=size), start)
        assert state.position.square == (size // 2, size // 2)
        assert deal["board"][size // 2][size // 2] is None
        assert sum(number is None for row in deal["board"] for number in row) == 1


def test_rule_1_and_A5_the_middle_counts_as_visited() -> None:
    state = turned([(0, 0)])
    assert (state.turns[-1].number, list(state.position.lives)) == (None, [2, 3])


def test_rule_1_rows_go_down_and_columns_to_the_right() -> None:
    assert turned([(1, 0)]).position.square == (3, 4)
    assert turned([(0, 1)]).position.square == (4, 3)
    assert turned([(0, 1)], horizontal=1).position.square == (3, 4)


def test_rule_2_six_squares_hold_the_rare_numbers_and_the_others_1_to_5() -> None:
    places: Counter[int] = Counter()
    usual: Counter[int] = Counter()
    for seed in range(400):
        numbers = [number for row in drawn(seed)["board"] for number in row]
        assert sorted(n for n in numbers if n is not None and n < 1) == [-2, -1, -1, 0, 0, 0]
        usual.update(n for n in numbers if n is not None and n >= 1)
        places.update(place for place, n in enumerate(numbers) if n is not None and n < 1)
    assert sorted(usual) == [1, 2, 3, 4, 5]
    # 16,800 draws of five and 2,400 of 48: five standard deviations.
    assert all(abs(count - 3360) < 260 for count in usual.values())
    assert len(places) == 48
    assert all(abs(count - 50) < 35 for count in places.values())


def test_rule_2_and_A16_the_board_is_public_from_the_first_round_on() -> None:
    state = bid([])
    assert told(state)[0] == {"type": "start", "board": BOARD, "priority": 0}
    for seat in (0, 1):
        assert state.observe(seat, ("A", "B")).facts["board"] == BOARD


def test_rule_4_the_first_priority_is_drawn() -> None:
    assert 60 < sum(drawn(seed)["priority"] for seed in range(200)) < 140


# Rule 7 and 8: movements


def test_rule_7_both_start_with_nothing_and_three_lives() -> None:
    now = turned([]).position
    assert (now.points, now.lives) == ((0, 0), (3, 3))
    assert bid([], stop=True, lives=5).outcome.measures["lives"] == [5, 5]


def test_rule_8_two_squares_for_the_active_seat_and_one_for_the_other() -> None:
    for active in (0, 1):
        state = turned([], active=active)
        assert list(state.legal(active)) == [-2, -1, 0, 1, 2]
        assert list(state.legal(1 - active)) == [-1, 0, 1]


def test_rule_8_nobody_leaves_the_board() -> None:
    state = turned([(2, 0), (1, 1)])
    assert state.position.square == (4, 6)
    assert list(state.legal(0)) == [-2, -1, 0]
    with pytest.raises(MoveIllegal, match="seat 0: 1 is not a legal move now, that is too far or off the board"):
        state.play({0: 1, 1: 0})


def test_rule_8_and_A8_a_stay_binds_its_own_player_only_whoever_is_active() -> None:
    state = turned([(0, 1)])
    assert 0 not in state.legal(0)
    assert 0 in state.legal(1)
    with pytest.raises(MoveIllegal, match="you stayed in the turn before: you may go left 1, right 1"):
        state.legal(0).read(0)
    assert 0 in turned([(0, 1), (1, 0)]).legal(0)
    assert 0 not in turned([(0, 1), (1, 0)]).legal(1)


def test_A9_a_stay_is_legal_in_the_first_turn() -> None:
    for seat in (0, 1):
        assert 0 in turned([]).legal(seat)


def test_A12_one_square_one_way_is_always_legal() -> None:
    for seed in range(30):
        rng = Random(seed)
        state = turned([])
        while state.to_act:
            for seat in (0, 1):
                assert {-1, 1} & set(state.legal(seat))
            state = state.play({seat: state.legal(seat).sample(rng) for seat in (0, 1)})


def test_a_movement_that_is_no_number_is_unreadable_and_nothing_is_played() -> None:
    state = turned([])
    for value in (True, 1.0, "1", None, [1], {"direction": "down", "distance": 1}):
        with pytest.raises(MoveUnreadable, match="seat 1"):
            state.play({0: 1, 1: value})
    for moves in ({}, {0: 1}, {0: 1, 2: 1}, {0: 1, 1: 1, 2: 1}):
        with pytest.raises(ValueError, match=r"one move from each of the seats \[0, 1\]"):
            state.play(moves)
    assert state == turned([])


# Rule 10 and 11: results


def test_rule_10_the_active_seat_gets_the_number_of_a_new_square() -> None:
    assert turned([(1, 1)]).position.points == (1, 0)
    assert turned([(1, 1)], active=1).position.points == (0, 1)


def test_rule_10_the_number_may_be_zero_or_negative() -> None:
    assert turned([(1, 1), (1, -2), (1, 1)]).position.points == (-1, 0)


@pytest.mark.parametrize("stay", [True, False], ids=["both stay", "both move"])
def test_rule_10_and_A6_a_visited_square_costs_the_active_seat_a_life(stay: bool) -> None:
    turns = [(0, 0)] if stay else [(1, 1), (-1, -1)]
    state = turned(turns)
    active = 0 if stay else 1
    assert state.position.lives[active] == 2
    assert state.position.lives[1 - active] == 3
    assert state.position.points == ((0, 0) if stay else (1, 0))


def test_rule_10_and_A7_squares_passed_over_are_untouched() -> None:
    state = turned([(2, 0), (-1, -1), (0, 1)])  # the first turn passed over the square that the last one lands on
    assert (state.turns[-1].square, state.turns[-1].number) == ((3, 4), 5)


def test_rule_11_seats_take_turns_being_active() -> None:
    actives = [turned(TOUR[:turns]).position.active for turns in range(6)]
    assert actives == [0, 1, 0, 1, 0, 1]


def test_rule_11_A10_and_A11_a_seat_without_lives_stays_inactive_and_moves_one_square() -> None:
    state = turned([(0, 0), (1, 1), (-1, -1), (1, 1), (-1, -1)])
    assert (state.position.lives, state.position.active) == ((0, 2), 1)
    assert state.to_act == {0, 1}
    assert list(state.legal(0)) == [-1, 0, 1]
    assert list(state.legal(1)) == [-2, -1, 0, 1, 2]
    after = state.play({0: 1, 1: 1})
    assert after.position.active == 1


# Rule 12: the end


@pytest.mark.parametrize(
    ("threshold", "holder", "scores"),
    [(-1, 0, (1, -1)), (0, 0, (-1, 1)), (1, 1, (-1, 1)), (2, 1, (1, -1))],
    ids=["just enough", "not enough", "just enough for seat 1", "not enough for seat 1"],
)
def test_rule_12_and_A13_the_holder_wins_with_a_lead_of_at_least_the_threshold(
    threshold: int, holder: int, scores: Any
) -> None:
    outcome = settled(turned(SHORTEST, threshold=threshold, holder=holder))  # 0 to 1
    assert outcome.scores == scores
    assert outcome.measures["lead"] == (-1 if holder == 0 else 1)


def test_rule_12_a_deadline_in_play_is_scored_as_it_stands() -> None:
    for turns, threshold, scores in [
        ([], 0, (1, -1)),
        ([], 1, (-1, 1)),
        ([(1, 1)], 1, (1, -1)),
        ([(1, 1)], 2, (-1, 1)),
    ]:
        outcome = settled(turned(turns, stop=True, threshold=threshold))
        assert (outcome.reason, outcome.ending, outcome.scores) == ("deadline", "wall-clock", scores)


def test_A14_play_goes_on_when_every_square_has_been_visited() -> None:
    state = turned(TOUR)
    assert state.to_act == {0, 1}
    moved = state.play({seat: next(iter(state.legal(seat))) for seat in (0, 1)})
    assert sum(moved.position.lives) == 5


def test_the_measures_of_an_episode() -> None:
    state = bid([(-2, 1), (P, P)], 1, [None, HORIZONTAL_ME], *([down, right] for right, down in SHORTEST))
    assert settled(state).measures == {
        "points": [1, 0],
        "lives": [0, 0],
        "threshold": 1,
        "holder": 1,
        "position": [3, 3],
        "visited": [[3, 3], [4, 4]],
        "lead": -1,
        "auction": {"calls": [{"seat": 0, "bid": -2}, {"seat": 1, "bid": 1}], "closed_by": "all-pass"},
        "turns": 7,
    }
    assert settled(state).scores == (1, -1)


def test_the_events_of_play() -> None:
    events = told(turned([(1, 1), (1, -2), (1, 1), (-1, -1)], stop=True, threshold=2))
    assert events[0] == {"type": "start", "board": BOARD, "priority": 0, **START, "threshold": 2}
    first = {"type": "move", "turn": 0, "seat": 0, "moves": [1, 1], "square": [4, 4], "points": 1}
    second = {"type": "move", "turn": 1, "seat": 1, "moves": [1, -2], "square": [2, 5], "points": 0}
    fourth = {"type": "move", "turn": 3, "seat": 1, "moves": [-1, -1], "square": [2, 5], "life": 2}
    assert events[1:3] == [
        first | {"points_after": [1, 0], "lives_after": [3, 3], "next": 1},
        second | {"points_after": [1, 0], "lives_after": [3, 3], "next": 0},
    ]
    assert events[4:] == [
        fourth | {"points_after": [-1, 0], "lives_after": [3, 2], "next": 0},
        {"type": "end", "points": [-1, 0], "lead": -1, "threshold": 2, "holder": 0, "winner": 1},
    ]
    assert told(turned(SHORTEST))[-2]["next"] is None


# Config and deal


def test_the_defaults() -> None:
    assert CONFIG.model_dump() == {"size": 7, "lives": 3, "bid_limit": 999, "auction_rounds": 20}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": 6}, "size is 6: it must be odd, so that the board has a middle square"),
        ({"size": 13}, "size is 13: it must be a whole number from 3 to 11"),
        ({"lives": 0}, "lives is 0"),
        ({"bid_limit": 0}, "bid_limit is 0"),
        ({"auction_rounds": 1}, "auction_rounds is 1"),
        ({"live": 3}, "did you mean 'lives'"),
    ],
)
def test_a_config_is_refused(fields: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigInvalid) as error:
        read_config(HALF_HEARTED_STEP, fields)
    assert message in str(error.value)


def changed(row: int, column: int, value: Any) -> list[list[Any]]:
    board: list[list[Any]] = copy.deepcopy(BOARD)
    board[row][column] = value
    return board


@pytest.mark.parametrize(
    ("deal", "message"),
    [
        ([], "the deal is []: it must be an object"),
        ({"board": BOARD}, "the deal lacks priority"),
        ({"priority": 0}, "the deal lacks board"),
        ({"board": BOARD, "priorty": 0}, "did you mean 'priority'"),
        ({"board": BOARD, "priority": 2}, "priority is 2: it must be seat 0 or 1"),
        ({"board": BOARD, "priority": True}, "priority is true"),
        ({"board": BOARD[:6], "priority": 0}, "it must be a list of 7 rows"),
        ({"board": [*BOARD[:6], BOARD[6][:6]], "priority": 0}, "row 6 of the board is"),
        ({"board": changed(3, 3, 4), "priority": 0}, "row 3 of the board has 4 in the middle"),
        ({"board": changed(0, 0, None), "priority": 0}, "row 0 of the board holds null in column 0"),
        ({"board": changed(0, 0, "3"), "priority": 0}, 'row 0 of the board holds "3"'),
        ({"board": changed(0, 0, 6), "priority": 0}, "the board holds -2, -1, -1, 0, 0, 0, 6"),
        ({"board": changed(3, 6, 2), "priority": 0}, "the board holds -1, -1, 0, 0, 0: it must hold -2, -1"),
        ({"board": BOARD, "priority": 0, "start": 1}, "start is 1: it must be an object"),
        ({"board": BOARD, "start": {"active": 0}}, "start lacks horizontal"),
        (dealt(holder=2), "start.holder is 2: it must be seat 0 or 1"),
        (dealt(active=-1), "start.active is -1"),
        (dealt(horizontal=7), "start.horizontal is 7"),
        (dealt(threshold=1000), "start.threshold is 1000: it must be a whole number from -999 to 999"),
        (dealt(lead=1), 'start has the unknown key "lead"'),
    ],
)
def test_a_deal_is_refused(deal: Any, message: str) -> None:
    with pytest.raises(DealInvalid) as error:
        HALF_HEARTED_STEP.start(CONFIG, deal)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_deal_may_begin_with_play_and_then_needs_no_priority() -> None:
    state: Any = HALF_HEARTED_STEP.start(CONFIG, {"board": BOARD, "start": START})
    assert state == turned([])
    state = turned([], horizontal=1, active=1, threshold=-5, holder=1)
    assert (state.position.horizontal, state.position.active, state.contest) == (1, 1, (1, -5))
