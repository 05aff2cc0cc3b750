"""Half-Hearted Step for the conformance suite: nothing is hidden; seats that change places take priority with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.games.adapters.adapter import Adapter, Order, permuted
from tests.games.adapters.adapter import Steps as Rows
from weigh.games.game import Deal, Legal, Outcome
from weigh.games.half_hearted_step.moves import AuctionBids, Steps, answered
from weigh.games.half_hearted_step.rules import HalfHeartedStepConfig


def relabel(config: HalfHeartedStepConfig, deal: Deal, steps: Rows, order: Order) -> tuple[Deal, Rows]:
    priority: Any = deal["priority"]
    return {**deal, "priority": order.index(priority)}, [permuted(step, order) for step in steps]


def relabel_measures(config: HalfHeartedStepConfig, measures: Mapping[str, Any], order: Order) -> Mapping[str, Any]:
    auction = measures["auction"]
    return {
        **measures,
        "points": permuted(measures["points"], order),
        "lives": permuted(measures["lives"], order),
        "holder": order.index(measures["holder"]),
        "auction": {**auction, "calls": [{**call, "seat": order.index(call["seat"])} for call in auction["calls"]]},
    }


def check_measures(config: HalfHeartedStepConfig, steps: int, outcome: Outcome) -> None:
    measures: Mapping[str, Any] = outcome.measures
    assert list(measures) == [
        *("points", "lives", "threshold", "holder", "position", "visited", "lead", "auction", "turns")
    ]
    visited, lost = measures["visited"], 2 * config.lives - sum(measures["lives"])
    assert visited[0] == [config.size // 2] * 2
    assert measures["position"] in visited
    assert len({tuple(square) for square in visited}) == len(visited)
    assert measures["turns"] == len(visited) - 1 + lost
    assert measures["turns"] <= steps
    bids = [call["bid"] for call in measures["auction"]["calls"]]
    assert bids == sorted(set(bids))
    assert all(abs(bid) <= config.bid_limit for bid in bids)
    holder, lead = measures["holder"], measures["lead"]
    assert (holder is None) == (measures["threshold"] is None) == (measures["auction"]["closed_by"] is None)
    if lead is None:
        assert measures["turns"] == 0
        assert outcome.scores == (0, 0)
    else:
        assert lead == measures["points"][holder] - measures["points"][1 - holder]
        assert outcome.scores[holder] == (1 if lead >= measures["threshold"] else -1)
    assert (outcome.ending == "lives-spent") == (lost == 2 * config.lives)


def orders(seats: int) -> Sequence[Order]:
    return [(1, 0)]


def answer(legal: Legal, candidate: Any) -> Any:
    if isinstance(legal, AuctionBids):
        return {"bid": candidate}
    return answered(legal.axis, candidate) if isinstance(legal, Steps) and type(candidate) is int else candidate


HALF_HEARTED_STEP = Adapter(
    configs=(
        {},
        {"size": 3, "lives": 1, "bid_limit": 1, "auction_rounds": 2},
        {"size": 5, "lives": 2, "bid_limit": 6, "auction_rounds": 3},
        {"size": 11, "lives": 9, "bid_limit": 40},
    ),
    candidates=(
        *range(-4, 5),
        *(-1000, -999, 40, 41, 999, 1000, 10**400, 7.5, True, None),
        *("pass", "PASS", "stay", "left", "1", "seven"),
        *([1], {}, {"bid": 1}, {"pass": True}, {"direction": "left", "distance": 1}, {"direction": "stay"}),
        *({"active": "me", "axis": "horizontal"}, {"active": "Me", "axis": "vertical"}, {"active": "me"}),
    ),
    exact_schema=False,
    twins=None,
    orders=orders,
    relabel=relabel,
    relabel_measures=relabel_measures,
    check_measures=check_measures,
    answer=answer,
)
