"""Persistent Calibration for the conformance suite: seats relabelled, and secrets that two seats exchange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from random import Random
from typing import Any

from tests.games.adapters.adapter import Adapter, Order, Steps, permuted
from weigh.games.game import AnyGame, Deal, Legal, Move, Outcome, Seat, State
from weigh.games.persistent_calibration.rules import PersistentCalibrationConfig


def put(scale: Any, side: Any, weight: Any, modify: Any = 0) -> dict[str, Any]:
    return {"scale": scale, "side": side, "weight": weight, "modify": modify}


def twins(
    game: AnyGame, config: PersistentCalibrationConfig, rng: Random
) -> Iterator[tuple[State, State, Sequence[Seat]]]:
    """Two seats that use the same side in every round, and who played which of the two ways exchanged.

    At a table of two there is one secret that the totals do not give away: which weight a garnet was spent on.
    """
    if config.seats == 2:
        yield from _which_weight(game, config)
        return
    one, other = rng.sample(range(config.seats), 2)
    states = [game.start(config, {})] * 2
    for _ in range(game.longest(config) - 1):
        moves = {seat: states[0].legal(seat).sample(rng) for seat in sorted(states[0].to_act)}
        if rng.random() < 0.2:
            moves[one] = moves[other] = None
        else:
            side = rng.choice(["left", "right"])
            moves |= {seat: _on(side, states[0].legal(seat), rng) for seat in (one, other)}
        swapped = {**moves, one: moves[other], other: moves[one]}
        states = [states[0].play(moves), states[1].play(swapped)]
        if states[0] != states[1]:
            yield states[0], states[1], [seat for seat in range(config.seats) if seat not in (one, other)]


def _on(side: str, legal: Legal, rng: Random) -> Move:
    return rng.choice([move for move in legal if isinstance(move, dict) and move["side"] == side])


def _which_weight(game: AnyGame, config: PersistentCalibrationConfig) -> Iterator[tuple[State, State, Sequence[Seat]]]:
    start = game.start(config, {})
    ways = (
        [put("A", "left", 3), put("C", "right", 1), put("C", "left", 2, 1)],
        [put("A", "left", 2, 1), put("C", "right", 1), put("C", "left", 3)],
    )
    states: list[State] = [start, start]
    for pair in zip(*ways, strict=True):
        states = [
            state.play({0: put("B", "left", min(state.legal(0).hand)), 1: move})  # type: ignore[attr-defined]
            for state, move in zip(states, pair, strict=True)
        ]
        yield states[0], states[1], [0]


def relabel(config: PersistentCalibrationConfig, deal: Deal, steps: Steps, order: Order) -> tuple[Deal, Steps]:
    return deal, [permuted(step, order) for step in steps]


def relabel_measures(
    config: PersistentCalibrationConfig, measures: Mapping[str, Any], order: Order
) -> Mapping[str, Any]:
    told: dict[str, Any] = {"totals": measures["totals"]}
    for name in ("winners", "elimination_candidates"):
        told[name] = [place for place, seat in enumerate(order) if seat in measures[name]]
    for name in measures.keys() - told.keys():
        told[name] = permuted(measures[name], order)
    return told


def check_measures(config: PersistentCalibrationConfig, steps: int, outcome: Outcome) -> None:
    measures: Mapping[str, Any] = outcome.measures
    assert list(measures) == [
        "points",
        "totals",
        "tokens_of_life",
        "elimination_candidates",
        "winners",
        "garnets_earned",
        "garnets_final",
        "share_score",
        "points_by_round",
    ]
    points, garnets = measures["points"], config.starting_garnets
    assert len(points) == config.seats
    assert all(len(own) == steps for own in measures["points_by_round"])
    assert points == list(map(sum, measures["points_by_round"]))
    assert all(0 <= own <= (63 if garnets else 46) for own in points)
    assert measures["garnets_earned"] == [own // 6 for own in points]
    assert all(
        final >= earned for final, earned in zip(measures["garnets_final"], measures["garnets_earned"], strict=True)
    )
    assert measures["winners"] == [seat for seat, own in enumerate(points) if own == max(points)]
    assert measures["elimination_candidates"] == [seat for seat, own in enumerate(points) if own == min(points)]
    each = {1: 4, 2: 2}.get(len(measures["winners"]), 1)
    assert measures["tokens_of_life"] == [each * (seat in measures["winners"]) for seat in range(config.seats)]
    assert abs(sum(measures["share_score"])) < 1e-12
    assert set(measures["totals"]) == {"A", "B", "C"}
    lying = sum(map(sum, measures["totals"].values()))
    assert steps * config.seats <= lying <= 3 * steps * config.seats
    for own, score in zip(points, outcome.scores, strict=True):
        beaten, beating = sum(own > other for other in points), sum(own < other for other in points)
        assert score * (config.seats - 1) == beaten - beating


def orders(seats: int) -> Sequence[Order]:
    """All for a small table; for a large one, a turn and a reversal, which generate many."""
    if seats <= 4:
        return list(permutations(range(seats)))
    return [(*range(1, seats), 0), tuple(reversed(range(seats)))]


def answer(legal: Legal, candidate: Any) -> Any:
    """Without the modify of 0 where an answer is not asked for one."""
    if isinstance(candidate, dict) and "modify" not in legal.answer.schema and candidate.get("modify") == 0:
        return {key: value for key, value in candidate.items() if key != "modify"}
    return candidate


PERSISTENT_CALIBRATION = Adapter(
    configs=(
        {},
        {"seats": 2, "starting_garnets": 2},
        {"seats": 3, "starting_garnets": 3, "max_garnets_per_round": 1},
        {"seats": 4},
        {"seats": 5, "starting_garnets": 99},
        {"seats": 26, "starting_garnets": 1, "max_garnets_per_round": 0},
    ),
    candidates=(
        *(put(scale, side, weight) for scale in "ABC" for side in ("left", "right") for weight in (1, 2, 3)),
        *(put("B", "left", weight, modify) for weight in (1, 2, 3) for modify in (-3, -2, -1, 1, 2, 3)),
        *(put("A", "left", 0), put("A", "left", 4), put("A", "left", 4, -1), put("A", "left", -1, 2)),
        *(put("D", "left", 1), put("a", "left", 1), put("A", "Left", 1), put("A", "middle", 1), put("", "", 1)),
        *(put("A", "left", 1.0), put("A", "left", True), put("A", "left", "1"), put("A", "left", 1, 0.0)),
        *(put("A", "left", 1, None), put("A", "left", 1, False), put(["A"], "left", 1), put("A", {}, 1)),
        *({"scale": "A", "side": "left", "weight": 1}, {**put("A", "left", 1), "garnets": 0}),
        *({"scale": "A", "side": "left", "modify": 0}, {}, None, 1, "AL1", ["A", "left", 1, 0], [], 10**400),
    ),
    exact_schema=False,
    twins=twins,
    orders=orders,
    relabel=relabel,
    relabel_measures=relabel_measures,
    check_measures=check_measures,
    answer=answer,
)
