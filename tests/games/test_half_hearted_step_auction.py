"""The auction and the choice of Half-Hearted Step: rules 3 to 6, resolutions A1 to A4, and what is reported of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.half_hearted_step_cases import BOARD, HORIZONTAL_ME, P, bid, open_round, settled, sold, told
from weigh.games.game import MoveIllegal, MoveUnreadable
from weigh.games.half_hearted_step.play import Call

# Rule 3, A1: sealed rounds


def test_rule_3_the_first_bid_may_be_any_whole_number_within_the_limit() -> None:
    legal = open_round([]).legal(0)
    for allowed in (-999, -1, 0, 999, P):
        assert allowed in legal
    for refused in (-1000, 1000, 0.5, None, True):
        assert refused not in legal
    assert len(legal) == 2000


def test_rule_3_a_later_bid_is_larger_than_the_standing_one() -> None:
    state = open_round([(3, P)])
    for seat in (0, 1):
        assert list(state.legal(seat))[:2] == [P, 4]
        with pytest.raises(MoveIllegal, match='3 is not a legal bid now: you may bid "pass", 4 to 999'):
            state.legal(seat).read(3)


def test_rule_3_the_standing_bidder_may_raise_its_own_bid() -> None:
    assert open_round([(3, P), (5, P)]).auction.standing == (0, 5)


def test_A1_both_seats_bid_or_pass_at_once_until_nobody_bids() -> None:
    state = open_round([])
    assert state.to_act == {0, 1}
    with pytest.raises(ValueError, match=r"one move from each of the seats \[0, 1\]"):
        state.play({0: 3})
    assert open_round([(3, P), (P, 4)]).to_act == {0, 1}
    assert sold([(3, P), (P, 4), (P, P)]).auction.closed_by == "all-pass"


# Rule 4, A2: who is called


@pytest.mark.parametrize("bids", [(2, 7), (7, 2)])
def test_rule_4_the_smaller_bid_is_called_first_and_the_larger_stands(bids: tuple[int, int]) -> None:
    auction = open_round([bids]).auction
    assert [call.bid for call in auction.calls] == [2, 7]
    assert auction.standing == Call(bids.index(7), 7)


def test_rule_4_priority_alternates_from_the_seat_the_deal_names() -> None:
    for priority in (0, 1):
        auction = open_round([], priority).auction
        assert [auction.priority_in(number) for number in range(4)] == [priority, 1 - priority] * 2


def test_A2_of_equal_bids_one_is_void() -> None:
    assert open_round([(5, 5)], priority=1).auction.calls == (Call(1, 5),)
    assert open_round([(P, 1), (5, 5)], priority=1).auction.calls == (Call(1, 1), Call(0, 5))


# Rule 5, A3, A4: the end of it


def test_rule_5_a_round_without_a_bid_ends_it() -> None:
    assert sold([(P, 3), (P, P)]).won == (1, 3)


def test_rule_5_the_last_round_ends_it() -> None:
    rounds = [(number, P) for number in range(20)]
    assert open_round(rounds[:19]).auction.closed_by is None
    state = sold(rounds)
    assert (state.won, state.auction.closed_by) == (Call(0, 19), "cap")


def test_rule_5_a_last_round_without_a_bid_ends_it_as_any_other() -> None:
    assert sold([*[(number, P) for number in range(19)], (P, P)]).auction.closed_by == "all-pass"


def test_A3_one_silent_round_at_the_opening_is_not_the_end() -> None:
    assert open_round([(P, P)]).auction.standing is None
    assert open_round([(P, P), (P, -4)]).auction.standing == (1, -4)
    assert sold([(P, P), (P, -4), (P, P)]).won == (1, -4)


def test_A3_a_deemed_bid_was_never_called() -> None:
    outcome = settled(sold([(P, P), (P, P)], priority=1).stop())
    assert outcome.measures["auction"] == {"calls": [], "closed_by": "no-bid"}
    assert (outcome.measures["holder"], outcome.measures["threshold"]) == (1, 0)


def test_A4_at_the_limit_a_pass_is_all_there_is() -> None:
    state = open_round([(999, 5)])
    assert list(state.legal(0)) == list(state.legal(1)) == [P]
    assert state.legal(1).describe() == '"pass"'
    with pytest.raises(MoveIllegal, match='1000 is not a legal bid now: you may bid "pass"'):
        state.legal(1).read(1000)
    assert open_round([(-998, 998)]).legal(0).describe() == '"pass", 999'


def test_A4_limit_and_rounds_are_set_by_the_config() -> None:
    assert list(open_round([], bid_limit=2).legal(0)) == [P, -2, -1, 0, 1, 2]
    assert sold([(1, P), (2, P)], auction_rounds=2).auction.closed_by == "cap"
    assert sold([(P, P), (P, P)], auction_rounds=2).auction.closed_by == "no-bid"


# Rule 6: the choice


@pytest.mark.parametrize("holder", [0, 1])
@pytest.mark.parametrize("active", ["me", "opponent"])
@pytest.mark.parametrize("axis", ["horizontal", "vertical"])
def test_rule_6_the_winner_chooses_who_is_active_first_and_its_axis(holder: int, active: str, axis: str) -> None:
    rounds = [(2, P) if holder == 0 else (P, 2), (P, P)]
    state = sold(rounds)
    assert state.to_act == {holder}
    with pytest.raises(ValueError, match="no move to make"):
        state.legal(1 - holder)
    play = state.play({holder: {"active": active, "axis": axis}})
    assert play.contest == (holder, 2)
    assert (play.position.active == holder) == (active == "me")
    assert (play.position.horizontal == holder) == (axis == "horizontal")
    assert play.position.axis(1 - holder) != play.position.axis(holder) == axis
    assert play.to_act == {0, 1}


def test_rule_6_nobody_else_may_choose() -> None:
    state = sold([(2, P), (P, P)])
    for moves in ({1: HORIZONTAL_ME}, {0: HORIZONTAL_ME, 1: HORIZONTAL_ME}, {}):
        with pytest.raises(ValueError, match=r"seats \[0\], and no other"):
            state.play(moves)
    with pytest.raises(MoveUnreadable, match='seat 0: "me" is no choice'):
        state.play({0: "me"})


# What is reported


def test_the_events_of_an_auction_and_a_choice() -> None:
    state = bid([(-2, 1), (2, 2), (P, P)], 0, [None, {"active": "opponent", "axis": "vertical"}])
    assert told(state) == [
        {"type": "start", "board": BOARD, "priority": 0},
        {"type": "bid", "round": 0, "priority": 0, "bids": [-2, 1], "standing": 1, "seat": 1},
        {"type": "bid", "round": 1, "priority": 1, "bids": [2, 2], "standing": 2, "seat": 1},
        {"type": "bid", "round": 2, "priority": 0, "bids": ["pass", "pass"], "standing": 2, "seat": 1},
        {"type": "auction-end", "seat": 1, "threshold": 2, "closed_by": "all-pass", "rounds": 3},
        {"type": "choice", "seat": 1, "active": "opponent", "axis": "vertical", "horizontal": 0, "first": 0},
    ]


def test_a_round_without_a_standing_bid_is_reported_as_such() -> None:
    assert told(open_round([(P, P)]))[1] == {
        "type": "bid",
        "round": 0,
        "priority": 0,
        "bids": ["pass", "pass"],
        "standing": None,
        "seat": None,
    }


@pytest.mark.parametrize(
    ("rounds", "holder", "threshold", "calls", "closed_by"),
    [
        ([], None, None, [], None),
        ([(4, P)], None, None, [{"seat": 0, "bid": 4}], None),
        ([(4, P), (P, P)], 0, 4, [{"seat": 0, "bid": 4}], "all-pass"),
    ],
    ids=["at the start", "in the auction", "at the choice"],
)
def test_rule_12_a_deadline_before_play_is_a_draw(
    rounds: Any, holder: Any, threshold: Any, calls: Any, closed_by: Any
) -> None:
    state = bid(rounds, stop=True)
    outcome = settled(state)
    assert (outcome.reason, outcome.ending, outcome.scores) == ("deadline", "wall-clock", (0, 0))
    assert outcome.measures == {
        "points": [0, 0],
        "lives": [3, 3],
        "threshold": threshold,
        "holder": holder,
        "position": [3, 3],
        "visited": [[3, 3]],
        "lead": None,
        "auction": {"calls": calls, "closed_by": closed_by},
        "turns": 0,
    }
    end = {"points": [0, 0], "lead": None, "threshold": threshold, "holder": holder, "winner": None}
    assert told(state)[-1] == {"type": "end", **end}
    with pytest.raises(ValueError, match="over"):
        state.stop()
