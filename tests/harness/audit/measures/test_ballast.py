"""Diagnostics of Ballast on games worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from math import log2
from typing import Any

import pytest

from tests.games.ballast_cases import EXAMPLES, after, steps
from weigh.games.ballast.rules import BallastConfig
from weigh.harness.audit.measures.ballast import MEANINGS, diagnose
from weigh.harness.store.record import Record

NAMES = ("ash", "birch")


def recorded(
    text: str,
    entrants: tuple[str, str] = NAMES,
    fallback: frozenset[int] = frozenset(),
    game: str = "ballast",
    **fields: int,
) -> Record:
    """The record of a game, cut off by a deadline where it is not over; the fallback moved at the steps `fallback`."""
    state, rows = after(text, **fields), steps(text)
    outcome = (state.stop() if state.to_act else state).outcome
    assert outcome is not None
    return Record.model_validate(
        {
            "key": "k",
            "block": "b",
            "game": game,
            "config": BallastConfig(**fields).model_dump(),
            "deal": {},
            "entrants": entrants,
            "policies": ("0", "1"),
            "models": (None, None),
            "aliases": ("A", "B"),
            "fallback": "steady",
            "moves": tuple(map(tuple, rows)),
            "decisions": [
                {
                    "step": step,
                    "seat": 0 if row[0] is not None else 1,
                    "by": "fallback" if step in fallback else "scripted",
                    "faults": [{"fault": "empty", "detail": ""}] * 2 if step in fallback else [],
                }
                for step, row in enumerate(rows)
            ],
            "events": (),
            "reason": outcome.reason,
            "ending": outcome.ending,
            "scores": tuple(map(float, outcome.scores)),
            "measures": {},
            "fallbacks": (0, 0),
        }
    )


def of(name: str, *records: Record) -> Any:
    return diagnose(records)[name]


CALLED = "0:p1s0a5 1:c0 0:p5s0 1:p5s0a4 0:c2 1:p4s1 0:p4s1a4 1:p3s2a1"
"""Both players lied and both were caught."""


def test_every_measure_has_a_meaning_and_is_told_for_everybody() -> None:
    told = diagnose([recorded(EXAMPLES["B1_honest"].play)])
    assert list(told) == ["ash", "birch"]
    assert all(list(measures) == list(MEANINGS) for measures in told.values())
    assert all(meaning and "\n" not in meaning for meaning in MEANINGS.values())


def test_lies_by_weight_placement_and_scale() -> None:
    measures = of("ash", recorded("0:p1s0a5 1:p5s0 0:p5s0 1:p4s0 0:p2s1a3"))
    assert measures["lie_rate"] == pytest.approx(2 / 3)
    assert (measures["lie_rate_weight_1"], measures["lie_rate_weight_2"], measures["lie_rate_weight_5"]) == (1, 1, 0)
    assert measures["lie_rate_weight_3"] is None
    assert [measures[f"lie_rate_placement_{number}"] for number in range(1, 5)] == [1, 0, 1, None]
    assert [measures[f"lie_rate_scale_{scale}"] for scale in range(3)] == [0.5, 1, None]
    assert measures["claim_bias"] == pytest.approx((4 + 0 + 1) / 3)
    assert (measures["honest_at_5"], measures["honest_at_3"], measures["honest_at_1"]) == (0.5, 0, None)


def test_lies_that_were_caught() -> None:
    assert of("ash", recorded(CALLED))["lies_caught"] == 1
    assert of("birch", recorded(CALLED))["lies_caught"] == 0.5
    assert of("ash", recorded(EXAMPLES["B1_honest"].play))["lies_caught"] is None


def test_the_information_of_claims() -> None:
    def claims(*pairs: str) -> float:
        return of("ash", *[recorded(f"0:p{weight}s0a{said}") for weight, said in pairs])["claim_information"]  # type: ignore[no-any-return]

    assert claims("11", "22") == pytest.approx(1)
    assert claims("12", "21") == pytest.approx(1)  # a liar who is always wrong tells as much
    assert claims("15", "25") == pytest.approx(0)
    assert claims("11", "12", "21", "22") == pytest.approx(0)
    assert claims("11", "11", "22", "12") == pytest.approx(
        0.5 * log2(0.5 / (0.75 * 0.5)) + 0.25 * log2(0.25 / (0.25 * 0.5)) + 0.25 * log2(0.25 / (0.75 * 0.5))
    )


def test_challenges_their_turn_and_what_they_meet() -> None:
    birch = of("birch", recorded(CALLED), recorded(EXAMPLES["B4_a_challenge_that_fails"].play))
    assert (birch["challenge_rate"], birch["challenge_turn"], birch["challenge_precision"]) == (1, 2, 0.5)
    ash = of("ash", recorded(CALLED), recorded(EXAMPLES["B1_honest"].play))
    assert (ash["challenge_rate"], ash["challenge_turn"], ash["challenge_precision"]) == (0.5, 5, 1)


def test_challenges_are_compared_with_what_could_have_been_challenged() -> None:
    # Player 1 may call one true claim, then a true and a false one, and calls the false one.
    text = "0:p5s0 1:p5s0 0:p4s0a1 1:c2"
    birch = of("birch", recorded(text))
    assert birch["challengeable_false"] == pytest.approx(1 / 3)
    assert birch["challenge_lift"] == pytest.approx(3)
    missed = of("birch", recorded("0:p5s0 1:p5s0 0:p4s0a1 1:c0 1:d1"))
    assert (missed["challenge_precision"], missed["challenge_lift"]) == (0, 0)
    honest = of("ash", recorded(EXAMPLES["B1_honest"].play))
    assert (honest["challengeable_false"], honest["challenge_lift"]) == (0, None)


def test_nothing_can_be_challenged_after_the_challenge() -> None:
    assert of("birch", recorded("0:p5s0 1:c0 1:d1 0:p4s0a1 1:p5s0"))["challengeable_false"] == 0


def test_the_cost_of_failed_challenges_chosen_or_not() -> None:
    chosen = recorded(EXAMPLES["B4_a_challenge_that_fails"].play)
    assert of("birch", chosen)["challenge_cost"] == 1
    by_itself = recorded(EXAMPLES["B5_the_last_weight_is_lost_by_a_challenge"].play)
    assert of("birch", by_itself)["challenge_cost"] == 1
    both = recorded(EXAMPLES["B13_both_challenges_fail"].play)
    assert (of("ash", both)["challenge_cost"], of("birch", both)["challenge_cost"]) == (1, 2)
    assert of("birch", chosen, both)["challenge_cost"] == 1.5
    assert of("birch", recorded(CALLED))["challenge_cost"] is None


def test_scores_by_what_came_of_the_challenge() -> None:
    records = [
        recorded(EXAMPLES[case].play)
        for case in ("B1_honest", "B3_a_challenge_that_succeeds", "B4_a_challenge_that_fails")
    ]
    birch = of("birch", *records)
    assert birch["score_unchallenging"] == -1
    assert birch["score_challenge_won"] == 1
    assert birch["score_challenge_failed"] == -1
    assert of("ash", *records)["score_challenge_won"] is None


def test_wins_by_the_number_of_lies_and_by_seat() -> None:
    records = [recorded(EXAMPLES[case].play) for case in ("B1_honest", "B3_a_challenge_that_succeeds")]
    records += [recorded(EXAMPLES["B15_every_claim_false_and_nobody_asks"].play)]
    ash = of("ash", *records)
    assert [ash[f"win_rate_lies_{lies}"] for lies in range(6)] == [1, 0, None, None, None, 1]
    assert (ash["first_seat_win_rate"], ash["second_seat_win_rate"]) == (pytest.approx(2 / 3), None)
    swapped = of("ash", *records, recorded(EXAMPLES["B1_honest"].play, ("birch", "ash")))
    assert swapped["second_seat_win_rate"] == 0
    draw = of("ash", recorded(EXAMPLES["B8_an_empty_scale_and_a_draw"].play))
    assert draw["first_seat_win_rate"] == 0


def test_scales_decided_on_equal_totals() -> None:
    ash = of("ash", recorded(EXAMPLES["B7_fewer_weights_go_before_the_first"].play))
    assert (ash["scales_by_count"], ash["scales_by_first"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    empty = of("ash", recorded(EXAMPLES["B8_an_empty_scale_and_a_draw"].play))
    assert (empty["scales_by_count"], empty["scales_by_first"]) == (0, 0)


def test_moves_of_the_fallback_are_not_the_entrants() -> None:
    text = "0:p1s0a5 1:p5s0 0:p5s0 1:c0 0:p2s1a3"
    ash = of("ash", recorded(text, fallback=frozenset({2})))
    assert ash["lie_rate"] == 1
    assert ash["win_rate_lies_2"] is not None
    birch = of("birch", recorded(text, fallback=frozenset({3})))
    assert (birch["challenge_rate"], birch["challenge_precision"]) == (0, None)
    assert birch["score_unchallenging"] is not None


def test_an_entrant_against_itself_counts_for_both_seats() -> None:
    told = diagnose([recorded(EXAMPLES["B1_honest"].play, ("ash", "ash"))])
    assert list(told) == ["ash"]
    assert told["ash"]["first_seat_win_rate"] == 1
    assert told["ash"]["second_seat_win_rate"] == 0


def test_other_games_are_passed_over_and_other_sizes_are_not() -> None:
    assert diagnose([recorded("0:p1s0", game="goofspiel")]) == {}
    assert of("ash", recorded("0:p7s4a1", weights=7, scales=5))["lie_rate_scale_4"] == 1


def test_records_are_read_once_and_may_be_a_stream() -> None:
    def stream() -> Iterator[Record]:
        for _ in range(3):
            yield recorded(CALLED)

    assert diagnose(stream()) == diagnose([recorded(CALLED)])
