"""What a seat of Ballast is shown, and what must not be shown to it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.games.ballast_cases import after
from weigh.games.ballast.rules import BallastState
from weigh.games.game import Observation
from weigh.policies.layout import position

NAMES = ("Ash", "Birch")

MIDDLE = "0:p5s0 1:p4s0a2 0:p1s1a5 1:c2 0:p3s1 1:p1s2a4 0:c4 1:p3s2"
"""Player 1 caught a false claim, player 0 another; one weight each has been removed."""

FAILED = "0:p5s0 1:p4s0a2 0:p2s1 1:c0"
"""Player 1 has called a true claim and has still to pay."""

PAID = f"{FAILED} 1:d3"


def seen(text: str, seat: int) -> Observation:
    return after(text).observe(seat, NAMES)


# What is shown


def test_the_situation_in_full() -> None:
    assert seen(MIDDLE, 0).situation == "\n".join(
        [
            "Turn 9. You are player 0.",
            "Your hand: 2, 4. Birch holds 2 weights.",
            "Your challenge: used. Challenge of Birch: used.",
            "Scale 0. You: total 5 (#0 weight 5 announced 5). Birch: announced total 2 (#1 announced 2).",
            "Scale 1. You: total 3 (#3 weight 3 announced 3). Birch: nothing.",
            "Scale 2. You: nothing. Birch: announced total 3 (#5 announced 3).",
            'Your legal moves: ["place", weight, scale, announced] with weight 2, 4; scale 0, 1, 2; '
            "announced 1, 2, 3, 4, 5.",
        ]
    )


def test_the_situation_of_a_discard_in_full() -> None:
    assert seen(FAILED, 1).situation == "\n".join(
        [
            "Turn 4. You are player 1. Your challenge failed: choose a weight to discard.",
            "Your hand: 1, 2, 3, 5. Ash holds 3 weights.",
            "Your challenge: used. Challenge of Ash: not used.",
            "Scale 0. You: total 4 (#1 weight 4 announced 2). Ash: announced total 5 (#0 weight 5 face up).",
            "Scale 1. You: nothing. Ash: announced total 2 (#2 announced 2).",
            "Scale 2. You: nothing. Ash: nothing.",
            'Your legal moves: ["discard", weight] with weight 1, 2, 3, 5.',
        ]
    )


def test_the_history_is_told_from_the_own_side() -> None:
    assert seen(MIDDLE, 0).history == (
        "Turn 1: you placed #0, weight 5, on scale 0 and announced 5.",
        "Turn 2: Birch placed #1 on scale 0 and announced 2.",
        "Turn 3: you placed #2, weight 1, on scale 1 and announced 5.",
        "Turn 4: Birch challenged your #2: announced 5, true value 1. False claim: it is removed.",
        "Turn 5: you placed #3, weight 3, on scale 1 and announced 3.",
        "Turn 6: Birch placed #4 on scale 2 and announced 4.",
        "Turn 7: you challenged #4: announced 4, true value 1. False claim: it is removed.",
        "Turn 8: Birch placed #5 on scale 2 and announced 3.",
    )
    assert seen(PAID, 0).history[3:] == (
        "Turn 4: Birch challenged your #0: announced 5, true value 5. "
        "True claim: it stays, face up, and Birch loses a weight.",
        "Turn 4: Birch discarded a weight that you cannot see.",
    )
    assert seen(f"{PAID} 0:p1s0", 1).history[3:5] == (
        "Turn 4: you challenged #0: announced 5, true value 5. True claim: it stays, face up, and you lose a weight.",
        "Turn 4: you discarded weight 3.",
    )


def test_the_facts_in_full() -> None:
    facts = seen(PAID, 0).facts
    assert json.loads(json.dumps(facts)) == facts
    assert facts == {
        "seat": 0,
        "names": ["Ash", "Birch"],
        "weights": 5,
        "phase": "turn",
        "turn_number": 5,
        "your_hand": [1, 3, 4],
        "opponent_hand_count": 3,
        "your_challenge_used": False,
        "opponent_challenge_used": True,
        "placed": [
            {"number": 0, "owner": "you", "scale": 0, "announced": 5, "status": "up", "true": 5},
            {"number": 1, "owner": "opponent", "scale": 0, "announced": 2, "status": "down", "true": None},
            {"number": 2, "owner": "you", "scale": 1, "announced": 2, "status": "down", "true": 2},
        ],
        "scales": [
            {
                "scale": 0,
                "your_true_total": 5,
                "opponent_announced_total": 2,
                "your_count": 1,
                "opponent_count": 1,
            },
            {
                "scale": 1,
                "your_true_total": 2,
                "opponent_announced_total": 0,
                "your_count": 1,
                "opponent_count": 0,
            },
            {
                "scale": 2,
                "your_true_total": 0,
                "opponent_announced_total": 0,
                "your_count": 0,
                "opponent_count": 0,
            },
        ],
        "challengeable": [1],
        "log": [
            {"type": "place", "owner": "you", "number": 0, "scale": 0, "announced": 5},
            {"type": "place", "owner": "opponent", "number": 1, "scale": 0, "announced": 2},
            {"type": "place", "owner": "you", "number": 2, "scale": 1, "announced": 2},
            {"type": "challenge", "by": "opponent", "number": 0, "true": 5, "outcome": "stands"},
            {"type": "discard", "owner": "opponent", "value": None},
        ],
    }


def test_the_facts_of_a_discard() -> None:
    facts = seen(FAILED, 1).facts
    assert (facts["phase"], facts["turn_number"], facts["your_hand"]) == ("discard", 4, [1, 2, 3, 5])
    log: Any = seen(f"{PAID} 0:p1s0", 1).facts["log"]
    assert log[4] == {"type": "discard", "owner": "you", "value": 3}


def test_the_legal_moves_are_told_in_one_line_and_not_one_by_one() -> None:
    seat = seen("0:p5s0", 1)
    assert len(seat.legal) == 76
    assert len(position(seat, "reason-then-json", None).text) < 900


# What is not


def told(state: BallastState, seat: int) -> list[Any]:
    """Everything that reaches a seat, and everything that is public while the game is on."""
    observation = state.observe(seat, NAMES)
    return [
        repr(observation),
        position(observation, "reason-then-json", None).text,
        [event.to_json() for event in state.events],
    ]


def assert_alike(one: BallastState, other: BallastState, seat: int) -> None:
    assert one != other
    assert one.to_act == other.to_act == {seat}
    assert told(one, seat) == told(other, seat)


@pytest.mark.parametrize(
    ("one", "other", "seat"),
    [
        ("0:p5s0", "0:p4s0a5", 1),
        ("0:p5s0 1:p3s1", "0:p5s0 1:p1s1a3", 0),
        ("0:p5s0 1:p3s1 0:p2s0", "0:p2s0a5 1:p3s1 0:p5s0a2", 1),
        ("0:p3s2 1:c0 1:d1 0:p5s0", "0:p3s2 1:c0 1:d1 0:p4s0a5", 1),
    ],
)
def test_leak_face_down_true_values(one: str, other: str, seat: int) -> None:
    """Also a claim that is true and one that is false look alike."""
    assert_alike(after(one), after(other), seat)


@pytest.mark.parametrize("text", ["0:p5s0", "0:p3s2 1:c0 1:d1 0:p5s0"])
def test_leak_the_other_hand(text: str) -> None:
    """Another hand of the same size, with nothing else changed."""
    state = after(text)
    mine, seat = state.hands[1], 1
    assert_alike(state, replace(state, hands=((1, 2, 5, 4)[: len(state.hands[0])], mine)), seat)


def test_leak_what_the_other_discarded() -> None:
    for weight in (1, 2, 5):
        assert_alike(after(PAID), after(f"{FAILED} 1:d{weight}"), 0)


def test_leak_the_last_weight_that_went_by_itself() -> None:
    """Player 1 loses its last weight, a 1 or a 2, and the other of the two lies face down."""
    start = "0:p5s0 1:p5s0a4 0:c1 1:p4s1 0:p4s1 1:p3s2 0:p3s2"
    one, other = (after(f"{start} 1:p{weight}s0a2 0:p2s2 1:c0") for weight in (1, 2))
    assert (one.hands, other.hands) == (((1,), ()), ((1,), ()))
    assert_alike(one, other, 0)


def test_what_was_turned_up_is_told_to_both() -> None:
    for seat, text in ((0, PAID), (1, f"{PAID} 0:p1s0")):
        placed: Any = seen(text, seat).facts["placed"]
        assert placed[0]["true"] == 5
        assert any("true value 5" in line for line in seen(text, seat).history)


def test_no_event_tells_a_true_value_or_a_discard_before_the_end() -> None:
    state = after(PAID)
    for event in state.events:
        if event.kind == "place":
            assert set(event.data) == {"number", "owner", "scale", "announced"}
        if event.kind == "discard":
            assert set(event.data) == {"owner"}
    assert state.outcome is None
    assert state.stop().events[-1].data["true_values"] == [5, 4, 2]
