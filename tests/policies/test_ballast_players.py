"""The scripted players of Ballast: their rules on positions that decide them, their habits, and how they fare."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from tests.games.ballast_cases import after, settled
from weigh.games.ballast.rules import BALLAST, BallastConfig, BallastState
from weigh.games.game import Legal, Move
from weigh.policies.scripted.ballast import BALLAST as PLAYERS
from weigh.policies.scripted.ballast import bluffer, bluffer_habits, steady, steady_habits
from weigh.policies.scripted.policy import Rule
from weigh.policies.scripted.registry import fallback_of, scripted

NAMES = ("Ash", "Birch")


def move(rule: Rule, text: str, **fields: int) -> Move:
    """What a rule does for the seat that is to move after a game in the notation."""
    state = after(text, **fields)
    (seat,) = state.to_act
    return rule(state.observe(seat, NAMES).facts, state.legal(seat), Random(1))


# steady


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("", ["place", 5, 0, 5]),
        ("0:p5s0", ["place", 5, 1, 5]),
        ("0:p5s0 1:p5s0", ["place", 4, 0, 4]),
        ("0:p5s0 1:p4s0", ["place", 4, 1, 4]),
        ("0:p3s0 1:p5s0 0:p2s1 1:p4s1", ["place", 5, 2, 5]),
        ("0:p3s0 1:p5s0 0:p2s1 1:p4s1 0:p1s2 1:p2s2", ["place", 5, 2, 5]),
    ],
    ids=["first", "elsewhere", "level", "behind by least", "level before behind", "behind by least again"],
)
def test_steady_places_its_largest_truthfully_where_it_is_behind_by_least(text: str, due: Move) -> None:
    assert move(steady, text) == due


def test_steady_adds_where_it_leads_by_least_when_it_leads_everywhere() -> None:
    assert move(steady, "0:p4s0 1:p1s0 0:p5s1 1:p4s1", scales=2) == ["place", 3, 1, 3]


def test_steady_believes_a_claim_until_it_is_turned_up() -> None:
    assert move(steady, "0:p4s0 1:p1s0a5") == ["place", 5, 1, 5]
    assert move(steady, "0:p4s0 1:p1s0a4") == ["place", 5, 0, 5]
    # The claim was turned up and removed, so scale 0 is led and scale 1 is level.
    assert move(steady, "0:p4s0 1:p1s0a5 0:c1 1:p5s2") == ["place", 5, 1, 5]


def test_steady_challenges_once_a_value_is_claimed_twice_and_takes_the_newest() -> None:
    assert move(steady, "0:p1s0 1:p5s0a3 0:p2s0 1:p3s0") == ["challenge", 3]
    assert move(steady, "0:p1s0 1:p5s0a3 0:p2s0 1:p4s0") == ["place", 5, 1, 5]


def test_steady_challenges_in_the_largest_group_and_of_equal_ones_in_the_higher() -> None:
    twos_and_fours = "0:p1s0 1:p1s0a4 0:p2s0 1:p2s0 0:p3s0 1:p3s0a2"
    assert move(steady, twos_and_fours) == ["challenge", 5]
    assert move(steady, f"{twos_and_fours} 0:p4s0 1:p4s0") == ["challenge", 7]
    assert move(steady, f"{twos_and_fours} 0:p4s0 1:p4s0a2") == ["challenge", 7]
    assert move(steady, f"{twos_and_fours} 0:p4s0 1:p4s1a5") == ["challenge", 5]


def test_steady_challenges_but_once() -> None:
    assert move(steady, "0:p1s0 1:p5s0a3 0:p2s0 1:p4s0a3 0:c3 1:p2s0a3") == ["place", 5, 1, 5]


@pytest.mark.parametrize("rule", [steady, bluffer])
def test_both_discard_their_smallest(rule: Rule) -> None:
    assert move(rule, "0:p5s0 1:c0") == ["discard", 1]
    assert move(rule, "0:p5s0 1:p1s0 0:p4s0 1:c0") == ["discard", 2]


# bluffer


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("", ["place", 1, 0, 5]),
        ("0:p1s0a5 1:p1s0", ["place", 2, 1, 4]),
        ("0:p1s0a5 1:p1s0 0:p2s1a4 1:p2s0", ["place", 3, 2, 5]),
        ("0:p1s0a5 1:p1s0 0:p2s1a4 1:p2s0 0:p3s2a5 1:p3s0", ["place", 4, 0, 2]),
        ("0:p1s0a5 1:p1s0 0:p2s1a4 1:p2s0 0:p3s2a5 1:p3s0 0:p4s0a2 1:p4s0", ["place", 5, 1, 1]),
    ],
)
def test_bluffer_places_its_smallest_in_turn_under_a_false_claim(text: str, due: Move) -> None:
    assert move(bluffer, text) == due


def test_bluffer_counts_what_it_placed_and_not_what_is_left() -> None:
    assert move(bluffer, "0:p1s0a5 1:c0") == ["place", 2, 1, 4]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("0:p4s0", ["challenge", 0]),
        ("0:p3s0", ["place", 1, 0, 5]),
        ("0:p4s0 1:p1s0 0:p5s0 1:p2s0 0:p1s0", ["challenge", 2]),
        ("0:p5s0 1:c0 1:d1 0:p4s0", ["place", 2, 0, 4]),
        ("0:p1s0 1:p1s0 0:p2s0 1:p2s0 0:p3s0 1:p3s0 0:p5s0a1 1:p4s0 0:p4s1", ["place", 5, 1, 1]),
    ],
    ids=["four", "three", "newest", "used", "one in hand"],
)
def test_bluffer_challenges_the_newest_high_claim_with_a_weight_to_spare(text: str, due: Move) -> None:
    assert move(bluffer, text) == due


def test_the_rules_follow_the_sizes_of_the_game() -> None:
    assert move(bluffer, "", weights=7, scales=2) == ["place", 1, 0, 7]
    assert move(bluffer, "0:p5s0", weights=7) == ["place", 1, 0, 7]
    assert move(bluffer, "0:p6s0", weights=7) == ["challenge", 0]
    assert move(bluffer, "", weights=2) == ["place", 1, 0, 2]
    assert move(steady, "", weights=7, scales=5) == ["place", 7, 0, 7]


# Habits


def drawn(habits: Callable[[Random], Rule], text: str, seeds: range = range(400)) -> list[Any]:
    """The move after a game in the notation, of entrants that sat down with these seeds."""
    state = after(text)
    (seat,) = state.to_act
    facts, legal = state.observe(seat, NAMES).facts, state.legal(seat)
    moves = []
    for seed in seeds:
        rng = Random(seed)
        moves.append(habits(rng)(facts, legal, rng))
    return moves


@pytest.mark.parametrize(("habits", "weights"), [(steady_habits, (5, 4)), (bluffer_habits, (1, 2))])
def test_an_entrant_takes_the_second_weight_one_time_in_four_and_prefers_any_scale(
    habits: Callable[[Random], Rule], weights: tuple[int, int]
) -> None:
    moves = drawn(habits, "")
    second = sum(placed[1] == weights[1] for placed in moves)
    assert {placed[1] for placed in moves} == set(weights)
    assert 65 < second < 135  # a spread of about 9 around 100
    for scale in range(3):
        assert 85 < sum(placed[2] == scale for placed in moves) < 185  # a spread of about 10 around 133


def test_habits_last_for_the_episode() -> None:
    """One order of scales: level scales always fall the same way, and the bluffer's round goes on."""
    for seed in range(20):
        rng = Random(seed)
        rule = steady_habits(rng)
        state = after("")
        placed: list[Any] = [rule(state.observe(0, NAMES).facts, state.legal(0), rng) for _ in range(10)]
        assert len({one[2] for one in placed}) == 1
        rule, scales = bluffer_habits(rng), []
        state = after("0:p1s0")
        for _ in range(5):
            mine: Any = rule(state.observe(1, NAMES).facts, state.legal(1), rng)
            scales.append(mine[2])
            state = state.play({1: mine})
            if state.to_act == {0}:
                state = state.play({0: ["place", min(state.hands[0]), 0, 1]})
        assert sorted(scales[:3]) == [0, 1, 2]
        assert scales[3:] == scales[:2]


