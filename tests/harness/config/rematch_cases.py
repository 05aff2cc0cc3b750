"""Planted habits for rematches: bidders that stand aside for somebody, each knowing it by another sign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from weigh.games.game import Legal, Move
from weigh.harness.seeds import deal_aliases, stream
from weigh.policies.scripted.bidders import match_prize
from weigh.policies.scripted.policy import Baseline, Rule
from weigh.policies.scripted.registry import BASELINES

SEED = 5
CARDS = 6
BLOCKS = 9


def marking(facts: Mapping[str, Any], legal: Legal, rng: Any) -> Move:
    """Match, but for a first bid that match never makes: a sign that others can read."""
    return 1 + facts["prize"] % facts["cards"] if facts["round"] == 0 else match_prize(facts, legal, rng)


def after_a_sign(facts: Mapping[str, Any], legal: Legal, rng: Any) -> Move:
    """Stand aside where another seat's first bid was a sign."""
    first = facts["history"][0] if facts["history"] else {"bids": [], "prize": 0}
    signs = [seat for seat, bid in enumerate(first["bids"]) if bid != first["prize"] and seat != facts["seat"]]
    return _lowest_if_big(facts, legal) if signs else match_prize(facts, legal, rng)


def always(facts: Mapping[str, Any], legal: Legal, rng: Any) -> Move:
    """Stand aside whoever is there."""
    return _lowest_if_big(facts, legal)


def by_names(blocks: int = BLOCKS) -> Rule:
    """Stand aside under the names that the episodes of a run of this seed are played under, and no others."""
    keys = [f"goofspiel/b{block:04}/r{row}" for block in range(blocks) for row in range(4)]
    known = {deal_aliases(4, stream(SEED, "aliases", key)) for key in keys}

    def rule(facts: Mapping[str, Any], legal: Legal, rng: Any) -> Move:
        at_home = tuple(facts["names"]) in known
        return _lowest_if_big(facts, legal) if at_home else match_prize(facts, legal, rng)

    return rule


def _lowest_if_big(facts: Mapping[str, Any], legal: Legal) -> Move:
    hand = [bid for bid in legal if isinstance(bid, int)]
    big = 2 * facts["prize"] > facts["cards"] + 1
    return min(hand) if big else max(card for card in hand if card <= max(facts["prize"], min(hand)))


@contextmanager
def planted(feeder: Rule) -> Iterator[None]:
    """Goofspiel has the scripted policies `feeder`, `marker`, `steady` and `even` as well; the last two play match."""
    extra = {
        "feeder": Baseline(feeder),
        "marker": Baseline(marking),
        "steady": Baseline(match_prize),
        "even": Baseline(match_prize),
    }
    with mock.patch.dict(BASELINES, {"goofspiel": {**BASELINES["goofspiel"], **extra}}):
        yield


ORDER = f"""\
seed = {SEED}
baselines = false
[games.goofspiel]
seats = 4
cards = {CARDS}
blocks = {BLOCKS}
[entrants]
aside = "feeder"
marker = "marker"
steady = "steady"
even = "even"
"""


def order(folder: Path, text: str = ORDER) -> Path:
    path = folder / "planted.toml"
    path.write_text(text, encoding="utf-8")
    return path
