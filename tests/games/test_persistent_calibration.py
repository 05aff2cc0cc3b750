"""The rules of Persistent Calibration by number, and what was settled where they are silent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.games.persistent_calibration_play import after, move, points, settled, weighed
from weigh.games.game import ConfigInvalid, MoveIllegal
from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION, PersistentCalibrationConfig
from weigh.games.registry import read_config

# Rules


def test_rule_1_all_scales_are_empty_and_nobody_has_points() -> None:
    start = after(seats=13)
    assert start.to_act == set(range(13))
    assert start.hands == ((1, 2, 3),) * 13
    outcome = settled(start.stop())
    assert outcome.measures["totals"] == {"A": [0, 0], "B": [0, 0], "C": [0, 0]}
    assert outcome.measures["points"] == [0] * 13


def test_rule_1_garnets_start_as_configured() -> None:
    assert after(seats=3).garnets == (0, 0, 0)
    assert after(seats=3, starting_garnets=4).garnets == (4, 4, 4)
    assert after(seats=3, starting_garnets=[2, 0, 9]).garnets == (2, 0, 9)


def test_rule_2_weights_come_before_rounds_1_and_4_and_hands_shrink_by_one_a_round() -> None:
    steps = ["AL2 BR1", "AL1 BR2", "CL3 BR3", "AL3 BR1", "AL1 BR3", "AL2 BR2"]
    hands = [after(*steps[:played], seats=2).hands for played in range(7)]
    assert [hand for hand, _ in hands] == [(1, 2, 3), (1, 3), (3,), (1, 2, 3), (1, 2), (2,), ()]
    assert [hand for _, hand in hands] == [(1, 2, 3), (2, 3), (3,), (1, 2, 3), (2, 3), (2,), ()]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("AL1", "weight 1: you hold 2, 3"),
        ("AL4", "weight 4: you hold 2, 3"),
        ("AL2--", "weight 2 with modify -2 would be 0; it must stay within 1 to 3"),
        ("AL3+", "weight 3 with modify 1 would be 4; it must stay within 1 to 3"),
        ("AL2+++", "modify 3: you can spend at most 2 garnets now"),
    ],
)
def test_rule_3_what_is_not_held_not_affordable_or_out_of_range_is_illegal(written: str, why: str) -> None:
    state = after("AL1 AR1", starting_garnets=5)
    with pytest.raises(MoveIllegal, match=rf"^seat 1: {why}$"):
        state.play({0: move("AL2"), 1: move(written)})
    with pytest.raises(MoveIllegal, match=rf"^{why}$"):
        state.legal(1).read(move(written))
    assert move(written) not in state.legal(1)


def test_rule_3_more_than_the_own_garnets_is_illegal() -> None:
    with pytest.raises(MoveIllegal, match="modify 2: you can spend 1 garnet now"):
        after(seats=2, starting_garnets=[1, 5]).legal(0).read(move("AL1++"))
    spent = after("AL3-- AR3", starting_garnets=[3, 0])
    assert spent.garnets == (1, 0)
    with pytest.raises(MoveIllegal, match="modify 2: you can spend 1 garnet now"):
        spent.legal(0).read(move("AL1++"))


def test_rule_3_the_held_weight_leaves_and_the_value_stays() -> None:
    state = after("AL1++ AR3-", starting_garnets=2)
    assert state.hands == ((2, 3), (1, 2))
    assert state.garnets == (0, 1)
    assert weighed(state, "A") == (3, 2)


def test_rule_4_without_a_submission_the_lowest_weight_goes_and_nothing_else_happens() -> None:
    state = after("- AR3", starting_garnets=1)
    assert state.hands == ((2, 3), (1, 2))
    assert state.garnets == (1, 1)
    assert weighed(state, "A") == (0, 3)
    assert state.events[-1].data["sides"] == [None, "right"]
    assert after("AL1 AR1", "- AR2").hands == ((3,), (3,))


def test_rule_5_the_strictly_lighter_side_pays_each_owner_its_weights_of_all_rounds() -> None:
    state = after("AL1 AR3 AL1", "AL2 BR1 CL2")
    assert weighed(state, "A") == (4, 3)
    assert state.points_by_round == [[1, 0], [0, 3], [1, 0]]


def test_rule_5_equal_sides_and_an_empty_lighter_side_pay_nothing() -> None:
    assert points(after("AL2 AR2")) == [0, 0]
    assert points(after("AL3 BR1")) == [0, 0]


def test_rule_5_one_seat_may_own_weights_on_both_sides() -> None:
    state = after("AL1 AR2", "AR3 BL1", "BL2 BR3")
    assert weighed(state, "A") == (1, 5)
    assert state.points_by_round == [[1, 1, 1], [0, 0, 0]]


def test_rule_6_public_are_the_totals_and_the_sides_of_every_round() -> None:
    events = [event.to_json() for event in after("AL3 AR1 BL1", "BR2 - AL2").events]
    assert events == [
        {"type": "start", "seats": 3, "rounds": 6},
        {
            "type": "weigh",
            "round": 0,
            "totals": {"A": [3, 1], "B": [1, 0], "C": [0, 0]},
            "sides": ["left", "right", "left"],
            "flips": [],
        },
        {
            "type": "weigh",
            "round": 1,
            "totals": {"A": [5, 1], "B": [1, 2], "C": [0, 0]},
            "sides": ["right", None, "left"],
            "flips": ["B"],
        },
    ]


def test_rule_6_no_scale_weight_or_points_of_a_seat_are_public_before_the_end() -> None:
    going = after("AL3 AR1", "BL1 BR2")
    assert {key for event in going.events for key in event.data} == {
        "seats",
        "rounds",
        "round",
        "totals",
        "sides",
        "flips",
    }
    assert [event.kind for event in going.stop().events] == ["start", "weigh", "weigh", "end"]


def test_a_flip_is_counted_when_the_other_side_becomes_the_lighter_one_balance_between_or_not() -> None:
    state = after("AL1 BR3", "BL2 AR1", "CL3 AR2", "CL1 CR3", "BL2 CR2", "BL3 BR1")
    totals = [event.data["totals"]["A"] for event in state.events if event.kind == "weigh"]  # type: ignore[index, call-overload]
    assert totals == [[1, 0], [1, 1], [1, 3], [1, 3], [1, 3], [1, 3]]
    flips = [event.data["flips"] for event in state.events if event.kind == "weigh"]
    assert flips == [[], [], ["A"], [], ["B", "C"], []]


def test_rule_7_the_end_announces_points_winners_and_candidates() -> None:
    end = after("AL1 AR3", "AL3 BL1", "BR2 AR2", "CL3 CR2", "BL1 AL1", "CR2 CL3")
    assert end.to_act == frozenset()
    assert end.events[-1].to_json() == {
        "type": "end",
        "points": [11, 11],
        "winners": [0, 1],
        "elimination_candidates": [0, 1],
    }
    assert (settled(end).reason, settled(end).ending) == ("complete", "rounds-played")


@pytest.mark.parametrize(
    ("first", "tokens", "candidates"),
    [
        ("AL1 AR3 AR2 BR1", [4, 0, 0, 0], [1, 2, 3]),
        ("AL1 AL1 AR3 BR1", [2, 2, 0, 0], [2, 3]),
        ("AL1 AL1 AL1 AR2", [0, 0, 0, 4], [0, 1, 2]),
        ("AL1 AL1 AL1 BR1", [1, 1, 1, 1], [0, 1, 2, 3]),
        ("AL1 BL1 CL1 AR2", [4, 0, 0, 0], [1, 2, 3]),
    ],
)
def test_rule_7_tokens_of_life_and_candidates(first: str, tokens: list[int], candidates: list[int]) -> None:
    measures = settled(after(first, stop=True)).measures
    assert measures["tokens_of_life"] == tokens
    assert measures["elimination_candidates"] == candidates


def test_rule_7_three_winners_get_one_token_each() -> None:
    outcome = settled(after("AL1 BL1 CL1 AR2 BR2 CR2", stop=True))
    assert outcome.measures["winners"] == [0, 1, 2]
    assert outcome.measures["tokens_of_life"] == [1, 1, 1, 0, 0, 0]


def test_rule_7_a_garnet_for_every_six_points_rounded_down_beside_the_unspent() -> None:
    end = after(
        *("AL3 AR3 AR3", "AL2 AR2 AR2", "AL1+ AR1 AR1") * 2,
        starting_garnets=[3, 1, 0],
    )
    assert points(end) == [3 + 5 + 7 + 10 + 12 + 14, 0, 0]
    assert settled(end).measures["garnets_earned"] == [8, 0, 0]
    assert settled(end).measures["garnets_final"] == [9, 1, 0]


def test_rule_8_the_league_score_counts_who_was_beaten_and_by_whom() -> None:
    outcome = settled(after("AL3 AL2 AL1 BL3 AR2 AR3 AR2 BR1", stop=True))
    assert outcome.measures["points"] == [3, 2, 1, 0, 0, 0, 0, 1]
    assert outcome.scores == (1, Fraction(5, 7), Fraction(2, 7), *[Fraction(-4, 7)] * 4, Fraction(2, 7))
    assert sum(outcome.scores) == 0


def test_rule_8_two_seats_win_draw_or_lose() -> None:
    assert settled(after("AL1 AR3", stop=True)).scores == (1, -1)
    assert settled(after("AL3 AR1", stop=True)).scores == (-1, 1)
    assert settled(after("AL3 AR3", stop=True)).scores == (0, 0)


# What was settled


def test_A1_by_default_there_are_no_garnets_and_any_modify_is_illegal() -> None:
    legal = after(seats=13).legal(0)
    assert PersistentCalibrationConfig().starting_garnets == 0
    for written in ("AL1+", "AL2-", "AL3--"):
        with pytest.raises(MoveIllegal, match="you can spend no garnets now"):
            legal.read(move(written))
    assert len(legal) == 18


def test_A2_several_garnets_may_go_into_one_weight_unless_the_cap_is_one() -> None:
    assert len(after(seats=2, starting_garnets=2).legal(0)) == 6 * 9
    strict = after(seats=2, starting_garnets=2, max_garnets_per_round=1).legal(0)
    assert len(strict) == 6 * 7
    with pytest.raises(MoveIllegal, match="modify 2: you can spend 1 garnet now"):
        strict.read(move("AL1++"))
    assert len(after(seats=2, starting_garnets=2, max_garnets_per_round=0).legal(0)) == 18


def test_A3_nothing_is_left_over_when_new_weights_come() -> None:
    assert after("- AR1", "- AR2", "- AR3").hands == ((1, 2, 3), (1, 2, 3))


def test_A4_the_round_now_played_is_scored() -> None:
    assert points(after("AL1 AR2")) == [1, 0]


def test_A5_a_changed_weight_weighs_and_scores_what_it_was_changed_to_for_good() -> None:
    state = after("AL3-- AR3", "BL1 BR2", starting_garnets=2)
    assert state.points_by_round == [[1, 1 + 1], [0, 0]]
    assert weighed(state, "A") == (1, 3)


def test_A6_public_totals_are_of_all_rounds() -> None:
    assert weighed(after("AL1 AR2", "AL2 AR1"), "A") == (3, 3)


def test_A7_the_side_of_a_seat_without_a_submission_is_null_and_public() -> None:
    assert after("- -").events[-1].data["sides"] == [None, None]


def test_A8_a_seat_is_told_its_own_points_only() -> None:
    state = after("AL1 AR3 BL1", "AL3 BR2 CL2")
    names = ["Ash", "Birch", "Cedar"]
    assert [state.observe(seat, names).facts["points"] for seat in range(3)] == [1, 3, 1]
    assert all("points" not in event.data for event in state.events)


def test_A9_garnets_held_and_spent_are_no_public_matter() -> None:
    modified, plain = after("AL2+ AR3", starting_garnets=2), after("AL3 AR3", starting_garnets=2)
    assert modified.events == plain.events
    names = ["Ash", "Birch"]
    assert modified.observe(1, names) == plain.observe(1, names)
    assert modified.observe(0, names) != plain.observe(0, names)


def test_A10_all_who_are_tied_for_the_fewest_points_are_candidates() -> None:
    assert settled(after("AL1 AR2 BL1 CR3", stop=True)).measures["elimination_candidates"] == [1, 2, 3]


def test_A11_when_all_are_equal_everybody_wins_is_a_candidate_and_scores_zero() -> None:
    outcome = settled(after("AL2 AR2", stop=True))
    assert outcome.measures["winners"] == outcome.measures["elimination_candidates"] == [0, 1]
    assert outcome.measures["tokens_of_life"] == [2, 2]
    assert outcome.scores == (0, 0)
    assert outcome.measures["share_score"] == [0.0, 0.0]


def test_A12_the_fallback_submits_nothing() -> None:
    assert PERSISTENT_CALIBRATION.fallback == "absent"


@pytest.mark.parametrize("seats", [2, 3, 13, 26])
def test_A14_the_rules_are_the_same_for_other_numbers_of_seats(seats: int) -> None:
    state = after(seats=seats)
    for number in range(6):
        assert len(state.to_act) == seats
        state = state.play({seat: move(f"AL{number % 3 + 1}") for seat in range(seats)})
    assert points(state) == [0] * seats


@pytest.mark.parametrize("fields", [{"seats": 1}, {"seats": 27}])
def test_A14_from_2_to_26_seats(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigInvalid, match="it must be a whole number from 2 to 26"):
        read_config(PERSISTENT_CALIBRATION, fields)


def test_A15_garnets_and_tokens_do_not_enter_the_score() -> None:
    rich, poor = (settled(after("AL1 AR3", stop=True, starting_garnets=garnets)) for garnets in ([0, 99], [0, 0]))
    assert rich.scores == poor.scores
    assert rich.measures["garnets_final"] == [0, 99]


# League score


def test_a_stopped_episode_is_scored_on_its_finished_rounds() -> None:
    going = after("AL1 AR3", "BL2 BR1")
    outcome = settled(going.stop())
    assert (outcome.reason, outcome.ending) == ("deadline", "wall-clock")
    assert outcome.measures["points_by_round"] == [[1, 1], [0, 1]]
    assert outcome.scores == (1, -1)


def test_share_score_is_the_scaled_share_of_all_points() -> None:
    measures = settled(after("AL3 AL1 AR2 AR3", stop=True)).measures
    assert measures["points"] == [3, 1, 0, 0]
    assert measures["share_score"] == [(4 * 3 / 4 - 1) / 3, 0.0, -1 / 3, -1 / 3]
