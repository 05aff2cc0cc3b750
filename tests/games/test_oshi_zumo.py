"""The rules of Oshi-Zumo by paragraph, Z1 to Z6, and its endings; the config and the deal."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weigh.games.game import MoveIllegal, MoveUnreadable, Outcome
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig, OshiZumoState
from weigh.games.replay import replay


def after(steps: Sequence[Sequence[int]], stop: bool = False, **fields: int) -> OshiZumoState:
    state = replay(OSHI_ZUMO, OshiZumoConfig(**fields), {}, [list(step) for step in steps], stop)
    assert isinstance(state, OshiZumoState)
    return state


def settled(state: OshiZumoState) -> Outcome:
    assert state.outcome is not None
    return state.outcome


def legal(state: OshiZumoState, seat: int) -> list[Any]:
    return list(state.legal(seat))


# Z1


def test_Z1_the_token_starts_in_the_middle_of_the_field() -> None:
    assert [after([], size=size).position for size in range(1, 6)] == [1, 2, 3, 4, 5]


def test_Z1_seat_0_pushes_up_and_seat_1_down() -> None:
    assert after([(2, 1)]).position == 4
    assert after([(1, 2)]).position == 2


# Z2


def test_Z2_bids_run_from_the_least_bid_to_the_purse() -> None:
    start = after([])
    assert legal(start, 0) == legal(start, 1) == list(range(1, 21))
    assert legal(after([(15, 3)]), 0) == [1, 2, 3, 4, 5]
    assert legal(after([(15, 3)]), 1) == list(range(1, 18))
    assert legal(after([], min_bid=0, coins=4), 0) == [0, 1, 2, 3, 4]
    assert legal(after([], min_bid=2, coins=4), 0) == [2, 3, 4]


def test_Z2_a_purse_below_the_least_bid_must_be_bid_whole() -> None:
    assert legal(after([(4, 2)], min_bid=2, coins=5), 0) == [1]


def test_Z2_a_seat_without_coins_bids_zero_and_nothing_else() -> None:
    state = after([(20, 1)])
    assert legal(state, 0) == [0]
    assert state.legal(0).read("0") == 0
    with pytest.raises(MoveIllegal, match="1 is not a legal bid now: you may bid 0"):
        state.legal(0).read(1)


def test_Z2_a_bid_outside_is_refused_and_nothing_is_played() -> None:
    state = after([(15, 3)])
    with pytest.raises(MoveIllegal, match="seat 0: 6 is not a legal bid now: you may bid 1, 2, 3, 4, 5"):
        state.play({0: 6, 1: 1})
    with pytest.raises(MoveIllegal, match="seat 1: 0 is not a legal bid now: you may bid 1 to 17"):
        state.play({0: 1, 1: 0})
    for value in (True, 1.0, "1", None, [1]):
        with pytest.raises(MoveUnreadable, match="seat 1"):
            state.play({0: 1, 1: value})
    assert state == after([(15, 3)])


# Z3


@pytest.mark.parametrize(("bids", "position"), [((5, 3), 4), ((3, 5), 2), ((4, 4), 3)])
def test_Z3_both_pay_always_and_the_higher_bid_pushes_one_cell(bids: tuple[int, int], position: int) -> None:
    state = after([bids])
    assert state.position == position
    assert list(state.coins) == [20 - bids[0], 20 - bids[1]]


def test_Z3_equal_bids_of_everything_move_nothing() -> None:
    end = after([(20, 20)])
    assert (end.position, list(end.coins)) == (3, [0, 0])


# Z4


def test_Z4_a_reveal_and_then_a_push() -> None:
    assert [event.to_json() for event in after([(5, 3)]).events] == [
        {"type": "reveal", "round": 0, "bids": [5, 3], "coins": [15, 17], "margin": 2},
        {"type": "push", "delta": 1, "position_after": 4},
    ]


def test_Z4_an_overbid_stands_between_them_from_a_margin_of_six_on() -> None:
    assert [event.to_json() for event in after([(1, 7)]).events] == [
        {"type": "reveal", "round": 0, "bids": [1, 7], "coins": [19, 13], "margin": 6},
        {"type": "overbid", "seat": 1, "bid": 7, "margin": 6, "over": 1},
        {"type": "push", "delta": -1, "position_after": 2},
    ]
    assert after([(9, 2)]).events[1].to_json() == {"type": "overbid", "seat": 0, "bid": 9, "margin": 7, "over": 2}
    assert [event.kind for event in after([(1, 6)]).events] == ["reveal", "push"]


def test_Z4_equal_bids_push_by_zero() -> None:
    assert after([(4, 4)]).events[1].to_json() == {"type": "push", "delta": 0, "position_after": 3}


def test_Z4_no_event_stands_before_the_first_reveal() -> None:
    assert after([]).events == ()


# Z5


def test_Z5_past_the_upper_edge_seat_0_wins() -> None:
    end = after([(2, 1)] * 4)
    assert (end.position, settled(end).ending, settled(end).reason) == (7, "pushout", "complete")
    assert settled(end).scores == (1, -1)
    assert after([(2, 1)] * 3).outcome is None


def test_Z5_past_the_lower_edge_seat_1_wins() -> None:
    end = after([(1, 2)] * 4)
    assert (end.position, settled(end).ending) == (-1, "pushout")
    assert settled(end).scores == (-1, 1)


def test_Z5_both_purses_empty_ends_the_match_by_position() -> None:
    end = after([(12, 8), (8, 12)])
    assert settled(end).ending == "coins-exhausted"
    assert settled(end).scores == (0, 0)
    end = after([(19, 18), (1, 1), (0, 1)])
    assert (settled(end).ending, end.position, settled(end).scores) == ("coins-exhausted", 3, (0, 0))


def test_Z5_one_empty_purse_does_not_end_it() -> None:
    assert after([(20, 1)]).outcome is None


def test_Z5_the_round_cap_ends_the_match_by_position() -> None:
    end = after([(2, 1), (1, 1), (3, 3)], max_rounds=3)
    assert (settled(end).ending, settled(end).scores) == ("round-cap", (1, -1))
    assert settled(after([(0, 0)] * 20, min_bid=0)).ending == "round-cap"


def test_Z5_a_pushout_goes_before_empty_purses_and_the_cap() -> None:
    end = after([(0, 3), (1, 0), (1, 0), (2, 1)], size=1, coins=4, min_bid=0, max_rounds=4)
    assert list(end.coins) == [0, 0]
    assert (end.position, settled(end).ending) == (3, "pushout")


def test_Z5_empty_purses_go_before_the_cap() -> None:
    assert settled(after([(1, 1)] * 20)).ending == "coins-exhausted"
    assert settled(after([(4, 4)], coins=4, max_rounds=1)).ending == "coins-exhausted"


def test_Z5_a_deadline_is_scored_by_position() -> None:
    for steps, scores in [([(2, 1)], (1, -1)), ([(1, 2)], (-1, 1)), ([(1, 1)], (0, 0)), ([], (0, 0))]:
        outcome = settled(after(steps, stop=True))
        assert (outcome.reason, outcome.ending, outcome.scores) == ("deadline", "wall-clock", scores)


# Z6


@pytest.mark.parametrize(
    ("steps", "scores", "points"),
    [([(2, 1)] * 4, (1, -1), [1.0, 0.0]), ([(1, 2)] * 4, (-1, 1), [0.0, 1.0]), ([(20, 20)], (0, 0), [0.5, 0.5])],
)
def test_Z6_a_win_is_one_a_loss_minus_one_a_draw_zero(steps: Any, scores: tuple[int, int], points: list[float]) -> None:
    outcome = settled(after(steps))
    assert outcome.scores == scores
    assert outcome.measures["points"] == points


def test_Z6_the_measures_of_a_match() -> None:
    assert settled(after([(5, 3), (1, 9)], stop=True)).measures == {
        "points": [0.5, 0.5],
        "spent": [6, 12],
        "coins": [14, 8],
        "position": 3,
        "collusion_index": None,
    }


# Endings


def test_ending_deadline_wall_clock_leaves_everything_as_it_was() -> None:
    going = after([(5, 3)])
    stopped = going.stop()
    assert stopped.events == going.events
    assert (stopped.position, stopped.coins, stopped.rounds) == (going.position, going.coins, going.rounds)


@given(st.integers(4, 50), st.integers(1, 5), st.integers(0, 2), st.integers(0, 2**32))
def test_the_rules_as_a_plain_loop_agree(coins: int, size: int, least: int, seed: int) -> None:
    rng = Random(seed)
    cap = rng.randint(1, 2 * coins)
    purses, cell, steps, ending = [coins, coins], size, [], ""
    while not ending:
        bids = [rng.randint(min(least, purse), rng.choice([purse, min(purse, 3)])) if purse else 0 for purse in purses]
        bids = [max(bid, min(least, purse)) for bid, purse in zip(bids, purses, strict=True)]
        steps.append(bids)
        purses = [purse - bid for purse, bid in zip(purses, bids, strict=True)]
        if bids[0] != bids[1]:
            cell += 1 if bids[0] > bids[1] else -1
        if cell > 2 * size or cell < 0:
            ending = "pushout"
        elif purses == [0, 0]:
            ending = "coins-exhausted"
        elif len(steps) == cap:
            ending = "round-cap"
    end = after(steps, coins=coins, size=size, min_bid=least, max_rounds=cap)
    outcome = settled(end)
    assert (outcome.ending, outcome.measures["coins"], end.position) == (ending, purses, cell)
    assert outcome.scores[0] == (cell > size) - (cell < size)
    assert outcome.measures["spent"] == [sum(step[seat] for step in steps) for seat in (0, 1)]
    assert end.events[-1].data["position_after"] == cell
    assert len(steps) <= OSHI_ZUMO.longest(end.config)


# Config, deal, state


def test_the_longest_match_is_as_long_as_the_least_bids_last() -> None:
    for fields, longest in [
        ({}, 20),
        ({"min_bid": 2, "coins": 7}, 4),
        ({"min_bid": 0, "max_rounds": 33}, 33),
        ({"max_rounds": 5}, 5),
        ({"max_rounds": 40}, 20),
    ]:
        config = OshiZumoConfig(**fields)
        assert OSHI_ZUMO.longest(config) == longest
        state = OSHI_ZUMO.start(config, {})
        played = 0
        while state.to_act:
            state = state.play({seat: min(state.legal(seat)) for seat in (0, 1)})
            played += 1
        assert played == longest
