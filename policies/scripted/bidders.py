"""The scripted bidders of Goofspiel and Oshi-Zumo: `match` pays what a thing is worth, `hoard` saves for a big push.

Owns their rules, each a pure function of the facts that Goofspiel and Oshi-Zumo give a seat.
All are deterministic, so `match` can stand in for a seat whose own attempts failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from weigh.games.game import Legal, Move
from weigh.policies.scripted.policy import Baseline


def match_prize(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """The card of the prize's rank; without it the cheapest card above, and without any above the highest."""
    hand, prize = _hand(legal), facts["prize"]
    return min((card for card in hand if card >= prize), default=max(hand))


def hoard_cards(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """The lowest card for a prize in the lower half of the deck, the middle one included; else the highest."""
    hand = _hand(legal)
    return min(hand) if facts["prize"] <= (facts["cards"] + 1) // 2 else max(hand)


def match_pushes(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """The purse spread evenly over the pushes still needed, rounded up."""
    seat = facts["seat"]
    return _clamped(-(-facts["coins"][seat] // max(1, facts["pushes_needed"][seat])), legal)


def hoard_coins(facts: Mapping[str, Any], legal: Legal, rng: Random) -> Move:
    """Half the purse, rounded up, when the next lost round loses the match; else the least."""
    seat = facts["seat"]
    return _clamped(-(-facts["coins"][seat] // 2) if facts["pushes_needed"][1 - seat] == 1 else 0, legal)


def _hand(legal: Legal) -> list[int]:
    return [bid for bid in legal if isinstance(bid, int)]


def _clamped(bid: int, legal: Legal) -> int:
    bids = _hand(legal)
    return max(min(bids), min(bid, max(bids)))


GOOFSPIEL: Mapping[str, Baseline] = {"match": Baseline(match_prize), "hoard": Baseline(hoard_cards)}
OSHI_ZUMO: Mapping[str, Baseline] = {"match": Baseline(match_pushes), "hoard": Baseline(hoard_coins)}
