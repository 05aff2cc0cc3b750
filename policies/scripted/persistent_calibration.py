"""The scripted players of Persistent Calibration: `spread` fills light sides, `loyal` never looks, `absent` is away.

Owns their rules, each a pure function of the facts that `games.persistent_calibration.view` gives a seat. All are
deterministic. The seat's number sets them apart: players of one kind would otherwise all choose the same side, and in
this game a crowd makes its own side the heavy one.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from weigh.games.game import Legal, Move
from weigh.games.persistent_calibration.moves import PLACES, Place, Placement, across, scale_of, side_of
from weigh.policies.scripted.policy import Baseline

_SHARED = 3
"""The best candidates are shared out among the seats, up to this many."""

_TURN = 5
"""By so many places the order of the sides is turned from one seat to the next."""


def spread(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """A weight on a side that stays the lighter one with it, going by the totals of the last round.

    First round: the smallest weight on side number seat mod 6. Later every weight and side are candidates that leave a
    lead, the other side's total less this side's and the weight: larger leads first, then larger weights, then the
    order of the sides, turned by 5 places for each seat. The seat takes candidate number seat mod 3, or modulo their
    number where there are fewer. Without any, the smallest weight on the side with the largest lead.
    """
    seat, hand = facts["seat"], facts["hand"]
    if facts["round"] == 0:
        return _put(min(hand), seat % len(PLACES))
    leads = {place: _total(facts, across(place)) - _total(facts, place) for place in PLACES}
    turned = [(_TURN * seat + place) % len(PLACES) for place in PLACES]
    candidates = sorted(
        ((weight, place) for weight in hand for place in PLACES if leads[place] > weight),
        key=lambda each: (each[0] - leads[each[1]], -each[0], turned.index(each[1])),
    )
    if candidates:
        return _put(*candidates[seat % min(_SHARED, len(candidates))])
    return _put(min(hand), max(turned, key=lambda place: leads[place]))


def loyal(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """Always side number seat mod 6, the heaviest weight first."""
    return _put(max(facts["hand"]), facts["seat"] % len(PLACES))


def absent(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """No submission: what the rules do with a seat that made no legal move."""
    return None


def _put(weight: int, place: Place) -> Move:
    return Placement(place, weight, 0).to_json()


def _total(facts: Mapping[str, Any], place: Place) -> int:
    total: int = facts["totals"][scale_of(place)][side_of(place)]
    return total


PERSISTENT_CALIBRATION: Mapping[str, Baseline] = {
    "spread": Baseline(spread),
    "loyal": Baseline(loyal),
    "absent": Baseline(absent, stands_aside=True),
}