def test_habits_leave_challenges_and_discards_and_truth_alone() -> None:
    assert set(map(json.dumps, drawn(steady_habits, "0:p1s0 1:p5s0a3 0:p2s0 1:p3s0"))) == {'["challenge", 3]'}
    assert set(map(json.dumps, drawn(steady_habits, "0:p5s0 1:c0"))) == {'["discard", 1]'}
    assert all(placed[1] == placed[3] for placed in drawn(steady_habits, "0:p3s0"))
    assert all(placed[1] != placed[3] for placed in drawn(bluffer_habits, "0:p3s0"))


def test_one_weight_left_is_placed_whatever_the_habit() -> None:
    last = "0:p5s0 1:p5s0 0:p4s1 1:p4s1 0:p3s2 1:p3s2 0:p2s0 1:p2s1"
    assert {placed[1] for placed in drawn(steady_habits, last)} == {1}


# As policies


def test_the_fallback_has_no_habits_and_the_entrant_of_its_name_has() -> None:
    fallback, entrant = fallback_of("ballast"), scripted("ballast", "steady")
    assert fallback.name == entrant.name == BALLAST.fallback == "steady"
    assert fallback.digest != entrant.digest
    assert fallback.baseline.habits is None
    assert fallback.baseline.rule is entrant.baseline.rule is steady
    assert all(baseline.habits is not None for baseline in PLAYERS.values())


