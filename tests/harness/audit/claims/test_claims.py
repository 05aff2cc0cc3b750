"""The ledger of claims and calls, on games worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.ballast_cases import EXAMPLES
from tests.harness.audit.measures.test_ballast import recorded
from weigh.harness.audit.claims.ledger import claims_ledger, rates, wins_by_lies
from weigh.harness.audit.measures.ballast import diagnose
from weigh.harness.store.record import Record

LIAR = "0:p3s0a5 1:p1s1 0:p4s0a5 1:c2 0:p5s0 1:p2s1 0:p2s1a4"
"""`ash` claims 5 twice, is called on the second, then tells the truth, then claims the 4 that was turned up."""


def ledger_of(text: str, **options: Any) -> Any:
    return claims_ledger([recorded(text, **options)], "ash")


def test_each_claim_stands_with_what_the_opponent_could_know() -> None:
    found = ledger_of(LIAR)
    assert [(c.turn, c.true, c.announced, c.false) for c in found.claims] == [
        (1, 3, 5, True),
        (3, 4, 5, True),
        (5, 5, 5, False),
        (7, 2, 4, True),
    ]
    assert [c.claimed_before for c in found.claims] == [False, True, True, False]
    assert [c.shown_before for c in found.claims] == [False, False, False, True]
    assert [c.plausible for c in found.claims] == [True, False, False, False]
    assert [c.challenged for c in found.claims] == [False, True, False, False]


def test_a_call_is_measured_against_a_random_one_at_the_same_moment() -> None:
    """`birch` called at turn 4 with two targets, both false; it had one target, false, at turn 2."""
    (call,) = ledger_of(LIAR).calls
    assert (call.turn, call.age, call.false, call.targets, call.false_targets, call.cost) == (4, 1, True, 2, 2, None)
    told = rates(ledger_of(LIAR))
    assert (told["precision"], told["random_challenge"], told["lift"]) == (1.0, 1.0, 1.0)
    assert told["recall"] == pytest.approx(1 / 3)
    assert told["base_rate"] == 1.0


def test_a_failed_call_costs_what_was_given_up() -> None:
    chosen = ledger_of("0:p5s0 1:c0 1:d2 0:p1s1")
    assert [(call.false, call.cost) for call in chosen.calls] == [(False, 2)]
    by_itself = "0:p5s0 1:p5s0 0:p4s1 1:p4s1 0:p3s2 1:p3s2 0:p2s0 1:p2s1 0:p1s1 1:c8"
    assert [(call.false, call.cost) for call in ledger_of(by_itself).calls] == [(False, 1)]
    left_to_the_fallback = ledger_of("0:p5s0 1:c0 1:d2 0:p1s1", fallback=frozenset((2,)))
    assert [call.cost for call in left_to_the_fallback.calls] == [None]


def test_the_fallbacks_moves_are_nobodys() -> None:
    found = ledger_of(LIAR, fallback=frozenset((0, 3)))
    assert len(found.claims) == 3
    assert found.calls == []
    assert found.targets == 1


def test_only_the_named_claimer_and_opponent_count() -> None:
    records = [recorded(LIAR), recorded(LIAR, entrants=("ash", "cyd")), recorded(LIAR, entrants=("cyd", "birch"))]
    assert len(claims_ledger(records, "ash").games) == 2
    assert len(claims_ledger(records, "ash", "birch").games) == 1
    assert claims_ledger(records, "nobody").games == []
    assert claims_ledger([records[0].model_copy(update={"game": "goofspiel"})], "ash").games == []


def test_rates_agree_with_the_measures_of_a_ladder() -> None:
    records: list[Record] = [recorded(example.play) for example in EXAMPLES.values()]
    told, ladder = rates(claims_ledger(records, "ash")), diagnose(records)
    assert told["lie_rate"] == pytest.approx(ladder["ash"]["lie_rate"])
    assert told["recall"] == pytest.approx(ladder["ash"]["lies_caught"])
    assert told["precision"] == pytest.approx(ladder["birch"]["challenge_precision"])
    assert told["base_rate"] == pytest.approx(ladder["birch"]["challengeable_false"])
    assert told["failed_challenge_cost"] == pytest.approx(ladder["birch"]["challenge_cost"])
    assert told["listener_score_challenge_failed"] == pytest.approx(ladder["birch"]["score_challenge_failed"])


def test_lie_rates_by_weight_and_by_turn_count_their_claims() -> None:
    told = rates(ledger_of(LIAR))
    assert told["by_weight"] == [
        {"weight": 2, "claims": 1, "lie_rate": 1.0},
        {"weight": 3, "claims": 1, "lie_rate": 1.0},
        {"weight": 4, "claims": 1, "lie_rate": 1.0},
        {"weight": 5, "claims": 1, "lie_rate": 0.0},
    ]
    assert [row["turn"] for row in told["by_turn"]] == [1, 3, 5, 7]  # type: ignore[attr-defined]


def test_what_was_not_observed_is_null_and_never_zero() -> None:
    told = rates(claims_ledger([], "ash"))
    assert told["lie_rate"] is None
    assert told["precision"] is None
    assert told["lift"] is None
    assert wins_by_lies(claims_ledger([], "ash")) == []


def test_wins_by_number_of_lies() -> None:
    records = [recorded(example.play) for example in list(EXAMPLES.values())[:3]]
    rows = wins_by_lies(claims_ledger(records, "ash"))
    assert sum(int(str(row["episodes"])) for row in rows) == len(records)
