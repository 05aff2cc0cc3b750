"""How the focal policy of one arm behaved beside its scores: what secondary checks are held against.

Owns the names of these measures and their reading from a run. Knows neither thresholds nor verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from harness.accounts import latency_of
from harness.diagnostics import diagnostics_of

if TYPE_CHECKING:
    from harness.gate.field import Block, Role
    from harness.store import Store

COMMON: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fallback_rate": "share of its moves that the fallback made after two faults (0 to 1)",
        "retry_rate": "share of its moves that took a second attempt, fallbacks included (0 to 1)",
        "cost_per_episode_usd": "US dollars of an episode, failed calls included",
        "latency_p50": "seconds of the median answered call",
        "latency_p95": "seconds that one answered call in twenty takes longer than",
    }
)
"""What each measure says that every game has."""


def known_measures(game: str) -> tuple[str, ...]:
    """Every measure a check may name."""
    return (*COMMON, *diagnostics_of(game).meanings)


def conduct_of(store: Store, blocks: Sequence[Block], focal: Role) -> dict[str, float | None]:
    """Every measure of the focal policy over its finished episodes in `blocks`; None where nothing was observed."""
    records = []
    latencies: list[float] = []
    cost, unknown, made, fallbacks, retried = 0.0, 0, 0, 0, 0
    for block in blocks:
        for seat, episode in enumerate(block.episodes):
            record = store.record(episode.key)
            if record is None:
                continue
            records.append(record)
            own = [decision.by for decision in record.decisions if decision.seat == seat]
            made += len(own)
            fallbacks += own.count("fallback")
            retried += own.count("fallback") + own.count("retry")
            spent = store.spending(episode.key).get(seat)
            if spent is not None:
                cost += spent.cost
                unknown += spent.unknown_cost
                latencies += store.seat_latencies(episode.key).get(seat, [])
    if not records:
        return {}
    latency = latency_of(sorted(latencies))
    common = {
        "fallback_rate": fallbacks / made if made else None,
        "retry_rate": retried / made if made else None,
        "cost_per_episode_usd": None if unknown else cost / len(records),
        "latency_p50": latency.p50,
        "latency_p95": latency.p95,
    }
    return {**common, **diagnostics_of(records[0].game).diagnose(records).get(focal, {})}
