"""The scripted players of Persistent Calibration: each rule on positions that decide it, and how they fare together."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from tests.games.persistent_calibration_play import after, move, settled
from weigh.games.game import Move
from weigh.games.persistent_calibration.rules import PersistentCalibrationState
from weigh.policies.scripted.registry import scripted, scripted_names

GAME = "persistent_calibration"
THIRTEEN = [f"N{seat}" for seat in range(13)]


def plays(policy: str, state: PersistentCalibrationState, seat: int) -> Move:
    names = THIRTEEN[: len(state.masks)]
    seen = state.observe(seat, names)
    chosen = scripted(GAME, policy).baseline.rule(seen.facts, seen.legal, Random(1))
    assert chosen in seen.legal
    return chosen


def choices(policy: str, state: PersistentCalibrationState) -> list[Move]:
    return [plays(policy, state, seat) for seat in range(len(state.masks))]


def written(text: str) -> list[Move]:
    return [move(each) for each in text.split()]


def test_the_players_of_the_game() -> None:
    assert scripted_names(GAME) == ("spread", "loyal", "absent", "random")


# spread


def test_spread_opens_with_the_smallest_weight_on_the_side_of_its_number() -> None:
    opening = written("AL1 AR1 BL1 BR1 CL1 CR1 AL1 AR1 BL1 BR1 CL1 CR1 AL1")
    assert choices("spread", after(seats=13)) == opening


def test_spread_takes_leads_that_outlast_its_weight_the_larger_first_then_the_larger_weight() -> None:
    # A's left leads by 4, B's right by 3, C's left by 2. Left after the weight: A 2 or 1, B 1 or 0, C 0.
    state = after("AR3 BL3 CR2 AR1", "- - - -")
    assert state.hands == ((2,), (2,), (3,), (3,))
    assert choices("spread", state)[:2] == written("AL2 BR2")
    # Weight 3 outlasts only the lead of 4: the one candidate, whatever the seat's number.
    assert choices("spread", state)[2:] == written("AL3 AL3")


def test_spread_takes_candidate_number_seat_modulo_three() -> None:
    # One lead of 6, hands of 2 and 3 (and one of 1, 2): candidates in order AL1 (5 left), AL2 (4), AL3 (3).
    state = after("AR1 AR1 AR1 AR3")
    assert choices("spread", state) == written("AL2 AL3 AL2 AL2")
    state = after("AR3 AR3 AR3 AR3")
    assert choices("spread", state) == written("AL1 AL2 AL1 AL2")


def test_spread_breaks_ties_by_an_order_of_the_sides_turned_by_five_a_seat() -> None:
    # A's left, B's left and C's left lead by 4 each; seats 0, 2 and 4 hold 1 and 2.
    state = after("AR3 AR1 BR3 BR1 CR3 CR1")
    orders = {0: "AL1 BL1 CL1", 2: "CL1 AL1 BL1", 4: "BL1 CL1 AL1"}
    for seat, order in orders.items():
        assert plays("spread", state, seat) == written(order)[seat % 3]


def test_spread_without_a_candidate_puts_the_smallest_weight_on_the_side_with_the_largest_lead() -> None:
    state = after("AL2 AR1")
    assert state.hands == ((1, 3), (2, 3))
    assert choices("spread", state) == written("AR1 AR2")
    balanced = after("AL1 AR1")
    # All leads are 0: the first side in the order of the seat, AL for seat 0 and CR for seat 1.
    assert choices("spread", balanced) == written("AL2 CR2")


def test_spread_spends_no_garnets() -> None:
    state = after("AL1 AR3", starting_garnets=5)
    assert all(chosen["modify"] == 0 for chosen in choices("spread", state))  # type: ignore[call-overload, index]


# loyal, absent


def test_loyal_stays_on_its_side_heaviest_weight_first() -> None:
    state, seen = after(seats=13), []
    for _ in range(6):
        step = choices("loyal", state)
        seen.append(step)
        state = state.play(dict(enumerate(step)))
    for seat in range(13):
        side = ["AL", "AR", "BL", "BR", "CL", "CR"][seat % 6]
        assert [step[seat] for step in seen] == [move(f"{side}{weight}") for weight in (3, 2, 1, 3, 2, 1)]


def test_absent_submits_nothing_and_comes_to_nothing() -> None:
    state = after(seats=2)
    while state.to_act:
        assert plays("absent", state, 0) is None
        state = state.play({0: None, 1: move(f"AL{state.hands[1][-1]}")})
    outcome = settled(state)
    assert outcome.measures["points"] == [0, 0]
    assert outcome.measures["totals"] == {"A": [12, 0], "B": [0, 0], "C": [0, 0]}


# How they fare: mean rank scores as they were measured for the rules


def episode(policies: Sequence[str], rng: Random) -> tuple[list[float], list[float]]:
    """The rank scores and the share scores of a table."""
    state = after(seats=len(policies))
    while state.to_act:
        state = state.play(
            {
                seat: state.legal(seat).sample(rng) if policy == "random" else plays(policy, state, seat)
                for seat, policy in enumerate(policies)
            }
        )
    outcome = settled(state)
    shares: Any = outcome.measures["share_score"]
    return list(map(float, outcome.scores)), shares


def one_among(policy: str, others: str, seat: int, rng: Random) -> tuple[float, float]:
    scores, shares = episode([policy if place == seat else others for place in range(13)], rng)
    return scores[seat], shares[seat]


def test_one_loyal_among_twelve_spread_always_comes_first() -> None:
    assert [one_among("loyal", "spread", seat, Random(1))[0] for seat in range(13)] == [1.0] * 13


def test_one_spread_among_twelve_loyal_scores_a_half() -> None:
    found = [one_among("spread", "loyal", seat, Random(1)) for seat in range(13)]
    assert fmean(score for score, _ in found) == pytest.approx(0.50, abs=0.02)


@pytest.mark.parametrize(("policy", "mean"), [("spread", 0.63), ("loyal", -0.64)])
def test_one_among_twelve_random(policy: str, mean: float) -> None:
    rng = Random(2)
    found = [one_among(policy, "random", rng.randrange(13), rng) for _ in range(600)]
    assert fmean(score for score, _ in found) == pytest.approx(mean, abs=0.08)
    if policy == "spread":  # the rank score tells it from chance better than the share does
        rank, share = (fmean(scores) / stdev(scores) for scores in zip(*found, strict=True))
        assert rank == pytest.approx(1.28, abs=0.2)
        assert share == pytest.approx(1.17, abs=0.2)


def test_six_spread_among_seven_random_herd_and_lose() -> None:
    rng, means = Random(3), []
    for _ in range(400):
        six = rng.sample(range(13), 6)
        scores, _ = episode(["spread" if seat in six else "random" for seat in range(13)], rng)
        means.append(fmean(scores[seat] for seat in six))
    assert fmean(means) == pytest.approx(-0.13, abs=0.06)
