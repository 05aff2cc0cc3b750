"""What a seat of Goofspiel is shown: every fact of the rules page, in few words, and nothing that is hidden."""

from __future__ import annotations

import json

from weigh.games.game import Observation
from weigh.games.goofspiel.rules import GOOFSPIEL, GoofspielConfig
from weigh.games.replay import replay

NAMES = ("Ash", "Birch", "Cedar", "Dune")
DECK = [9, 5, 2, 3, 4, 6, 8, 12, 11, 1, 7, 10, 13]
STEPS = [[9, 9, 9, 1], [5, 6, 2, 13], [3, 4, 4, 5]]


def seen(seat: int, steps: list[list[int]] = STEPS, **fields: int) -> Observation:
    deal = {"prize_order": DECK}
    return replay(GOOFSPIEL, GoofspielConfig(**fields), deal, steps).observe(seat, NAMES)


def test_the_situation_in_full() -> None:
    assert seen(1).situation == "\n".join(
        [
            "Round 4 of 13. Prize: 3. Still to come, order unknown: 1, 4, 6, 7, 8, 10, 11, 12, 13.",
            "Ash: 3 points won, hand 1 2 4 6-8 10-13.",
            "Birch: 3 points won, hand 1-3 5 7 8 10-13.",
            "Cedar: 3 points won, hand 1 3 5-8 10-13.",
            "Dune: 7 points won, hand 2-4 6-12.",
            "Equal share so far: 4.",
            "Your legal bids: 1, 2, 3, 5, 7, 8, 10, 11, 12, 13.",
        ]
    )


def test_the_history_is_a_line_a_round_with_what_was_won() -> None:
    assert seen(1).history == (
        "Round 1, prize 9: Ash 9, Birch 9, Cedar 9, Dune 1. Ash, Birch, Cedar win 3 each.",
        "Round 2, prize 5: Ash 5, Birch 6, Cedar 2, Dune 13. Dune wins 5.",
        "Round 3, prize 2: Ash 3, Birch 4, Cedar 4, Dune 5. Dune wins 2.",
    )


def test_the_facts_in_full() -> None:
    facts = seen(1).facts
    assert json.loads(json.dumps(facts)) == facts
    assert facts == {
        "seat": 1,
        "names": list(NAMES),
        "round": 3,
        "max_rounds": 13,
        "cards": 13,
        "prize": 3,
        "remaining": [1, 4, 6, 7, 8, 10, 11, 12, 13],
        "hands": [
            [1, 2, 4, 6, 7, 8, 10, 11, 12, 13],
            [1, 2, 3, 5, 7, 8, 10, 11, 12, 13],
            [1, 3, 5, 6, 7, 8, 10, 11, 12, 13],
            [2, 3, 4, 6, 7, 8, 9, 10, 11, 12],
        ],
        "points": [3.0, 3.0, 3.0, 7.0],
        "history": [
            {"prize": 9, "bids": [9, 9, 9, 1]},
            {"prize": 5, "bids": [5, 6, 2, 13]},
            {"prize": 2, "bids": [3, 4, 4, 5]},
        ],
    }


def test_shared_points_are_shown_to_two_decimals() -> None:
    observation = seen(0, [[9, 9, 1, 1], [5, 5, 5, 2]])
    assert observation.history[0].endswith("Ash, Birch win 4.5 each.")
    assert observation.history[1].endswith("Ash, Birch, Cedar win 1.67 each.")
    assert "Ash: 6.17 points won" in observation.situation
    assert "Equal share so far: 3.5." in observation.situation


def test_the_first_round_has_no_history_and_whole_hands() -> None:
    observation = seen(3, [])
    assert observation.history == ()
    assert observation.situation.startswith("Round 1 of 13. Prize: 9. Still to come, order unknown: 1, 2, 3,")
    assert "Dune: 0 points won, hand 1-13." in observation.situation
    assert observation.situation.endswith("Your legal bids: 1 to 13.")


def test_a_deck_that_is_not_played_out_says_how_much_of_it_comes() -> None:
    first_line = seen(0, STEPS[:1], max_rounds=4).situation.splitlines()[0]
    assert first_line == (
        "Round 2 of 4. Prize: 5. Still to come, unknown which: 2 out of 1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13."
    )
    assert seen(0, max_rounds=4).situation.startswith("Round 4 of 4. Prize: 3. It is the last prize.")


def test_the_seats_differ_in_their_own_lines_alone() -> None:
    for mine, theirs in zip(seen(0).situation.splitlines(), seen(3).situation.splitlines(), strict=True):
        assert (mine == theirs) != mine.startswith("You")
    assert seen(0).history == seen(3).history
