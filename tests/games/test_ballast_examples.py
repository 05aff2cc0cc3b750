"""The worked examples of Ballast, B1 to B15."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.ballast_cases import EXAMPLES, after, settled, steps


@pytest.mark.parametrize("case", EXAMPLES)
def test_worked_example(case: str) -> None:
    example = EXAMPLES[case]
    outcome = settled(after(example.play))
    winners = [winner for _, _, winner in example.scales]
    assert outcome.scores == tuple(example.scores)
    assert (outcome.reason, outcome.ending) == ("complete", "hands-empty")
    measures = outcome.measures
    assert measures["scales"] == [
        {"totals": list(totals), "counts": list(counts), "winner": winner} for totals, counts, winner in example.scales
    ]
    assert measures["scales_won"] == [winners.count(0), winners.count(1)]
    assert (measures["turns"], measures["decisions"]) == (example.turns, example.decisions)
    assert len(steps(example.play)) == example.decisions


def test_B15_is_B1_in_everything_but_the_claims() -> None:
    lies = settled(after(EXAMPLES["B15_every_claim_false_and_nobody_asks"].play))
    honest = settled(after(EXAMPLES["B1_honest"].play))
    assert lies.scores == honest.scores
    assert lies.measures["scales"] == honest.measures["scales"]
    false: Any = lies.measures["placed"]
    true: Any = honest.measures["placed"]
    for one, other in zip(false, true, strict=True):
        assert one["announced"] != one["true"]
        assert other["announced"] == other["true"]
        assert {**one, "announced": None} == {**other, "announced": None}


def test_B5_is_over_before_the_last_weight_was_chosen() -> None:
    end = after(EXAMPLES["B5_the_last_weight_is_lost_by_a_challenge"].play)
    assert [event.to_json() for event in end.events[-3:]] == [
        {"type": "challenge", "seat": 1, "number": 8, "true": 1, "outcome": "stands"},
        {"type": "discard", "owner": 1, "value": 1},
        {"type": "end", "ending": "hands-empty", "scales_won": [2, 1], "true_values": [5, 5, 4, 4, 3, 3, 2, 2, 1]},
    ]
