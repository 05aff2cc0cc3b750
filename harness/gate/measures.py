"""How the policy of one arm behaved next to its score, and the secondary checks of a gate on it.

Owns the names of these measures, their reading from a run and their standard errors; the one rule on whose moves were
judged; thresholds, and what becomes of them. Checks are never averaged with the score or with each other, and never
passed for want of data.

A policy that never answers plays as the fallback does, often as well as its baseline: its score says nothing of it.

Checks are no sequential test. `max` and `min` hold the measured value itself against the threshold and have no error
rate. `max_increase` and `max_decrease` fail when the change is beyond the threshold by a one-sided 95 % bound clustered
by block, pass when the measured change is within it, and are inconclusive in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from weigh.harness.audit.measures.registry import diagnostics_of
from weigh.harness.stats.clustered import LEAST_ALIKE, at_most
from weigh.harness.stats.power import LEVEL
from weigh.harness.store.usage import latency_of
from weigh.harness.words import share

if TYPE_CHECKING:
    from weigh.harness.config.blocks import Block, Role
    from weigh.harness.store.record import Record
    from weigh.harness.store.store import Store


@dataclass(frozen=True, slots=True)
class Measures:
    """What one arm showed in its blocks, by the name of the measure."""

    values: Mapping[str, float | None] = field(default_factory=dict)
    """None where nothing was observed."""
    errors: Mapping[str, float | None] = field(default_factory=dict)
    """Standard errors, clustered by block; None or missing where there is none."""
    freedom: int = 0
    """Degrees of freedom of these errors."""
    blocks: int = 0
    """What they were measured over."""


CHECK: Final = "own_moves"
"""What the rule is called among the checks of a verdict. No measure has this name."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of an arm's moves, 0 to 1; None where they are not known."""

    fallback: float | None = None
    """Made by the fallback after two faults."""
    retry: float | None = None
    """Made at the second attempt, or by the fallback."""


def rates_of(measures: Mapping[str, float | None]) -> Rates:
    """The rates among an arm's measures."""
    return Rates(measures.get("fallback_rate"), measures.get("retry_rate"))


def played_by_fallback(rates: Rates, most: float) -> str | None:
    """Why an arm's score is not its policy's, in words that follow "the arm"; None where it is, or nothing is known.

    An arm without a move of its own never counts, whatever `most` allows.
    """
    if rates.fallback is None or (rates.fallback <= most and rates.fallback < 1):
        return None
    return f"the fallback made {share(rates.fallback)} of its moves (max_fallback_rate {most:g})"


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


def reliability_of(store: Store, blocks: Sequence[Block], focal: Role) -> Values:
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


Checked: TypeAlias = Literal["pass", "regression", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Check:
    """A measure and where it must lie. None bounds nothing; a value on a bound passes."""

    measure: str
    max: float | None = None
    min: float | None = None
    max_increase: float | None = None
    """Over the baseline's value."""
    max_decrease: float | None = None
    """Below the baseline's value."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check came to."""

    measure: str
    verdict: Checked
    value: float | None
    """The candidate's."""
    baseline: float | None
    low: float | None
    """The least value that passes; None for no bound."""
    high: float | None
    reason: str
    """One line."""
    change_bound: float | None = None
    """Of a change beyond what is allowed: the least increase, or the greatest (negative) decrease, that is sure at one-
    sided 95 %."""
    blocks: int = 0
    """What the candidate was measured over."""


def run_checks(checks: Sequence[Check], candidate: Measures, baseline: Measures) -> tuple[CheckResult, ...]:
    """Every check, in order."""
    return tuple(_run(check, candidate, baseline) for check in checks)


def _run(check: Check, mine: Measures, theirs: Measures) -> CheckResult:
    value, before = mine.values.get(check.measure), theirs.values.get(check.measure)
    relative = check.max_increase is not None or check.max_decrease is not None
    lows = [check.min, None if before is None or check.max_decrease is None else before - check.max_decrease]
    highs = [check.max, None if before is None or check.max_increase is None else before + check.max_increase]
    low = max((bound for bound in lows if bound is not None), default=None)
    high = min((bound for bound in highs if bound is not None), default=None)

    def came_to(verdict: Checked, reason: str, bound: float | None = None) -> CheckResult:
        return CheckResult(check.measure, verdict, value, before, low, high, reason, bound, mine.blocks)

    if value is None:
        return came_to("inconclusive", "nothing was observed")
    if check.min is not None and not at_most(-value, -check.min):
        return came_to("regression", f"{value:.4g} is below {check.min:.4g}")
    if check.max is not None and not at_most(value, check.max):
        return came_to("regression", f"{value:.4g} is above {check.max:.4g}")
    if relative and before is None:
        return came_to("inconclusive", "the baseline has no value to compare with")
    sides = (("above", 1, high, check.max_increase), ("below", -1, low, check.max_decrease))
    for side, sign, bound, allowed in sides:
        if before is None or bound is None or allowed is None or at_most(sign * (value - before), allowed, value):
            continue
        sure = _sure_change(check.measure, sign * (value - before), mine, theirs)
        told = f"{value:.4g} is {side} {bound:.4g}"
        if sure is not None and sure > allowed:
            change = "increase" if sign > 0 else "decrease"
            return came_to("regression", f"{told} ({change} of {sure:.4g} or more, one-sided 95 %)", sign * sure)
        reason = f"{told}, but {mine.blocks} blocks do not show it (one-sided 95 % bound, clustered by block)"
        return came_to("inconclusive", reason, None if sure is None else sign * sure)
    return came_to("pass", f"{value:.4g} is within {_span(low, high)}")


def _sure_change(measure: str, change: float, mine: Measures, theirs: Measures) -> float | None:
    """The one-sided lower bound of a change for the worse; None where blocks are too few for one.

    change - t * error, with both arms' errors as if independent (pairing would make them smaller) and the smaller of
    their degrees of freedom. A baseline whose errors are not known counts as known exactly.
    """
    from scipy import stats

    error, before = mine.errors.get(measure), theirs.errors.get(measure)
    if error is None or mine.freedom < 1:
        return None
    freedom = mine.freedom
    if before is not None and not at_most(before, 0.0, error) and theirs.freedom >= 1:
        error, freedom = (error**2 + before**2) ** 0.5, min(freedom, theirs.freedom)
    if at_most(error, 0.0, change):
        return change if mine.blocks >= LEAST_ALIKE else None
    return change - float(stats.t.isf(LEVEL, freedom)) * error


def _span(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high:.4g}"
    return f"at least {low:.4g}" if high is None else f"{low:.4g} to {high:.4g}"
