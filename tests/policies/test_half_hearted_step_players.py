"""The scripted players of Half-Hearted Step: each rule on positions that decide it, and how they fare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from statistics import fmean, stdev
from typing import Any

import pytest

from tests.games.half_hearted_step_cases import HORIZONTAL_ME, P, bid, turned
from weigh.games.game import Move
from weigh.games.half_hearted_step.rules import HALF_HEARTED_STEP, ChoiceState, HalfHeartedStepConfig, PlayState
from weigh.policies.scripted.half_hearted_step import HALF_HEARTED_STEP as PLAYERS
from weigh.policies.scripted.policy import Rule

NAMES = ("Ash", "Birch")


def random_rule(facts: Any, legal: Any, rng: Random) -> Move:
    move: Move = legal.sample(rng)
    return move


RULES: dict[str, Rule] = {**{name: player.rule for name, player in PLAYERS.items()}, "random": random_rule}


def move(name: str, state: Any, seat: int, seed: int = 1) -> Move:
    observation = state.observe(seat, NAMES)
    return RULES[name](observation.facts, observation.legal, Random(seed))


def finish(state: Any, names: Sequence[str], seed: int = 1) -> Any:
    """The end of the episode when these two play on from here."""
    rng = Random(seed)
    while state.to_act:
        moves = {}
        for seat in sorted(state.to_act):
            observation = state.observe(seat, NAMES)
            moves[seat] = RULES[names[seat]](observation.facts, observation.legal, rng)
        state = state.play(moves)
    return state


# The auction


@pytest.mark.parametrize(
    ("name", "rounds", "bids"),
    [
        ("forager", [], 0),
        ("forager", [(P, P)], 0),
        ("forager", [(P, 0)], 1),
        ("forager", [(P, 1)], P),
        ("forager", [(P, -6)], -5),
        ("forager", [(0, P)], P),
        ("forager", [(-9, P)], P),
        ("spoiler", [], -3),
        ("spoiler", [(P, -3)], -1),
        ("spoiler", [(P, 1)], 3),
        ("spoiler", [(P, 2)], P),
        ("spoiler", [(-3, P)], P),
        ("stand", [], P),
        ("stand", [(P, -500)], P),
    ],
)
def test_what_is_bid_over_what_stands(name: str, rounds: Any, bids: Move) -> None:
    assert move(name, bid(rounds), 0) == bids


def test_a_bid_beyond_the_limit_is_a_pass() -> None:
    assert move("spoiler", bid([], bid_limit=2), 0) == P
    assert move("forager", bid([], bid_limit=1), 0) == 0
    assert move("spoiler", bid([(P, 1)], bid_limit=2), 0) == P


@pytest.mark.parametrize(
    ("names", "calls", "holder"),
    [
        (("forager", "forager"), [(0, 0), (1, 1)], 1),
        (("forager", "spoiler"), [(1, -3), (0, 0), (1, 2)], 1),
        (("spoiler", "spoiler"), [(0, -3), (1, -1), (0, 1), (1, 3)], 1),
        (("stand", "forager"), [(1, 0)], 1),
        (("stand", "stand"), [], 0),
    ],
)
def test_auctions_between_them(names: Sequence[str], calls: Any, holder: int) -> None:
    end = finish(bid([]), names)
    assert [tuple(call) for call in end.auction.calls] == calls
    assert end.contest.holder == holder


# The choice


@pytest.mark.parametrize(
    ("name", "choice"),
    [("forager", HORIZONTAL_ME), ("spoiler", {"active": "me", "axis": "vertical"}), ("stand", HORIZONTAL_ME)],
)
def test_what_is_chosen(name: str, choice: Move) -> None:
    state = bid([(3, P), (P, P)])
    assert isinstance(state, ChoiceState)
    assert move(name, state, 0) == choice


# Play. On the example board the first landings are, by the step of seat 0, for seat 1 up, staying and down:
#   left 2: 2 3 0 · left 1: 5 1 3 · stay: 4 x 2 · right 1: 2 5 1 · right 2: 0 2 3


def test_the_active_forager_takes_the_best_mean_with_a_life_at_four_points() -> None:
    assert move("forager", turned([]), 0) == -1  # 9/3; stay (4 - 4 + 2)/3 and right 1 8/3 are less


def test_the_inactive_forager_leaves_the_worst_mean() -> None:
    # up: 2 5 4 2 0 = 13; stay: 3 1 -4 5 2 = 7; down: 0 3 2 1 3 = 9
    assert move("forager", turned([]), 1) == 0


def test_the_active_spoiler_counts_new_squares_and_ties_go_to_the_shorter_step_then_left() -> None:
    assert move("spoiler", turned([]), 0) == -1  # three new squares for every step but the stay
    state = turned([(1, 1)])  # row 4, column 4: only the start and this square are visited
    assert move("spoiler", state, 1) == 1  # up 1 may meet the start and a stay this square; down 1 is shorter than up 2


def test_the_inactive_spoiler_leaves_the_fewest_new_squares() -> None:
    assert move("spoiler", turned([]), 1) == 0


def test_stand_stays_and_after_a_stay_moves_by_chance() -> None:
    assert move("stand", turned([]), 0) == 0
    state = turned([(0, 0)])
    drawn = [move("stand", state, 1, seed) for seed in range(400)]
    assert sorted(set(drawn)) == [-2, -1, 1, 2]  # type: ignore[type-var]
    assert all(60 < drawn.count(step) < 140 for step in (-2, -1, 1, 2))
    assert drawn == [move("stand", state, 1, seed) for seed in range(400)]


def test_rule_9_a_stay_for_a_missing_move_binds_like_any_other() -> None:
    state = turned([]).play({0: move("stand", turned([]), 0), 1: 1})
    assert state.position.stayed == (True, False)
    assert move("stand", state, 0) != 0


# How they fare: the lead of the first active seat, on both axes of each board


@cache
def leads(names: tuple[str, str], boards: int) -> tuple[list[int], list[int]]:
    """Leads and turns of these two, seat 0 being active first."""
    ends: list[PlayState] = []
    for number in range(boards):
        deal = HALF_HEARTED_STEP.deal(HalfHeartedStepConfig(), Random(number))
        for horizontal in (0, 1):
            start = {"horizontal": horizontal, "active": 0, "threshold": 0, "holder": 0}
            state = HALF_HEARTED_STEP.start(HalfHeartedStepConfig(), {**deal, "start": start})
            ends.append(finish(state, names, seed=2 * number + horizontal))
    return [end.position.points[0] - end.position.points[1] for end in ends], [len(end.turns) for end in ends]


MEASURED = [
    (("forager", "forager"), 0.7, 10.2),
    (("forager", "spoiler"), 3.4, None),
    (("spoiler", "forager"), -3.2, None),
    (("forager", "random"), 35.6, None),
    (("random", "random"), 1.0, 13.1),
]
"""The mean lead over 500 boards on both axes, and its spread where it was measured."""


def check_lead(names: tuple[str, str], mean: float, spread: float | None, boards: int) -> None:
    found, _ = leads(names, boards)
    # Both figures are samples: ours of 2 * boards episodes, the measured one of 1,000.
    error = stdev(found) * (1 / len(found) + 1 / 1000) ** 0.5
    assert abs(fmean(found) - mean) < 4 * error
    if spread is not None:
        assert stdev(found) == pytest.approx(spread, rel=0.2 if boards < 100 else 0.1)


@pytest.mark.parametrize(("names", "mean", "spread"), MEASURED, ids=["-".join(names) for names, _, _ in MEASURED])
def test_the_measured_lead_on_few_boards(names: tuple[str, str], mean: float, spread: float | None) -> None:
    check_lead(names, mean, spread, 40)


@pytest.mark.slow
@pytest.mark.parametrize(("names", "mean", "spread"), MEASURED, ids=["-".join(names) for names, _, _ in MEASURED])
def test_the_measured_lead(names: tuple[str, str], mean: float, spread: float | None) -> None:
    check_lead(names, mean, spread, 300)


@pytest.mark.slow
def test_the_fair_threshold_between_foragers_is_about_one() -> None:
    found, turns = leads(("forager", "forager"), 300)
    for threshold, share in enumerate([0.55, 0.51, 0.47, 0.41]):
        reached = fmean(lead >= threshold for lead in found)
        assert abs(reached - share) < 4 * (0.25 / len(found) + 0.25 / 1000) ** 0.5
    assert fmean(turns) == pytest.approx(26, abs=1)


def test_spoilers_follow_one_path_on_every_board() -> None:
    paths = set()
    for number in range(5):
        deal = HALF_HEARTED_STEP.deal(HalfHeartedStepConfig(), Random(number))
        start = {"horizontal": 0, "active": 0, "threshold": 0, "holder": 0}
        state = HALF_HEARTED_STEP.start(HalfHeartedStepConfig(), {**deal, "start": start})
        paths.add(tuple(turn.moves for turn in finish(state, ("spoiler", "spoiler")).turns))
    assert [len(path) for path in paths] == [25]


def test_random_play_takes_about_twenty_turns() -> None:
    assert fmean(leads(("random", "random"), 40)[1]) == pytest.approx(20, abs=2)
