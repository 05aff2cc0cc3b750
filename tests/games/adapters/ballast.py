"""Ballast for the conformance suite: seats that are not alike, and games that differ in what one seat cannot see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from tests.games.adapters.adapter import Adapter, Order, Steps
from weigh.games.ballast.rules import BallastConfig, BallastState
from weigh.games.game import AnyGame, Deal, Move, Outcome, Seat, State


def twins(game: AnyGame, config: BallastConfig, rng: Random) -> Iterator[tuple[State, State, Sequence[Seat]]]:
    """A random game beside the same with the other seat's secrets exchanged, wherever `watcher` is to move.

    Two weights of the other seat trade places throughout: in its hand, among what it placed and in what it gave up.
    Where the trade would show, because a challenge turned one of them up, the two games part and the pair ends.
    """
    for watcher in (0, 1):
        one, two = rng.sample(range(1, config.weights + 1), 2)
        trade = {one: two, two: one}
        state = other = game.start(config, {})
        while state.to_act:
            (seat,) = state.to_act
            move = state.legal(seat).sample(rng)
            traded = move if seat == watcher else _traded(move, trade)
            state, other = state.play({seat: move}), other.play({seat: traded})
            assert isinstance(state, BallastState)
            assert isinstance(other, BallastState)
            if [each._replace(true=0) for each in state.placed] != [each._replace(true=0) for each in other.placed]:
                break
            if any(a != b for a, b in zip(state.placed, other.placed, strict=True) if a.status != "down"):
                break
            if state.to_act == {watcher} and state != other:
                yield state, other, (watcher,)


def _traded(move: Any, trade: Mapping[int, int]) -> Move:
    word, first, *rest = move
    return [word, trade.get(first, first), *rest] if word != "challenge" else move


def relabel(config: BallastConfig, deal: Deal, steps: Steps, order: Order) -> tuple[Deal, Steps]:
    raise AssertionError("the first seat is not like the second")


def relabel_measures(config: BallastConfig, measures: Mapping[str, Any], order: Order) -> Mapping[str, Any]:
    raise AssertionError("the first seat is not like the second")


def check_measures(config: BallastConfig, steps: int, outcome: Outcome) -> None:
    measures: Mapping[str, Any] = outcome.measures
    assert list(measures) == ["scales", "scales_won", "turns", "decisions", "placed"]
    assert measures["decisions"] == steps
    assert 0 <= measures["decisions"] - measures["turns"] <= 2
    placed = measures["placed"]
    assert [weight["number"] for weight in placed] == list(range(len(placed)))
    assert len(measures["scales"]) == config.scales
    for scale, verdict in enumerate(measures["scales"]):
        here = [weight for weight in placed if weight["scale"] == scale and weight["status"] != "removed"]
        for seat in (0, 1):
            own = [weight["true"] for weight in here if weight["owner"] == seat]
            assert (verdict["totals"][seat], verdict["counts"][seat]) == (sum(own), len(own))
        assert (verdict["winner"] is None) == (not here)
    for weight in placed:
        assert (weight["status"] == "removed") <= (weight["announced"] != weight["true"])
        assert (weight["status"] == "up") <= (weight["announced"] == weight["true"])
    for seat in (0, 1):
        won = [verdict["winner"] for verdict in measures["scales"]].count(seat)
        assert measures["scales_won"][seat] == won
        own = [weight["true"] for weight in placed if weight["owner"] == seat]
        assert len(set(own)) == len(own)
    lead = measures["scales_won"][0] - measures["scales_won"][1]
    assert outcome.scores[0] == (lead > 0) - (lead < 0)


def orders(seats: int) -> Sequence[Order]:
    """None: player 0 moves first."""
    return []


BALLAST = Adapter(
    configs=({}, {"weights": 3}, {"weights": 2, "scales": 2}, {"weights": 7, "scales": 5}),
    candidates=(
        *([word, weight, scale, said] for word in ("place", "PLACE") for weight, scale, said in ((1, 0, 5), (5, 2, 1))),
        *(["place", weight, scale, said] for weight in (0, 1, 2, 3) for scale in (-1, 0, 1, 3) for said in (0, 1, 2)),
        ["place", "3", 1.0, " 2 "],
        ["place", True, 0, 1],
        ["place", 1, 0],
        ["place", 1, 0, 1, 1],
        *(["challenge", number] for number in (*range(-1, 14), "1", 2.0, None)),
        ["challenge"],
        *(["discard", weight] for weight in range(9)),
        ["discard", 1, 2],
        *([], ["pass"], [1, 2], [None], "place", None, True, 7, 7.5, {"move": ["place", 1, 0, 1]}, 10**400),
    ),
    exact_schema=True,
    twins=twins,
    orders=orders,
    relabel=relabel,
    relabel_measures=relabel_measures,
    check_measures=check_measures,
)
