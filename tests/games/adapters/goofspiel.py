"""Goofspiel for the conformance suite: any relabelling of seats, and decks that differ in what is still to come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest

from tests.games.adapters.adapter import Adapter, Order, Steps, permuted
from weigh.games.game import AnyGame, Deal, Outcome, Seat, State
from weigh.games.goofspiel.rules import GoofspielConfig


def twins(game: AnyGame, config: GoofspielConfig, rng: Random) -> Iterator[tuple[State, State, Sequence[Seat]]]:
    """Two decks that agree on what has been shown, after the same random bids."""
    order: Any = game.deal(config, rng)["prize_order"]
    for played in range(min(config.max_rounds, config.cards - 2)):
        tail = order[played + 1 :]
        other = tail[::-1] if played % 2 else rng.sample(tail[1:], len(tail) - 1) + tail[:1]
        states = [game.start(config, {"prize_order": deck}) for deck in (order, order[: played + 1] + other)]
        for _ in range(played):
            moves = {seat: states[0].legal(seat).sample(rng) for seat in states[0].to_act}
            states = [state.play(moves) for state in states]
        yield states[0], states[1], range(config.seats)


def relabel(config: GoofspielConfig, deal: Deal, steps: Steps, order: Order) -> tuple[Deal, Steps]:
    return deal, [permuted(step, order) for step in steps]


def relabel_measures(config: GoofspielConfig, measures: Mapping[str, Any], order: Order) -> Mapping[str, Any]:
    return {name: permuted(values, order) for name, values in measures.items()}


def check_measures(config: GoofspielConfig, steps: int, outcome: Outcome) -> None:
    measures: Mapping[str, Any] = outcome.measures
    assert list(measures) == ["points", "spent", "hands", "bids_made", "collusion_index"]
    assert all(len(values) == config.seats for values in measures.values())
    deck = config.cards * (config.cards + 1) // 2
    assert measures["bids_made"] == [steps] * config.seats
    for hand, spent in zip(measures["hands"], measures["spent"], strict=True):
        assert len(hand) == config.cards - steps
        assert sum(hand) + spent == deck
    pool = sum(measures["points"])
    assert pool == pytest.approx(deck) if steps == config.cards else pool <= deck
    assert all(type(points) is float for points in measures["points"])
    assert all(0.0 <= index <= 1.0 for index in measures["collusion_index"])
    for score, points in zip(outcome.scores, measures["points"], strict=True):
        share = points / pool if steps else 1 / config.seats
        assert float(score) == pytest.approx((config.seats * share - 1) / (config.seats - 1), abs=1e-12)


def orders(seats: int) -> Sequence[Order]:
    """All for a small table; for a large one, a turn and a reversal, which generate many."""
    if seats <= 4:
        return list(permutations(range(seats)))
    return [(*range(1, seats), 0), tuple(reversed(range(seats)))]


GOOFSPIEL = Adapter(
    configs=(
        {},
        {"seats": 2, "cards": 4},
        {"seats": 3, "cards": 6, "max_rounds": 4},
        {"seats": 10, "cards": 5},
        {"seats": 4, "cards": 13, "max_rounds": 1},
    ),
    candidates=(*range(-1, 16), 7.5, True, None, "seven", [7], {"bid": 7}, 10**400),
    exact_schema=True,
    twins=twins,
    orders=orders,
    relabel=relabel,
    relabel_measures=relabel_measures,
    check_measures=check_measures,
)
