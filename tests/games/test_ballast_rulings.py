"""What was settled where the rules of Ballast are silent, A1 to A14; and the bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.games.ballast_cases import EXAMPLES, HONEST, after, first_scale, legal, random_game, settled, words
from weigh.games.ballast.rules import BALLAST, BallastConfig
from weigh.games.game import MoveIllegal, MoveUnreadable

# Where the rules are silent


def test_A1_the_observation_gives_the_number() -> None:
    state = after("0:p1s1 1:p2s1a3")
    assert state.observe(0, ("Ash", "Birch")).facts["challengeable"] == [1]


def test_A2_a_true_claim_is_public_from_then_on() -> None:
    facts = after("0:p5s0 1:c0").observe(1, ("Ash", "Birch")).facts
    assert facts["placed"] == [
        {"number": 0, "owner": "opponent", "scale": 0, "announced": 5, "status": "up", "true": 5}
    ]


def test_A2_a_false_claim_is_public_from_then_on() -> None:
    facts = after("0:p1s0a5 1:c0 0:p2s0").observe(1, ("Ash", "Birch")).facts
    placed: Any = facts["placed"]
    assert [(each["status"], each["true"]) for each in placed] == [("removed", 1), ("down", None)]


def test_A3_the_challenger_chooses_after_the_reveal() -> None:
    state = after("0:p5s0 1:c0")
    assert state.events[-1].to_json() == {"type": "challenge", "seat": 1, "number": 0, "true": 5, "outcome": "stands"}
    assert state.to_act == {1}


def test_A4_the_discarded_weight_is_shown_to_its_owner_alone_until_the_end() -> None:
    state = after("0:p5s0 1:c0 1:d4 0:p4s1")
    assert state.events[3].to_json() == {"type": "discard", "owner": 1}
    assert state.stop().events[3].to_json() == {"type": "discard", "owner": 1, "value": 4}
    assert "Turn 2: you discarded weight 4." in state.observe(1, ("Ash", "Birch")).history
    seen = after("0:p5s0 1:c0 1:d4").observe(0, ("Ash", "Birch"))
    assert seen.history[-1] == "Turn 2: Birch discarded a weight that you cannot see."
    assert seen.facts["opponent_hand_count"] == 4


def test_A5_an_empty_hand_is_skipped_and_the_other_player_continues_alone() -> None:
    state = after("0:p5s0 1:p5s0 0:c1 0:d1 1:p4s1 0:p4s1 1:p3s2 0:p3s2 1:p2s2 0:p2s0")
    assert state.hands == ((), (1,))
    assert state.to_act == {1}


def test_A6_a_challenge_as_the_last_action() -> None:
    lost = after(f"{HONEST} 1:c8")
    assert lost.to_act == frozenset()
    won = after("0:p5s0 1:p5s1 0:p4s0 1:p4s1 0:p3s2 1:p3s2 0:p2s1 1:p2s0 0:p1s2a5 1:c8")
    assert won.to_act == {1}
    assert words(won) == {"place"}


def test_A7_each_player_has_a_challenge() -> None:
    state = after("0:p1s0a5 1:c0 0:p2s0 1:p1s0a5")
    assert state.challenged == (False, True)
    assert ["challenge", 2] in legal(state)


def test_A8_removed_weights_do_not_count_against_their_owner() -> None:
    """Player 0 put two weights down on scale 0; one of them was removed, so both sides used one."""
    assert first_scale("0:p1s0a5 1:c0 0:p4s0 1:p4s0") == {"totals": [4, 4], "counts": [1, 1], "winner": 0}


def test_A9_a_removed_weight_is_not_the_first_on_its_scale() -> None:
    assert first_scale("0:p1s0a5 1:c0 0:p2s1 1:p4s0 0:p4s0") == {"totals": [4, 4], "counts": [1, 1], "winner": 1}


def test_A10_a_scale_with_removed_weights_alone_is_won_by_nobody() -> None:
    assert first_scale("0:p1s0a5 1:c0") == {"totals": [0, 0], "counts": [0, 0], "winner": None}
    assert settled(after("0:p1s0a5 1:c0", stop=True)).scores == (0, 0)


def test_A11_only_the_opponents_face_down_weights_can_be_challenged() -> None:
    state = after("0:p5s0 1:p5s0 0:p1s0a4 1:c2 0:p2s0 1:p4s0")
    assert [move for move in legal(state) if move[0] == "challenge"] == [["challenge", 1], ["challenge", 4]]
    for number in (0, 2, 3, 5):
        with pytest.raises(MoveIllegal, match="you may challenge 1, 4"):
            state.legal(0).read(["challenge", number])


def test_A11_a_weight_that_was_turned_up_or_removed_is_not_challenged_again() -> None:
    for opening in ("0:p5s0 1:c0 1:d1", "0:p5s0a4 1:c0"):
        state = after(f"{opening} 0:p4s0")
        assert state.placed[0].status != "down"
        # Player 1 has used its challenge, so ask what one that had not would be offered.
        fresh = replace(state, challenged=(False, False))
        assert fresh.legal(1).targets == (1,)


def test_A12_a_challenge_costs_the_turn() -> None:
    assert after("0:p1s0a5 1:c0").to_act == {0}
    assert after("0:p5s0 1:c0 1:d1").to_act == {0}


def test_A13_nobody_challenges_twice_in_a_turn_or_passes() -> None:
    state = after("0:p1s0a5")
    assert words(state) == {"place", "challenge"}
    for move in (None, [], "pass", ["pass"]):
        with pytest.raises(MoveUnreadable):
            state.legal(1).read(move)


def test_A14_the_fallback_is_steady() -> None:
    assert BALLAST.fallback == "steady"


# Bounds


def test_bound_a_game_has_ten_to_twelve_turns_and_decisions() -> None:
    for seed in range(600):
        end, played, most = random_game(seed)
        measures = settled(end).measures
        removed = sum(weight.status == "removed" for weight in end.placed)
        assert measures["turns"] == 10 + removed
        assert measures["decisions"] == played
        assert 10 <= played <= 12
        assert most <= 80
        assert sum(settled(end).scores) == 0
    assert BALLAST.longest(BallastConfig()) == 12


@pytest.mark.slow
def test_bound_holds_in_twenty_thousand_games() -> None:
    lengths, scores = set(), []
    for seed in range(20_000):
        end, played, most = random_game(seed)
        outcome = settled(end)
        removed = sum(weight.status == "removed" for weight in end.placed)
        assert outcome.measures["turns"] == 10 + removed
        assert most <= 76  # a whole hand goes with one target at most
        assert outcome.scores[0] == -outcome.scores[1]
        lengths.add(played)
        scores.append(outcome.scores[0])
    assert lengths == {10, 11, 12}
    assert set(scores) == {-1, 0, 1}


def test_bound_both_ends_of_every_length_are_attained() -> None:
    assert settled(after(EXAMPLES["B1_honest"].play)).measures["turns"] == 10
    both_caught = "0:p1s0a5 1:c0 0:p2s0 1:p1s0a5 0:c2 1:p2s0 0:p3s0 1:p3s0 0:p4s0 1:p4s0 0:p5s0 1:p5s0"
    measures = settled(after(both_caught)).measures
    assert (measures["turns"], measures["decisions"]) == (12, 12)


def test_bound_the_legal_moves_are_fifteen_a_weight_and_a_target_each() -> None:
    assert len(after("").legal(0)) == 75
    assert len(after("0:p5s0").legal(1)) == 76
    assert len(after(HONEST).legal(1)) == 15 + 5
