"""The fewest and the most decisions of a seat: each game is played at both ends of what its rules allow."""

from __future__ import annotations

import pytest

from tests.harness.web.episodes import Choice, played
from tests.harness.web.longest import longest_half_hearted_step
from weigh.games.ballast.moves import Challenge, Place
from weigh.games.game import Move, Seat, State
from weigh.games.registry import game_named
from weigh.harness.store.record import Record


def counts(record: Record) -> list[int]:
    return [sum(each.seat == seat for each in record.decisions) for seat in range(len(record.entrants))]


def all_coins(state: State, seat: Seat, step: int, rng: object) -> Move:
    return max(state.legal(seat))


def fewest_coins(state: State, seat: Seat, step: int, rng: object) -> Move:
    return min(state.legal(seat))


def truthful(state: State, seat: Seat, step: int, rng: object) -> Move:
    """The lowest weight on the first scale under its own value, and never a challenge."""
    legal = state.legal(seat)
    weight = min(legal.hand)
    return next(m for m in legal if legal.find(m) == Place(weight, 0, weight))


def lies_and_challenges(state: State, seat: Seat, step: int, rng: object) -> Move:
    """False claims, and a challenge at the first that can be made: it succeeds, and so costs no weight."""
    legal = state.legal(seat)
    found = {m if isinstance(m, str) else str(m): m for m in legal}
    challenges = [m for m in found.values() if isinstance(legal.find(m), Challenge)]
    if challenges:
        return challenges[0]
    weight = min(legal.hand)
    false = 1 if weight != 1 else 2
    return next(m for m in found.values() if legal.find(m) == Place(weight, 0, false))


def back_and_forth(state: State, seat: Seat, step: int, rng: object) -> Move:
    """No bids, any choice, then stay, leave the middle, stay, return, and again."""
    legal = list(state.legal(seat))
    if "pass" in legal:
        return "pass"
    if 0 not in legal and not any(isinstance(m, int) for m in legal):
        return legal[0]
    turn = sum(event.kind == "move" for event in state.events)
    return {0: 0, 1: 1, 2: 0, 3: -1}[turn % 4]


ENDS: list[tuple[str, dict[str, int], Choice, int]] = [
    ("goofspiel", {"cards": 6}, all_coins, 0),
    ("goofspiel", {"cards": 6, "max_rounds": 4}, fewest_coins, 1),
    ("oshi_zumo", {}, all_coins, 0),
    ("oshi_zumo", {}, fewest_coins, 1),
    ("oshi_zumo", {"min_bid": 0}, fewest_coins, 1),
    ("ballast", {}, truthful, 0),
    ("ballast", {}, lies_and_challenges, 1),
    ("half_hearted_step", {}, back_and_forth, 0),
    ("half_hearted_step", {"lives": 1}, back_and_forth, 0),
]


@pytest.mark.parametrize(("name", "config", "choose", "end"), ENDS)
def test_a_seat_decides_as_often_as_the_bound_says(name: str, config: dict, choose: Choice, end: int) -> None:
    game = game_named(name)
    bound = game.decisions(game.config_type(**config))[end]
    found = counts(played(name, config, choose=choose))
    assert (min, max)[end](found) == bound


def test_every_move_of_the_longest_half_hearted_step_is_one_seats() -> None:
    record = longest_half_hearted_step()
    game = game_named("half_hearted_step")
    assert max(counts(record)) == game.decisions(game.config_type())[1]


def test_persistent_calibration_always_has_six_rounds() -> None:
    game = game_named("persistent_calibration")
    record = played("persistent_calibration", {"seats": 3})
    assert (*{*counts(record)},) == (6,)
    assert game.decisions(game.config_type(seats=3)) == (6, 6)