def test_A14_the_fallback_moves_alike_whatever_its_stream() -> None:
    state = after("")
    moves = {
        json.dumps(
            fallback_of("ballast")
            .sit(0, Random(seed))
            .rule(state.observe(0, NAMES).facts, state.legal(0), Random(seed))
        )
        for seed in range(50)
    }
    assert moves == {'["place", 5, 0, 5]'}


# How they fare


def uniform(facts: Any, legal: Legal, rng: Random) -> Move:
    return legal.sample(rng)


def caller(facts: Any, legal: Any, rng: Random) -> Move:
    """Random play that challenges at one turn in five where it can, and not only at one in the number of moves."""
    if legal.targets and rng.random() < 0.2:
        return ["challenge", rng.choice(legal.targets)]
    placements = [option for option in legal if option[0] != "challenge"]
    return placements[int(rng.random() * len(placements))]


def false_steady(facts: Any, legal: Legal, rng: Random) -> Move:
    """What `steady` does, under claims drawn from the false ones."""
    due: Any = steady(facts, legal, rng)
    if due[0] != "place":
        return due  # type: ignore[no-any-return]
    return [*due[:3], rng.choice([value for value in range(1, facts["weights"] + 1) if value != due[1]])]


def played(rules: tuple[Rule, Rule], rngs: tuple[Random, Random]) -> BallastState:
    state = BALLAST.start(BallastConfig(), {})
    while state.mover is not None:
        seat = state.mover
        facts, legal = state.observe(seat, NAMES).facts, state.legal(seat)
        state = state.play({seat: rules[seat](facts, legal, rngs[seat])})
    return state


def plain(rule: Rule) -> Callable[[Random], Rule]:
    return lambda rng: rule


@cache
def mean(one: Callable[[Random], Rule], other: Callable[[Random], Rule], pairs: int) -> float:
    """The mean score of `one` over that many pairs of games with the seats swapped."""
    total = 0.0
    for pair in range(pairs):
        rngs = [Random(f"{pair} {stream}") for stream in range(4)]
        total += float(settled(played((one(rngs[0]), other(rngs[1])), (rngs[0], rngs[1]))).scores[0])
        total += float(settled(played((other(rngs[2]), one(rngs[3])), (rngs[2], rngs[3]))).scores[1])
    return total / (2 * pairs)


def test_the_bare_rules_have_two_games_a_pairing() -> None:
    """The second seat wins when they meet, and the first when `steady` meets itself."""
    rngs = (Random(1), Random(2))
    assert settled(played((steady, bluffer), rngs)).scores == (-1, 1)
    assert settled(played((bluffer, steady), rngs)).scores == (-1, 1)
    assert settled(played((steady, steady), rngs)).scores == (1, -1)
    assert played((steady, bluffer), rngs) == played((steady, bluffer), (Random(3), Random(4)))


def test_entrants_play_many_different_games() -> None:
    games = set()
    for seed in range(100):
        rngs = (Random(f"{seed} 0"), Random(f"{seed} 1"))
        games.add(played((steady_habits(rngs[0]), bluffer_habits(rngs[1])), rngs))
    assert len(games) > 80


FIGURES = [
    # name, one, other, mean score of one, and how far a mean over 2,000 pairs may be from it
    ("steady v a random caller", plain(steady), plain(caller), 0.72, 0.03),
    ("steady with false claims v a random caller", plain(false_steady), plain(caller), 0.08, 0.05),
    ("bluffer v a random caller", plain(bluffer), plain(caller), 0.17, 0.04),
    ("steady v random", plain(steady), plain(uniform), 0.64, 0.04),
    ("bluffer v random", plain(bluffer), plain(uniform), 0.19, 0.04),
    ("the entrant steady v random", steady_habits, plain(uniform), 0.65, 0.04),
    ("the entrant bluffer v random", bluffer_habits, plain(uniform), 0.21, 0.04),
    ("the entrants steady v bluffer", steady_habits, bluffer_habits, 0.70, 0.04),
    ("the entrant steady v itself", steady_habits, steady_habits, 0.0, 0.05),
]
NAMED = [figure[0] for figure in FIGURES]


@pytest.mark.parametrize(("one", "other", "expected", "beyond"), [figure[1:] for figure in FIGURES], ids=NAMED)
def test_how_they_fare(one: Any, other: Any, expected: float, beyond: float) -> None:
    """Over 120 pairs, whose mean has a spread of about 0.06."""
    assert abs(mean(one, other, 120) - expected) < 4 * 0.06


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other", "expected", "beyond"), [figure[1:] for figure in FIGURES], ids=NAMED)
def test_how_they_fare_closely(one: Any, other: Any, expected: float, beyond: float) -> None:
    assert abs(mean(one, other, 2_000) - expected) < beyond
