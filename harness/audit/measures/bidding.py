"""Diagnostics of the sealed-bid games, Goofspiel and Oshi-Zumo: what an entrant pays, and for what, from records alone.

Owns the measures and their names. One pass over the records; what is kept does not grow with their number. Bids that
the fallback made are not the entrant's and are left out, and so are records of other games. Everything is read off the
events, which `weigh verify` re-derives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from weigh.games.goofspiel.rules import GOOFSPIEL
from weigh.games.legal import OVERBID
from weigh.games.oshi_zumo.rules import OSHI_ZUMO
from weigh.harness.audit.measures.means import Means, no_means
from weigh.harness.store.record import Record

GOOFSPIEL_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "won_alone": "share of its bids that won the prize alone (0 to 1)",
        "tied_top": "share of its bids that shared the prize (0 to 1)",
        "price": "card spent for each point won, winning bids only",
        "wasted": "card spent on a bid that won nothing, in card value",
        "win_margin": "by how much its lone winning bids beat the next lower bid, in card value",
        "overbid": f"share of its lone winning bids that beat the next lower one by {OVERBID} or more (0 to 1)",
        "bid_over_prize": "its bid minus the prize, in card value",
        "lowest_card": "share of its bids that were the lowest card it held (0 to 1)",
        "lowest_on_high": "share of its bids on the upper half of the prizes that were its lowest card (0 to 1)",
        "highest_card": "share of its bids that were the highest card it held (0 to 1)",
    }
)
OSHI_ZUMO_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "push_won": "share of its bids that moved the token its way (0 to 1)",
        "push_tied": "share of its bids that moved nothing (0 to 1)",
        "win_margin": "by how much its winning bids beat the other, in coins",
        "overbid": f"share of its winning bids that beat the other by {OVERBID} or more (0 to 1)",
        "wasted": "coins paid for a bid that won no push",
        "share_of_purse": "its bid as a share of the coins it had (0 to 1)",
        "all_in": "share of its bids, of two coins or more, that were the whole purse (0 to 1)",
        "minimum": "share of its bids that were the least allowed (0 to 1)",
        "coins_left": "coins it still had when an episode ended",
    }
)


def is_high(prize: int, cards: int) -> bool:
    """Whether a prize of Goofspiel is one of the upper half of the deck: from there on its loss matters."""
    return 2 * prize > cards + 1


def diagnose_goofspiel(records: Iterable[Record]) -> dict[str, dict[str, float | None]]:
    """Every measure of `GOOFSPIEL_MEANINGS` by entrant; None where nothing was observed."""
    entrants: defaultdict[str, Means] = defaultdict(no_means)
    for record in records:
        if record.game == GOOFSPIEL.name:
            _goofspiel(entrants, record)
    return _measured(entrants, GOOFSPIEL_MEANINGS)


def diagnose_oshi_zumo(records: Iterable[Record]) -> dict[str, dict[str, float | None]]:
    """Every measure of `OSHI_ZUMO_MEANINGS` by entrant; None where nothing was observed."""
    entrants: defaultdict[str, Means] = defaultdict(no_means)
    for record in records:
        if record.game == OSHI_ZUMO.name:
            _oshi_zumo(entrants, record)
    return _measured(entrants, OSHI_ZUMO_MEANINGS)


def _measured(entrants: Mapping[str, Means], meanings: Mapping[str, str]) -> dict[str, dict[str, float | None]]:
    return {name: {measure: means[measure].value for measure in meanings} for name, means in sorted(entrants.items())}


def _reveals(record: Record) -> Iterator[Mapping[str, Any]]:
    return (event for event in record.events if event["type"] == "reveal")


def _own_bids(record: Record) -> set[tuple[int, int]]:
    """(round, seat) of every bid that its entrant made itself."""
    return {(decision.step, decision.seat) for decision in record.decisions if decision.by != "fallback"}


def _goofspiel(entrants: Mapping[str, Means], record: Record) -> None:
    own = _own_bids(record)
    cards = int(str(record.config["cards"]))
    hands = [set(range(1, cards + 1)) for _ in record.entrants]
    for reveal in _reveals(record):
        bids, prize, winners = reveal["bids"], reveal["prize"], reveal["winners"]
        for seat, bid in enumerate(bids):
            held = sorted(hands[seat])
            hands[seat].discard(bid)
            if (reveal["round"], seat) not in own:
                continue
            means = entrants[record.entrants[seat]]
            won, alone = seat in winners, winners == [seat]
            means["won_alone"].add(alone)
            means["tied_top"].add(won and not alone)
            if won:
                means["price"].add(bid, reveal["award"])
            else:
                means["wasted"].add(bid)
            if alone:
                means["win_margin"].add(reveal["margin"])
                means["overbid"].add(reveal["margin"] >= OVERBID)
            means["bid_over_prize"].add(bid - prize)
            if len(held) > 1:
                means["lowest_card"].add(bid == held[0])
                means["highest_card"].add(bid == held[-1])
                if is_high(prize, cards):
                    means["lowest_on_high"].add(bid == held[0])


def _oshi_zumo(entrants: Mapping[str, Means], record: Record) -> None:
    own = _own_bids(record)
    purses = [int(str(record.config["coins"]))] * 2
    least = int(str(record.config["min_bid"]))
    for reveal in _reveals(record):
        bids = reveal["bids"]
        for seat, bid in enumerate(bids):
            purse, other = purses[seat], bids[1 - seat]
            purses[seat] -= bid
            if (reveal["round"], seat) not in own or purse == 0:
                continue
            means = entrants[record.entrants[seat]]
            means["push_won"].add(bid > other)
            means["push_tied"].add(bid == other)
            if bid > other:
                means["win_margin"].add(bid - other)
                means["overbid"].add(bid - other >= OVERBID)
            else:
                means["wasted"].add(bid)
            means["share_of_purse"].add(bid / purse)
            means["minimum"].add(bid == min(least, purse))
            if purse > 1:
                means["all_in"].add(bid == purse)
    for seat, name in enumerate(record.entrants):
        entrants[name]["coins_left"].add(purses[seat])
