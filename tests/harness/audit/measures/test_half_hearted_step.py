"""Diagnostics of Half-Hearted Step on episodes worked out by hand on the example board."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.games.half_hearted_step_cases import BOARD, HORIZONTAL_ME, SHORTEST, P, dealt
from weigh.games.half_hearted_step.rules import HALF_HEARTED_STEP
from weigh.games.registry import read_config
from weigh.games.replay import replay
from weigh.harness.audit.measures.half_hearted_step import MEANINGS, diagnose
from weigh.harness.store.record import Record

NAMES = ("ash", "birch")
ROUNDS = [(-2, 1), (2, P), (P, P)]


def recorded(
    steps: Sequence[Any],
    deal: Any = None,
    entrants: tuple[str, str] = NAMES,
    by: Any = "scripted",
    game: str = "half_hearted_step",
) -> Record:
    """The record of these steps, cut off by a deadline if they do not end the episode."""
    config = read_config(HALF_HEARTED_STEP, {})
    deal = deal or {"board": BOARD, "priority": 0}
    steps = [list(step) for step in steps]
    state = replay(HALF_HEARTED_STEP, config, deal, steps)
    outcome = (state.stop() if state.to_act else state).outcome
    assert outcome is not None
    decisions = [
        {"step": number, "seat": seat, "by": by if seat == 0 else "scripted"}
        for number, step in enumerate(steps)
        for seat in (0, 1)
        if step[seat] is not None
    ]
    return Record.model_validate(
        {
            "key": "k",
            "block": "b",
            "game": game,
            "config": config.model_dump(),
            "deal": deal,
            "entrants": entrants,
            "policies": ("0", "1"),
            "models": (None, None),
            "aliases": ("A", "B"),
            "fallback": "stand",
            "moves": tuple(map(tuple, steps)),
            "decisions": decisions,
            "events": (),
            "reason": outcome.reason,
            "ending": outcome.ending,
            "scores": tuple(map(float, outcome.scores)),
            "measures": {},
            "fallbacks": (0, 0),
            "episode_deadline": 9.0,
        }
    )


def sides(*records: Record) -> tuple[dict[str, float | None], dict[str, float | None]]:
    found = diagnose(records)
    return found["ash"], found["birch"]


def told(found: dict[str, float | None], **expected: float | None) -> None:
    for name, value in expected.items():
        assert found[name] == (None if value is None else pytest.approx(value)), name


def test_the_auction_and_what_became_of_the_threshold() -> None:
    ash, birch = sides(recorded([*ROUNDS, [HORIZONTAL_ME, None], *SHORTEST]))
    told(ash, auction_rounds=3, auction_won=1, opening_bid=-2, raise_by=1, self_raise=0, threshold=2)
    # 0 points to 1 at the end.
    told(ash, lead_over_threshold=-3, threshold_reached=0, overbid=3, first_out=1)
    told(birch, auction_rounds=3, auction_won=0, opening_bid=1, raise_by=None, self_raise=None, threshold=None)
    told(birch, lead_over_threshold=None, threshold_reached=None, overbid=None, first_out=0)


def test_raises_over_the_own_bid_and_a_threshold_that_is_reached() -> None:
    rounds = [(-9, -7), (P, -3), (P, -1), (P, P)]
    end = [[None, {"active": "opponent", "axis": "vertical"}], *SHORTEST]
    ash, birch = sides(recorded([*rounds, *end]))
    told(birch, opening_bid=-7, raise_by=3, self_raise=1, threshold=-1, lead_over_threshold=2, threshold_reached=1)
    told(birch, overbid=None)
    told(ash, opening_bid=-9, raise_by=None)


def test_three_turns_worked_out() -> None:
    ash, birch = sides(recorded(SHORTEST[:3], dealt()))
    # Turn 1, both stay: left to right ash could have had 3, 1, x, 5, 2; from the top birch could have given 4, x, 2.
    # Turn 2, birch is active: up 2, up 1, down 1, down 2 were 1, 2, 1, 3; ash could have given 3 or 1.
    # Turn 3: ash could have had 1, x, 5, 2, -2; birch could have given x, 2, 5.
    told(ash, active_points=0, active_lift=(-4 - 7 / 5 - 4 - 2 / 5) / 2, inactive_lift=-1 + 2)
    told(birch, active_points=1, active_lift=1 - 7 / 4, inactive_lift=((4 + 2 / 3) + (4 + 1)) / 2)
    told(ash, best_reply=1 / 3, stay=1 / 3, stay_locked=1 / 3, negative_squares=0, life_avoidable=1, life_on_purpose=0)
    told(birch, best_reply=2 / 3, stay=1 / 3, stay_locked=1 / 3, life_avoidable=None, life_on_purpose=None)
    # Twice ash had all five moves as the active seat, and made two different ones.
    told(ash, move_entropy=2 / 3)
    told(ash, opponent_forced=0, forced_best_reply=None)
    # It is not over, and there was no auction.
    told(ash, first_out=None, lead_over_threshold=None, auction_rounds=None, opening_bid=None)


def test_a_forced_opponent_and_a_best_reply() -> None:
    # In the fifth turn birch stands on the lowest row, inactive, having stayed: up 1 is all it may do.
    turns = [(1, 1), (1, 1), (1, 1), (-1, 0), (-2, -1)]
    ash, birch = sides(recorded(turns, dealt()))
    told(ash, opponent_forced=1 / 5, forced_best_reply=1)
    told(birch, opponent_forced=0, forced_best_reply=None)
    # left 2, left 1, stay, right 1 were 5, 3, x, 2 in that turn.
    told(sides(recorded([*turns[:4], (-1, -1)], dealt()))[0], forced_best_reply=0)


def test_negative_squares_and_lives_lost_to_spare_them() -> None:
    told(sides(recorded([(1, 1), (1, -2), (1, 1)], dealt()))[0], negative_squares=1 / 2, active_points=-1 / 2)
    board: list[list[Any]] = copy.deepcopy(BOARD)
    board[1][1], board[5][2] = 1, 1
    board[3] = [4, -1, -1, None, 5, -2, 2]
    # In the third turn row 3 is left to ash, with -1, -1, x, x, -2.
    ash, _ = sides(recorded([(1, 0), (-1, 1), (0, -1)], {**dealt(), "board": board}))
    told(ash, life_avoidable=1, life_on_purpose=1, best_reply=1 / 3)


def test_the_rules_own_stays_and_draws() -> None:
    steps = [*ROUNDS, [HORIZONTAL_ME, None], *SHORTEST[:3]]
    told(sides(recorded(steps, by="fallback"))[0], fallback_stays=1, fallback_draws=2)
    told(sides(recorded(steps, by="fallback"))[1], fallback_stays=0, fallback_draws=0)


def test_an_auction_that_was_cut_off_counts_its_bids_only() -> None:
    ash, _ = sides(recorded(ROUNDS[:2]))
    told(ash, opening_bid=-2, raise_by=1, auction_rounds=None, auction_won=None, active_points=None)
    told(sides(recorded(ROUNDS))[0], auction_won=1, threshold=2, active_points=None)


def test_every_measure_is_there_and_records_are_read_once() -> None:
    def stream() -> Iterator[Record]:
        yield recorded(SHORTEST, dealt())
        yield recorded(SHORTEST, dealt(), ("birch", "birch"))
        yield recorded(SHORTEST, dealt(), game="goofspiel", entrants=("nobody", "nobody"))

    found = diagnose(stream())
    assert list(found) == ["ash", "birch"]
    assert all(list(measures) == list(MEANINGS) for measures in found.values())
    told(found["birch"], first_out=1 / 3)
    assert diagnose([]) == {}


def test_meanings_are_lines_with_a_unit() -> None:
    for name, meaning in MEANINGS.items():
        assert name.isidentifier()
        assert 10 < len(meaning) < 120
        assert "\n" not in meaning
