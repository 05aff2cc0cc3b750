"""What a seat of Oshi-Zumo is shown, from its own side."""

from __future__ import annotations

import json

from weigh.games.game import Observation
from weigh.games.oshi_zumo.rules import OSHI_ZUMO, OshiZumoConfig
from weigh.games.replay import replay

NAMES = ("Ash", "Birch")
STEPS = [[5, 3], [4, 4], [1, 8]]


def seen(seat: int, steps: list[list[int]] = STEPS) -> Observation:
    return replay(OSHI_ZUMO, OshiZumoConfig(), {}, steps).observe(seat, NAMES)


def test_the_situation_in_full() -> None:
    assert seen(1, STEPS[:2]).situation == "\n".join(
        [
            "Round 3 of at most 20. Field: cells 0 to 6. Token at cell 4.",
            "You push down, past cell 0: 5 pushes needed.",
            "Ash pushes up, past cell 6: 3 pushes needed.",
            "Coins: you 13, Ash 11.",
            "Your legal bids: 1 to 13.",
        ]
    )
    assert seen(0, [[2, 1]] * 3).situation == "\n".join(
        [
            "Round 4 of at most 20. Field: cells 0 to 6. Token at cell 6.",
            "You push up, past cell 6: 1 push needed.",
            "Birch pushes down, past cell 0: 7 pushes needed.",
            "Coins: you 14, Birch 17.",
            "Your legal bids: 1 to 14.",
        ]
    )


def test_the_history_is_told_from_the_own_side() -> None:
    assert seen(0).history == (
        "Round 1: you 5, Birch 3; token moves your way to cell 4.",
        "Round 2: you 4, Birch 4; token stays at cell 4.",
        "Round 3: you 1, Birch 8; token moves against you to cell 3.",
    )
    assert seen(1).history == (
        "Round 1: you 3, Ash 5; token moves against you to cell 4.",
        "Round 2: you 4, Ash 4; token stays at cell 4.",
        "Round 3: you 8, Ash 1; token moves your way to cell 3.",
    )


def test_the_facts_in_full() -> None:
    facts = seen(1).facts
    assert json.loads(json.dumps(facts)) == facts
    assert facts == {
        "seat": 1,
        "names": ["Ash", "Birch"],
        "round": 3,
        "max_rounds": 20,
        "size": 3,
        "min_bid": 1,
        "position": 3,
        "coins": [10, 5],
        "pushes_needed": [4, 4],
        "history": [
            {"bids": [5, 3], "position": 4},
            {"bids": [4, 4], "position": 4},
            {"bids": [1, 8], "position": 3},
        ],
    }
