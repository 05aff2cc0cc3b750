"""What a run's limits make of a plan: how long it takes at the least, and whether a limit stops it before its end.

No order of play beats the least time, the largest of several bounds. `L` is the mean latency of a model's calls, `r`
its share of second attempts.

    chain       an episode's steps follow each other; a step takes the slowest of the models in it: sum of max L (1 + r)
    longest     the longest chain of any episode
    in flight   the chains of all episodes together, over `episodes_in_flight`
    slots       a model's calls times L, over its `concurrency`
    rates       what a model's calls count for, through the buckets that keep the limits a minute
    (`harness.run.concurrency`)

Left out, so that the run takes longer: the slow start of slots, waits for a provider, timeouts, voids, the harness.
A limit counts all invocations; that in seconds, one. Knows no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.config.sections import Limits
from weigh.harness.planning.estimates import Estimate, Span, plain
from weigh.harness.planning.pilots import Pilot
from weigh.harness.providers.endpoints.endpoints import Endpoint
from weigh.harness.stats.clustered import at_most

Kind: TypeAlias = Literal["longest_episode", "episodes_in_flight", "slots", "requests_per_minute", "tokens_per_minute"]

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound of the time from below."""

    kind: Kind
    model: str | None
    """None for those of the run as a whole."""
    seconds: float

    def to_json(self) -> dict[str, Json]:
        return {"kind": self.kind, "model": self.model, "seconds": plain(self.seconds)}


@dataclass(frozen=True, slots=True)
class Load:
    """What one model is asked in all."""

    endpoint: Endpoint
    calls: float
    seconds: float
    """Latencies added up."""
    at_cap: float
    """Tokens as the limits count them: prompts and output caps."""


def least_time(chains: Sequence[float], in_flight: int, loads: Sequence[Load]) -> tuple[Bound, ...]:
    """Every bound, the largest first, which is the least time. `chains`: seconds of every episode left to play."""
    bounds = []
    if any(chains):
        bounds.append(Bound("longest_episode", None, max(chains)))
        bounds.append(Bound("episodes_in_flight", None, sum(chains) / in_flight))
    for one in loads:
        name, endpoint = one.endpoint.name, one.endpoint
        bounds.append(Bound("slots", name, one.seconds / endpoint.concurrency))
        if endpoint.requests_per_minute is not None:
            unit = min(1.0, _size(endpoint.requests_per_minute))
            seconds = through(one.calls * unit, endpoint.requests_per_minute)
            bounds.append(Bound("requests_per_minute", name, seconds))
        if endpoint.tokens_per_minute is not None:
            # A call larger than a minute's limit counts as the whole limit.
            counted = min(one.at_cap, one.calls * endpoint.tokens_per_minute)
            bounds.append(Bound("tokens_per_minute", name, through(counted, endpoint.tokens_per_minute)))
    return tuple(sorted(bounds, key=lambda bound: -bound.seconds))


def chain_seconds(pilots: Sequence[Pilot], seconds: Sequence[float]) -> float:
    """The expected chain of an episode whose seats' decisions take `seconds` each (0 for a scripted seat).

    The mean over the pilots of its game; 0 without pilots.
    """
    if not pilots or not any(seconds):
        return 0.0
    return fmean(sum(max(seconds[seat] for seat in acting) for acting in pilot.acting) for pilot in pilots)


def through(amount: float, rate: float) -> float:
    """Seconds until `amount` went through a bucket that keeps `rate` a minute: its size at once, then what leaks."""
    size = _size(rate)
    leak = (rate - size if rate / 4 >= 1.0 else rate) / MINUTE
    return max(0.0, amount - size) / leak


def _size(rate: float) -> float:
    """What the bucket holds: a quarter of the minute's rate, but a whole call where that is less than one."""
    return rate / 4 if rate / 4 >= 1.0 else min(1.0, rate)


Verdict: TypeAlias = Literal["stops", "likely", "may", "holds", "unknown"]
"""The least that is needed is above the limit; what is expected is; the most is; nothing is; nobody can tell, for a
price is not known."""


@dataclass(frozen=True, slots=True)
class Check:
    """One limit against what is needed."""

    limit: str
    """The key in [limits]."""
    value: float
    spent: float
    """By earlier invocations."""
    needed: Span
    """By what is left."""
    verdict: Verdict

    def to_json(self) -> dict[str, Json]:
        return {
            "limit": self.limit,
            "value": plain(self.value),
            "spent": plain(self.spent),
            "needed": self.needed.to_json(),
            "verdict": self.verdict,
        }


def limit_checks(
    limits: Limits, needed: Estimate, least_seconds: float, calls: int = 0, tokens: int = 0, usd: float = 0.0
) -> Iterator[Check]:
    """One for each limit that is set. `calls`, `tokens` and `usd` are what earlier invocations spent."""
    # The least is all that is known of the time: nothing bounds it from above.
    time = Span(least_seconds, None, least_seconds)
    wanted: tuple[tuple[str, float | None, float, Span], ...] = (
        ("max_calls", limits.max_calls, calls, needed.calls),
        ("max_tokens", limits.max_tokens, tokens, needed.input_tokens + needed.output_tokens),
        ("max_usd", limits.max_usd, usd, needed.cost),
        ("max_seconds", limits.max_seconds, 0.0, time),
    )
    for limit, value, spent, span in wanted:
        if value is not None:
            unknown = limit == "max_usd" and needed.unpriced
            yield Check(limit, value, spent, span, "unknown" if unknown else _verdict(value, span, spent))


def _verdict(value: float, needed: Span, spent: float) -> Verdict:
    if not at_most(spent + needed.least, value):
        return "stops"
    if needed.expected is not None and not at_most(spent + needed.expected, value):
        return "likely"
    return "holds" if at_most(spent + needed.most, value) else "may"
