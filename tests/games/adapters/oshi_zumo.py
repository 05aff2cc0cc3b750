"""Oshi-Zumo for the conformance suite: nothing is hidden, and swapping the seats mirrors the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.games.adapters.adapter import Adapter, Order, Steps, permuted
from weigh.games.game import Deal, Outcome
from weigh.games.oshi_zumo.rules import OshiZumoConfig


def relabel(config: OshiZumoConfig, deal: Deal, steps: Steps, order: Order) -> tuple[Deal, Steps]:
    return deal, [permuted(step, order) for step in steps]


def relabel_measures(config: OshiZumoConfig, measures: Mapping[str, Any], order: Order) -> Mapping[str, Any]:
    return {
        "points": permuted(measures["points"], order),
        "spent": permuted(measures["spent"], order),
        "coins": permuted(measures["coins"], order),
        "position": 2 * config.size - measures["position"],
        "collusion_index": None,
    }


def check_measures(config: OshiZumoConfig, steps: int, outcome: Outcome) -> None:
    measures: Mapping[str, Any] = outcome.measures
    assert list(measures) == ["points", "spent", "coins", "position", "collusion_index"]
    for spent, coins in zip(measures["spent"], measures["coins"], strict=True):
        assert spent + coins == config.coins
        assert coins >= 0
    off = measures["position"] in (-1, 2 * config.size + 1)
    assert off == (outcome.ending == "pushout")
    assert off or 0 <= measures["position"] <= 2 * config.size
    assert abs(measures["position"] - config.size) <= steps
    assert (outcome.ending == "coins-exhausted") <= (measures["coins"] == [0, 0])
    assert measures["points"] == [(1 + float(score)) / 2 for score in outcome.scores]
    assert measures["collusion_index"] is None


def orders(seats: int) -> Sequence[Order]:
    return [(1, 0)]


OSHI_ZUMO = Adapter(
    configs=(
        {},
        {"coins": 4, "size": 1},
        {"coins": 10, "size": 5, "min_bid": 0},
        {"coins": 11, "size": 2, "min_bid": 2},
        {"coins": 50, "max_rounds": 3},
        {"coins": 6, "min_bid": 0, "max_rounds": 12},
    ),
    candidates=(*range(-1, 23), 50, 7.5, False, None, "seven", [7], {"bid": 7}, 10**400),
    exact_schema=True,
    twins=None,
    orders=orders,
    relabel=relabel,
    relabel_measures=relabel_measures,
    check_measures=check_measures,
)
