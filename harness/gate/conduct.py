"""How the focal policy of one arm behaved beside its scores: what secondary checks are held against.

Owns the names of these measures, their reading from a run, and their standard errors. Knows neither thresholds nor
verdicts.

Whose moves were judged: the policy's own, or those of the fallback that moves for it after two faults.

Owns the one rule on it. A policy that never answers plays as the fallback does, often as well as its baseline: its
score says nothing of it. Knows rates only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from weigh.harness.audit.measures.registry import diagnostics_of
from weigh.harness.gate.checks import Measures
from weigh.harness.store.usage import latency_of

if TYPE_CHECKING:
    from weigh.harness.config.blocks import Block, Role
    from weigh.harness.store.record import Record
    from weigh.harness.store.store import Store


CHECK: Final = "own_moves"
"""What the rule is called among the checks of a verdict. No measure has this name."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of an arm's moves, 0 to 1; None where they are not known."""

    fallback: float | None = None
    """Made by the fallback after two faults."""
    retry: float | None = None
    """Made at the second attempt, or by the fallback."""


def rates_of(conduct: Mapping[str, float | None]) -> Rates:
    """The rates among an arm's measures."""
    return Rates(conduct.get("fallback_rate"), conduct.get("retry_rate"))


def played_by_fallback(rates: Rates, most: float) -> str | None:
    """Why an arm's score is not its policy's, in words that follow "the arm"; None where it is, or nothing is known.

    An arm without a move of its own never counts, whatever `most` allows.
    """
    if rates.fallback is None or (rates.fallback <= most and rates.fallback < 1):
        return None
    return f"the fallback made {per_cent(rates.fallback)} of its moves (max_fallback_rate {most:g})"


def per_cent(share: float | None) -> str:
    """A share as it is told: `12.5 %`; never 0 or 100 for what is only near it."""
    if share is None:
        return "-"
    for digits in (3, 4, 6, 9):
        text = f"{100 * share:.{digits}g}"
        if float(text) not in (0.0, 100.0) or share in (0.0, 1.0):
            return f"{text} %"
    return f"{100 * share!r} %"


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

GROUPS: Final = 20
"""The most groups of blocks that are left out in turn for a standard error."""

Values: TypeAlias = dict[str, float | None]
Part = TypeVar("Part")


def known_measures(game: str) -> tuple[str, ...]:
    """Every measure a check may name."""
    return (*COMMON, *diagnostics_of(game).meanings)


def conduct_of(store: Store, blocks: Sequence[Block], focal: Role) -> Values:
    """Every measure of the focal policy over its finished episodes in `blocks`; None where nothing was observed."""
    return _measured([_seen(store, block) for block in blocks], focal)


def measures_of(store: Store, blocks: Sequence[Block], focal: Role, wanted: Iterable[str] | None = None) -> Measures:
    """The same with standard errors of the `wanted` measures (of all, unless said otherwise)."""
    parts = [part for part in (_seen(store, block) for block in blocks) if part.records]
    values = _measured(parts, focal)
    names = list(values) if wanted is None else [name for name in dict.fromkeys(wanted) if name in values]
    how = _measured if any(name not in COMMON for name in names) else _common_of
    errors = jackknifed(parts, lambda kept: how(kept, focal), names) if names else {}
    return Measures(values, errors, freedom_of(len(parts)), len(parts))


def freedom_of(blocks: int) -> int:
    """Degrees of freedom of errors over so many blocks."""
    return max(0, min(blocks, GROUPS) - 1)


@dataclass(slots=True)
class _Seen:
    """What one block shows of its focal policy."""

    records: list[Record] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    cost: float = 0.0
    unknown: int = 0
    made: int = 0
    fallbacks: int = 0
    retried: int = 0


def _seen(store: Store, block: Block) -> _Seen:
    seen = _Seen()
    for seat, episode in enumerate(block.episodes):
        record = store.record(episode.key)
        if record is None:
            continue
        seen.records.append(record)
        own = [decision.by for decision in record.decisions if decision.seat == seat]
        seen.made += len(own)
        seen.fallbacks += own.count("fallback")
        seen.retried += own.count("fallback") + own.count("retry")
        used = store.usage(episode.key).get(seat)
        if used is not None:
            seen.cost += used.cost_known_usd
            seen.unknown += used.unknown_cost_calls
            seen.latencies += used.seconds
    return seen


def _measured(parts: Sequence[_Seen], focal: Role) -> Values:
    records = [record for part in parts for record in part.records]
    if not records:
        return {}
    return {**_common_of(parts, focal), **diagnostics_of(records[0].game).diagnose(records).get(focal, {})}


def _common_of(parts: Sequence[_Seen], focal: Role) -> Values:
    episodes, made = sum(len(part.records) for part in parts), sum(part.made for part in parts)
    if not episodes:
        return {}
    latency = latency_of(sorted(latency for part in parts for latency in part.latencies))
    unknown = sum(part.unknown for part in parts)
    return {
        "fallback_rate": sum(part.fallbacks for part in parts) / made if made else None,
        "retry_rate": sum(part.retried for part in parts) / made if made else None,
        "cost_per_episode_usd": None if unknown else sum(part.cost for part in parts) / episodes,
        "latency_p50": latency.p50,
        "latency_p95": latency.p95,
    }


def jackknifed(parts: Sequence[Part], measure: Callable[[list[Part]], Values], names: Sequence[str]) -> Values:
    """Standard errors of measures over independent parts; None where they cannot be had.

    The delete-a-group jackknife (Kott, Journal of Official Statistics 17, 2001): G = up to GROUPS groups, dealt in
    turn; error^2 = (G - 1) / G * sum over groups of (measure without the group - their mean)^2. With a part in each
    group it is the plain jackknife: of a mean, the usual standard error. It takes any measure, medians too where a
    group holds many observations.
    """
    groups = min(len(parts), GROUPS)
    if groups < 2:
        return dict.fromkeys(names)
    without = [measure([part for n, part in enumerate(parts) if n % groups != group]) for group in range(groups)]
    return {name: _spread([values.get(name) for values in without]) for name in names}


def _spread(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    mean = sum(known) / len(known)
    return sqrt((len(known) - 1) / len(known) * sum((value - mean) ** 2 for value in known))
