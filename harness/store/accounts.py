"""The accounts of runs: what every entrant's calls to every model took, and what became of them.

Owns the words and keys of an account, and its sums over several runs. Every call counts, of finished, void and
unfinished episodes alike. Knows no ranks and no file format. None means: not known, or not applicable; never 0.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from weigh.harness.store.usage import Spending

if TYPE_CHECKING:
    from weigh.harness.store.store import Store

Place: TypeAlias = tuple[str | None, str | None, str | None]
"""Game, entrant, model."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from sending to the answer, queues left out, over the calls that were answered. Each percentile is the
    latency of one of them: the smallest that so large a share of them does not exceed. All None without any."""

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True)
class Traffic:
    """Calls and what became of them. Every call has one fate: they are the sum of the answered, timed out, repeated,
    outage, fatal and lost ones."""

    attempts: int
    """Attempts at decisions that a call was made for, or an answer of an earlier run used."""
    calls: int
    """Requests that left, transport retries included: what the provider was asked."""
    answered: int
    timed_out_calls: int
    """The decision's time ran out."""
    repeated_calls: int
    """Failed in passing and were made again."""
    outage_calls: int
    """Failed past patience."""
    fatal_calls: int
    """Refused for a reason that no further call can change."""
    lost_calls: int
    """Left, and nothing of them was kept: the process died first, or they are still out."""
    reused_calls: int
    """Answers of an earlier run. They are not among the calls."""
    unbilled_calls: int
    """Died without being charged for."""
    unknown_billing_calls: int
    """Died, and nobody can tell whether they were charged for."""
    truncated_calls: int
    """Answers cut at the token cap; reused answers count, here and in what follows."""
    truncation_rate: float | None
    refused_calls: int
    """Answers in which the model declined."""
    reasoning_only_calls: int
    """Answers with reasoning and no text, neither cut nor refused."""
    reasoning_only_rate: float | None
    cut_prompt_calls: int
    """Calls whose prompt the server seems to have cut at the front: far fewer tokens were counted than it must have."""
    unknown_stop_calls: int
    """Answers that stopped for a reason that is not known: such an answer counts only if it ends the text."""
    latency: Latency

    @property
    def brought(self) -> int:
        """Answers, reused ones included."""
        return self.answered + self.reused_calls


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens and money, of the calls that told; those that did not are counted beside them."""

    input_tokens: int | None
    """All prompt tokens, cached and cache-written ones included."""
    cached_tokens: int | None
    cache_written_tokens: int | None
    output_tokens: int | None
    """All generated tokens, reasoning included."""
    reasoning_tokens: int | None
    unknown_usage_calls: int
    """Calls that nobody can count: the tokens above are lower bounds when there are any."""
    cost_usd: float | None
    """None when the cost of any call is unknown."""
    cost_known_usd: float
    """Over the calls whose cost is known: a lower bound."""
    unknown_cost_calls: int


@dataclass(frozen=True, slots=True)
class Account:
    """The calls of one entrant to one model in one game, or of more than one where a name is None."""

    game: str | None
    entrant: str | None
    model: str | None
    traffic: Traffic
    bill: Bill


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of one or several runs, and their sums."""

    rows: tuple[Account, ...] = ()
    """By game, entrant and model."""
    entrants: tuple[Account, ...] = ()
    """By game and entrant, whatever the model."""
    models: tuple[Account, ...] = ()
    """By model."""

    def of(self, game: str, entrant: str) -> Account | None:
        """All calls of one entrant in one game; None when it made none."""
        return next((account for account in self.entrants if (account.game, account.entrant) == (game, entrant)), None)


def accounts_of(stores: Iterable[Store]) -> Accounts:
    """The accounts of runs, which may be going on."""
    spending: dict[Place, Spending] = {}
    seconds: dict[Place, array[float]] = {}
    for store in stores:
        for kept in store.accounts():
            place = (kept.game, kept.entrant, kept.model)
            spending[place] = spending.get(place, Spending()) + kept.spending
        for game, entrant, model, latency in store.latencies():
            seconds.setdefault((game, entrant, model), array("d")).append(latency)
    return Accounts(
        rows=_summed(spending, seconds, (True, True, True)),
        entrants=_summed(spending, seconds, (True, True, False)),
        models=_summed(spending, seconds, (False, False, True)),
    )


def traffic_of(spent: Spending, latencies: Sequence[float]) -> Traffic:
    """`latencies` are those of the answered calls, sorted."""
    brought = spent.answered + spent.reused
    return Traffic(
        attempts=spent.attempts,
        calls=spent.calls,
        answered=spent.answered,
        timed_out_calls=spent.timed_out,
        repeated_calls=spent.repeated,
        outage_calls=spent.outages,
        fatal_calls=spent.fatal,
        lost_calls=spent.lost,
        reused_calls=spent.reused,
        unbilled_calls=spent.unbilled,
        unknown_billing_calls=spent.unknown_billing,
        truncated_calls=spent.truncated,
        truncation_rate=spent.truncated / brought if brought else None,
        refused_calls=spent.refused,
        reasoning_only_calls=spent.reasoning_only,
        reasoning_only_rate=spent.reasoning_only / brought if brought else None,
        cut_prompt_calls=spent.cut_prompts,
        unknown_stop_calls=spent.unknown_stop,
        latency=latency_of(latencies),
    )


def bill_of(spent: Spending) -> Bill:
    return Bill(
        input_tokens=spent.input,
        cached_tokens=spent.cached,
        cache_written_tokens=spent.cache_written,
        output_tokens=spent.output,
        reasoning_tokens=spent.reasoning,
        unknown_usage_calls=spent.unknown_usage,
        cost_usd=None if spent.unknown_cost else spent.cost,
        cost_known_usd=spent.cost,
        unknown_cost_calls=spent.unknown_cost,
    )


def latency_of(seconds: Sequence[float]) -> Latency:
    """Of sorted latencies."""
    if not seconds:
        return Latency()
    return Latency(sum(seconds) / len(seconds), _percentile(seconds, 50), _percentile(seconds, 95), seconds[-1])


def _percentile(values: Sequence[float], percent: int) -> float:
    """Nearest rank, of sorted values: in whole numbers, so that no rounding picks the neighbour."""
    return values[-(-percent * len(values) // 100) - 1]


def _summed(
    spending: dict[Place, Spending], seconds: dict[Place, array[float]], kept: tuple[bool, bool, bool]
) -> tuple[Account, ...]:
    """One account for each combination of the names in `kept`, the others summed over."""
    sums: dict[Place, Spending] = {}
    times: dict[Place, array[float]] = {}
    for place, spent in spending.items():
        game, entrant, model = (name if keep else None for name, keep in zip(place, kept, strict=True))
        under = (game, entrant, model)
        sums[under] = sums.get(under, Spending()) + spent
        times.setdefault(under, array("d")).extend(seconds.get(place, ()))
    return tuple(
        Account(*place, traffic_of(sums[place], sorted(times[place])), bill_of(sums[place]))
        for place in sorted(sums, key=lambda names: tuple(name or "" for name in names))
    )
