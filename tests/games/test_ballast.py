"""The rules of Ballast by paragraph, 1 to 8; config, deal and state."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.ballast_cases import HONEST, after, first_scale, legal, random_game, settled, words
from weigh.games.ballast.moves import Weight
from weigh.games.ballast.rules import BALLAST, BallastConfig, BallastState
from weigh.games.game import MoveIllegal

# 1


def test_1_both_players_hold_the_same_weights_and_player_0_moves_first() -> None:
    start = after("")
    assert start.hands == ((1, 2, 3, 4, 5), (1, 2, 3, 4, 5))
    assert start.to_act == {0}
    assert settled(start.stop()).measures["scales"] == [{"totals": [0, 0], "counts": [0, 0], "winner": None}] * 3


def test_1_nothing_is_left_to_chance() -> None:
    assert BALLAST.deal(BallastConfig(), Random(1)) == {}


# 2


def test_2_weights_are_numbered_in_order_over_both_players_and_keep_their_number() -> None:
    state = after("0:p5s0 1:p4s1a5 0:c1 1:p3s2 0:p1s1a2")
    assert state.placed == (
        Weight(0, 0, 5, 5, "down"),
        Weight(1, 1, 5, 4, "removed"),
        Weight(1, 2, 3, 3, "down"),
        Weight(0, 1, 2, 1, "down"),
    )
    assert [event.data["number"] for event in state.events if event.kind == "place"] == [0, 1, 2, 3]


# 3


def test_3_a_weight_from_the_hand_goes_on_any_scale_under_any_claim() -> None:
    assert [move for move in legal(after("0:p3s0")) if move[0] == "place"] == [
        ["place", weight, scale, announced] for weight in range(1, 6) for scale in range(3) for announced in range(1, 6)
    ]
    state = after("0:p5s2a1 1:p1s0 0:p4s2a1")
    assert state.hands == ((1, 2, 3), (2, 3, 4, 5))
    assert {move[1] for move in legal(after("0:p5s2a1 1:p1s0 0:p4s2a1 1:p2s0"))[:-2]} == {1, 2, 3}


def test_3_a_claim_may_be_impossible() -> None:
    """Announced although its owner has shown to hold it no more."""
    assert ["place", 1, 0, 5] in legal(after("0:p5s0 1:c0 1:d1"))


@pytest.mark.parametrize(
    ("move", "why"),
    [
        (["place", 5, 0, 5], "you do not hold weight 5: you hold 1, 2, 3, 4"),
        (["place", 0, 0, 5], "you do not hold weight 0"),
        (["place", 1, 3, 5], "there is no scale 3: the scales are 0, 1, 2"),
        (["place", 1, -1, 5], "there is no scale -1"),
        (["place", 1, 0, 6], "6 cannot be announced: announce 1 to 5"),
        (["place", 1, 0, 0], "0 cannot be announced"),
        (["challenge", 0], "0 is not the number of a face-down weight of your opponent: you may challenge 1"),
        (["challenge", 2], "2 is not the number"),
        (["discard", 1], "nothing is to be discarded now"),
    ],
    ids=str,
)
def test_3_what_is_not_allowed_is_refused_with_the_reason(move: Any, why: str) -> None:
    state = after("0:p5s0 1:p5s1")
    for ask in (lambda: state.legal(0).read(move), lambda: state.play({0: move})):
        with pytest.raises(MoveIllegal) as refused:
            ask()
        assert why in str(refused.value)


def test_3_a_challenge_needs_a_target() -> None:
    with pytest.raises(MoveIllegal, match="no face-down weight to challenge: place a weight"):
        after("").legal(0).read(["challenge", 0])


# 4


def test_4a_a_false_claim_is_removed_and_costs_the_challenger_nothing() -> None:
    state = after("0:p1s0a5 1:c0")
    assert state.placed == (Weight(0, 0, 5, 1, "removed"),)
    assert state.hands == ((2, 3, 4, 5), (1, 2, 3, 4, 5))
    assert state.to_act == {0}


def test_4b_a_true_claim_stays_and_the_challenger_chooses_what_to_lose() -> None:
    state = after("0:p5s0 1:c0")
    assert state.placed == (Weight(0, 0, 5, 5, "up"),)
    assert state.to_act == {1}
    assert legal(state) == [["discard", weight] for weight in range(1, 6)]
    for move in (["place", 1, 0, 1], ["challenge", 0]):
        with pytest.raises(MoveIllegal, match="your challenge failed: discard one of 1, 2, 3, 4, 5 first"):
            state.legal(1).read(move)
    paid = after("0:p5s0 1:c0 1:d4")
    assert paid.hands[1] == (1, 2, 3, 5)
    assert paid.to_act == {0}


def test_4b_the_last_weight_goes_without_being_asked_for() -> None:
    end = after(f"{HONEST} 1:c8")
    assert end.hands == ((), ())
    assert [event.kind for event in end.events[-3:]] == ["challenge", "discard", "end"]
    assert settled(end).measures["decisions"] == 10


def test_4b_with_two_in_hand_the_choice_is_asked_for() -> None:
    state = after("0:p5s0 1:p5s0 0:p4s1 1:p4s1 0:p3s2 1:p3s2 0:p2s0 1:c6")
    assert legal(state) == [["discard", 1], ["discard", 2]]


def test_4_a_challenge_uses_up_the_challenge_whatever_comes_of_it() -> None:
    for text in ("0:p1s0a5 1:c0 0:p2s0", "0:p5s0 1:c0 1:d1 0:p2s0"):
        state = after(text)
        assert words(state) == {"place"}
        with pytest.raises(MoveIllegal, match="you have used your one challenge: place a weight"):
            state.legal(1).read(["challenge", 1])


# 5


def test_5_turns_alternate() -> None:
    state, order = BALLAST.start(BallastConfig(), {}), []
    while state.mover is not None:
        order.append(state.mover)
        state = state.play({state.mover: legal(state)[0]})
    assert order == [0, 1] * 5


def test_5_a_player_with_an_empty_hand_is_skipped() -> None:
    state = after("0:p1s0a5 1:c0 0:p5s0 1:p5s0 0:p4s1 1:p4s1 0:p3s2 1:p3s2 0:p2s2 1:p2s1")
    assert state.hands == ((), (1,))
    assert state.to_act == {1}


def test_5_a_player_may_move_many_times_in_a_row_at_the_end() -> None:
    """Player 0 loses a weight to its challenge, and player 1 gains a turn by its own."""
    state = after("0:p5s0 1:p5s0 0:c1 0:d1 1:p4s1 0:p4s1a5 1:c3 0:p3s2 1:p3s2 0:p2s2")
    assert state.hands == ((), (1, 2))
    assert state.to_act == {1}
    assert state.play({1: ["place", 1, 0, 1]}).to_act == {1}


# 6


def test_6_the_game_ends_when_both_hands_are_empty_and_shows_every_weight() -> None:
    state = after(HONEST)
    assert state.outcome is None
    end = state.play({1: ["place", 1, 0, 4]})
    assert end.to_act == frozenset()
    assert (settled(end).reason, settled(end).ending) == ("complete", "hands-empty")
    assert end.events[-1].data["true_values"] == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    for late in (end.stop, lambda: end.play({}), lambda: end.play({0: ["place", 1, 0, 1]})):
        with pytest.raises(ValueError, match="over"):
            late()


def test_6_a_deadline_is_scored_as_the_board_stands() -> None:
    for text, scores in [
        ("", (0, 0)),
        ("0:p1s0a5", (1, -1)),
        ("0:p1s0a5 1:p2s0a1", (-1, 1)),
        ("0:p1s0 1:p2s1", (0, 0)),
        ("0:p1s0a5 1:c0", (0, 0)),
        ("0:p5s0 1:c0", (1, -1)),
    ]:
        outcome = settled(after(text, stop=True))
        assert (outcome.reason, outcome.ending, outcome.scores) == ("deadline", "wall-clock", scores)


# 7


def test_7_the_larger_true_total_wins_whatever_was_claimed() -> None:
    assert first_scale("0:p1s0a5 1:p2s0a1")["winner"] == 1


def test_7_equal_totals_go_to_fewer_weights() -> None:
    assert first_scale("0:p1s0 1:p5s0 0:p4s0") == {"totals": [5, 5], "counts": [2, 1], "winner": 1}


def test_7_equal_totals_and_counts_go_to_the_lowest_number() -> None:
    assert first_scale("0:p1s1 1:p4s0 0:p4s0") == {"totals": [4, 4], "counts": [1, 1], "winner": 1}


def test_7_a_scale_without_weights_is_won_by_nobody() -> None:
    assert first_scale("0:p1s1") == {"totals": [0, 0], "counts": [0, 0], "winner": None}


def test_7_a_weight_that_was_turned_up_counts_like_any_other() -> None:
    assert first_scale("0:p5s0 1:c0 1:d1") == {"totals": [5, 0], "counts": [1, 0], "winner": 0}


# 8


@pytest.mark.parametrize(
    ("text", "won", "scores"),
    [("0:p1s1", [1, 0], (1, -1)), ("0:p1s1 1:p2s1", [0, 1], (-1, 1)), ("0:p1s1 1:p1s2", [1, 1], (0, 0))],
)
def test_8_more_scales_win(text: str, won: list[int], scores: tuple[int, int]) -> None:
    outcome = settled(after(text, stop=True))
    assert outcome.measures["scales_won"] == won
    assert outcome.scores == scores


# Config, deal, state


@given(st.integers(2, 7), st.integers(2, 5), st.integers(0, 2**32))
def test_a_plain_scorer_agrees_under_every_config(weights: int, scales: int, seed: int) -> None:
    config = BallastConfig(weights=weights, scales=scales)
    end, played, most = random_game(seed, config)
    assert 2 * weights <= played <= BALLAST.longest(config)
    assert most <= weights * weights * scales + weights
    lead = 0
    for scale in range(scales):
        board = [(n, w) for n, w in enumerate(end.placed) if w.scale == scale and w.status != "removed"]
        keys = []
        for seat in (0, 1):
            own = [(n, w.true) for n, w in board if w.owner == seat]
            keys.append((sum(true for _, true in own), -len(own), -min((n for n, _ in own), default=99)))
        if board:
            lead += 1 if keys[0] > keys[1] else -1
    assert settled(end).scores[0] == (lead > 0) - (lead < 0)


@given(st.permutations(range(3)), st.integers(0, 2**32))
def test_scales_are_all_alike(order: list[int], seed: int) -> None:
    end, _, _ = random_game(seed)
    moved = BallastState(
        end.config, None, end.hands, tuple(each._replace(scale=order[each.scale]) for each in end.placed)
    )
    for scale in range(3):
        assert moved.verdicts()[order[scale]] == end.verdicts()[scale]
    assert settled(moved).scores == settled(end).scores
