"""Persistent Calibration: its bounds, its rules told a second time, and its config, deal and states."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.persistent_calibration_play import after, points, settled
from weigh.games.game import ConfigInvalid
from weigh.games.persistent_calibration.rules import PERSISTENT_CALIBRATION, PersistentCalibrationConfig
from weigh.games.registry import read_config

# Bounds


def test_bound_exactly_six_rounds() -> None:
    steps = ["AL1 BR1", "AL2 BR2", "AL3 BR3"] * 2
    assert PERSISTENT_CALIBRATION.longest(PersistentCalibrationConfig()) == 6
    assert after(*steps[:5]).outcome is None
    with pytest.raises(ValueError, match="the episode was over after 6 steps"):
        after(*steps, "AL1 BR1")


def test_bound_46_points_without_garnets_is_attained() -> None:
    end = after(*["AL3 AR3 AR3", "AL2 AR2 AR2", "AL1 AR1 AR1"] * 2)
    assert points(end) == [3 * 6 + 2 * 5 + 1 * 4 + 3 * 3 + 2 * 2 + 1 * 1, 0, 0]
    assert settled(end).measures["garnets_earned"] == [7, 0, 0]


def test_bound_63_points_with_garnets_is_attained() -> None:
    end = after(*["AL3 AR3 AR3", "AL2+ AR2 AR2", "AL1++ AR1+ AR1+"] * 2, starting_garnets=6)
    assert points(end) == [63, 0, 0]
    assert settled(end).measures["garnets_earned"] == [10, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize(("seats", "episodes"), [(2, 20_000), (4, 10_000), (13, 20_000)])
def test_bounds_hold_and_scores_sum_to_zero_in_random_play(seats: int, episodes: int) -> None:
    """Also that ties and the spread of scores are as they were measured for the rules."""
    rng, ties = Random(seats), [0, 0]
    scores: list[float] = []
    shares: list[float] = []
    for _ in range(episodes):
        state = after(seats=seats)
        while state.to_act:
            state = state.play({seat: state.legal(seat).sample(rng) for seat in range(seats)})
        outcome = settled(state)
        assert len(state.rounds) == 6
        assert sum(outcome.scores) == 0
        assert all(-1 <= score <= 1 for score in outcome.scores)
        measures: Any = outcome.measures
        assert all(0 <= own <= 46 for own in measures["points"])
        assert all(0 <= earned <= 7 for earned in measures["garnets_earned"])
        ties[0] += len(measures["winners"]) > 1
        ties[1] += len(measures["elimination_candidates"]) > 1
        scores += map(float, outcome.scores)
        shares += measures["share_score"]
    spread, share_spread, first, last = {
        2: (0.98, 0.55, 0.045, 0.045),
        4: (0.74, 0.19, 0.06, 0.09),
        13: (0.62, 0.042, 0.086, 0.153),
    }[seats]
    deviation = (sum(score**2 for score in scores) / len(scores)) ** 0.5
    share_deviation = (sum(share**2 for share in shares) / len(shares)) ** 0.5
    assert deviation == pytest.approx(spread, abs=0.01)
    assert share_deviation == pytest.approx(share_spread, abs=0.01 if seats < 13 else 0.001)
    assert ties[0] / episodes == pytest.approx(first, abs=0.01)
    assert ties[1] / episodes == pytest.approx(last, abs=0.012)


# The rules as a plain loop


@given(st.integers(2, 6), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2**32))
def test_the_rules_as_a_plain_loop_agree(seats: int, garnets: int, cap: int, seed: int) -> None:
    rng = Random(seed)
    state = after(seats=seats, starting_garnets=garnets, max_garnets_per_round=cap)
    hands: list[list[int]] = []
    purses = [garnets] * seats
    lying: list[tuple[int, str, str, int]] = []
    won = [0] * seats
    for number in range(6):
        if number in (0, 3):
            hands = [[1, 2, 3] for _ in range(seats)]
        step: dict[int, Any] = {}
        for seat in range(seats):
            if rng.random() < 0.1:
                hands[seat].remove(min(hands[seat]))
                step[seat] = None
                continue
            weight = rng.choice(hands[seat])
            most = min(purses[seat], cap)
            modify = rng.choice([m for m in range(-most, most + 1) if 1 <= weight + m <= 3])
            scale, side = rng.choice("ABC"), rng.choice(["left", "right"])
            hands[seat].remove(weight)
            purses[seat] -= abs(modify)
            lying.append((seat, scale, side, weight + modify))
            step[seat] = {"scale": scale, "side": side, "weight": weight, "modify": modify}
        for scale in "ABC":
            sums = {side: sum(v for _, c, s, v in lying if (c, s) == (scale, side)) for side in ("left", "right")}
            for seat, c, side, value in lying:
                if c == scale and sums[side] < sums["left" if side == "right" else "right"]:
                    won[seat] += value
        state = state.play(step)
        assert state.garnets == tuple(purses)
    outcome = settled(state)
    assert outcome.measures["points"] == won
    assert outcome.scores == tuple(
        Fraction(sum((mine > other) - (mine < other) for other in won), seats - 1) for mine in won
    )
    assert outcome.measures["share_score"] == [
        float((seats * Fraction(mine, sum(won)) - 1) / (seats - 1)) if sum(won) else 0.0 for mine in won
    ]


# Config, deal, state


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"starting_garnets": -1}, "starting_garnets is -1: it must be a whole number from 0 to 99, or a list of them"),
        ({"starting_garnets": True}, "starting_garnets is true: it must be"),
        ({"starting_garnets": "2"}, 'starting_garnets is "2": it must be'),
        ({"starting_garnets": [1, 2]}, "one for each of 13 seats"),
        ({"seats": 2, "starting_garnets": [1, 2.0]}, "starting_garnets is [1, 2.0]: it must be"),
        ({"seats": 2, "starting_garnets": [1, 100]}, "one for each of 2 seats"),
        ({"seats": 0, "starting_garnets": [1, None]}, "one for each seat"),
        ({"max_garnets_per_round": 3}, "max_garnets_per_round is 3: it must be a whole number from 0 to 2"),
        ({"garnets": 1}, 'unknown key "garnets"'),
    ],
)
def test_a_config_out_of_bounds_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        read_config(PERSISTENT_CALIBRATION, fields)
    assert message in str(refused.value)


def test_garnets_by_seat_survive_being_written_out() -> None:
    config = read_config(PERSISTENT_CALIBRATION, {"seats": 3, "starting_garnets": [2, 0, 9]})
    dumped = config.model_dump(mode="json")
    assert dumped == {"seats": 3, "starting_garnets": [2, 0, 9], "max_garnets_per_round": 2}
    assert read_config(PERSISTENT_CALIBRATION, dumped) == config


def test_relabelling_seats_takes_their_garnets_along() -> None:
    steps = ["AL1++ AR3 BL2-", "BR3 BL2+ CL1"]
    one = settled(after(*steps, stop=True, starting_garnets=[3, 2, 1]))
    swapped = [" ".join(step.split()[seat] for seat in (2, 0, 1)) for step in steps]
    other = settled(after(*swapped, stop=True, starting_garnets=[1, 3, 2]))
    assert other.scores == tuple(one.scores[seat] for seat in (2, 0, 1))
    final: Any = one.measures["garnets_final"]
    assert other.measures["garnets_final"] == [final[seat] for seat in (2, 0, 1)]
