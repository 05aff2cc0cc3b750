"""How long a ladder takes at the least: the largest of several bounds, none of which any order of play can beat.

Owns these bounds. Knows no clock. `L` is the mean latency of a model's calls, `r` its share of second attempts.

    chain       an episode's steps follow each other; a step takes the slowest of the models in it: sum of max L (1 + r)
    longest     the longest chain of any episode
    in flight   the chains of all episodes together, over `episodes_in_flight`
    slots       a model's calls times L, over its `concurrency`
    rates       what a model's calls count for, through the buckets that keep the ceilings a minute
    (`harness.run.concurrency`)

Left out, so that the run takes longer: the slow start of slots, waits for a provider, timeouts, voids, the harness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias

from weigh.games.game import Json
from weigh.harness.planning.estimates import plain
from weigh.harness.planning.pilots import Pilot
from weigh.harness.providers.endpoints.endpoints import Endpoint

Kind: TypeAlias = Literal["longest_episode", "episodes_in_flight", "slots", "requests_per_minute", "tokens_per_minute"]

MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound from below."""

    kind: Kind
    model: str | None
    """None for those of the run as a whole."""
    seconds: float

    def to_json(self) -> dict[str, Json]:
        return {"kind": self.kind, "model": self.model, "seconds": plain(self.seconds)}


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one model is asked in all."""

    endpoint: Endpoint
    calls: float
    seconds: float
    """Latencies added up."""
    at_cap: float
    """Tokens as the ceilings count them: prompts and output caps."""


@dataclass(frozen=True, slots=True)
class Wall:
    """The least wall time of what is left to play."""

    bounds: tuple[Bound, ...]
    """The largest first."""

    @property
    def seconds(self) -> float:
        return self.bounds[0].seconds if self.bounds else 0.0

    def to_json(self) -> dict[str, Json]:
        return {"least_seconds": plain(self.seconds), "bounds": [bound.to_json() for bound in self.bounds]}


def chain_seconds(pilots: Sequence[Pilot], seconds: Sequence[float]) -> float:
    """The expected chain of an episode whose seats' decisions take `seconds` each (0 for a scripted seat).

    The mean over the pilots of its game; 0 without pilots.
    """
    if not pilots or not any(seconds):
        return 0.0
    return fmean(sum(max(seconds[seat] for seat in acting) for acting in pilot.acting) for pilot in pilots)


def wall(chains: Sequence[float], in_flight: int, traffic: Sequence[Traffic]) -> Wall:
    """`chains` has the seconds of every episode that is left to play."""
    bounds = []
    if any(chains):
        bounds.append(Bound("longest_episode", None, max(chains)))
        bounds.append(Bound("episodes_in_flight", None, sum(chains) / in_flight))
    for one in traffic:
        name, endpoint = one.endpoint.name, one.endpoint
        bounds.append(Bound("slots", name, one.seconds / endpoint.concurrency))
        if endpoint.requests_per_minute is not None:
            unit = min(1.0, _size(endpoint.requests_per_minute))
            seconds = through(one.calls * unit, endpoint.requests_per_minute)
            bounds.append(Bound("requests_per_minute", name, seconds))
        if endpoint.tokens_per_minute is not None:
            # A call larger than the minute's budget counts as the whole budget.
            counted = min(one.at_cap, one.calls * endpoint.tokens_per_minute)
            bounds.append(Bound("tokens_per_minute", name, through(counted, endpoint.tokens_per_minute)))
    return Wall(tuple(sorted(bounds, key=lambda bound: -bound.seconds)))


def through(amount: float, rate: float) -> float:
    """Seconds until `amount` went through a bucket that keeps `rate` a minute: its size at once, then what leaks."""
    size = _size(rate)
    leak = (rate - size if rate / 4 >= 1.0 else rate) / MINUTE
    return max(0.0, amount - size) / leak


def _size(rate: float) -> float:
    """What the bucket holds: a quarter of the minute's rate, but a whole call where that is less than one."""
    return rate / 4 if rate / 4 >= 1.0 else min(1.0, rate)


def seat_seconds(
    entrants: Sequence[str],
    models: Mapping[str, str | None],
    latency: Mapping[str, float],
    retries: Mapping[str, float],
) -> tuple[float, ...]:
    """By seat: the expected seconds of one decision, second attempts included; 0 for a scripted entrant.

    `models`, `latency` (seconds of a call) and `retries` (second attempts for each first) are by entrant.
    """
    return tuple(
        0.0 if models[name] is None else latency.get(name, 0.0) * (1.0 + retries.get(name, 0.0)) for name in entrants
    )
