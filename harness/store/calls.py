"""Model calls as the harness keeps them: one value for every request that left for a provider, or need not leave.

Owns the words for a call and its fate. Knows neither how calls are made nor where they are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from weigh.policies.contract import Billing, Completion, Request, Usage

Fate: TypeAlias = Literal["answered", "timed_out", "wait", "outage", "fatal", "lost", "reused"]
"""What became of a request: the provider answered; the decision's time ran out; a passing failure that was tried again;
a failure past patience; a refusal that no further call can change; it left, and nothing that came back was kept: the
process died or was stopped at once, or, while a run is going on, the call is still out. `reused` is no request at all:
the answer that an earlier run got to the same question stands in its place."""

SETTLED: Final[tuple[Fate, ...]] = ("answered", "timed_out", "reused")
"""The fates that settle an attempt: when a run goes on, its call is not made again."""

BROUGHT: Final[tuple[Fate, ...]] = ("answered", "reused")
"""The fates that come with a completion."""

LOST: Final = "it left, and nothing that came back was kept"
"""What stands in the place of an error while a call is out, and for ever where its process died."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """Which attempt at which decision a call was made for."""

    episode: str
    seat: int
    step: int
    """The step of the episode, from 0."""
    attempt: int
    """1, or 2 for the retry after a fault."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request that left for a provider, or whose answer an earlier run had already."""

    key: CallKey
    number: int
    """Counts the calls of one key, from 0: above 0 are transport retries, and calls made again after one was lost."""
    request: Request
    fate: Fate
    completion: Completion | None
    """What came back, exactly when `fate` is `answered` or `reused`."""
    error: str | None
    """One line without keys or headers, exactly when nothing came back."""
    billing: Billing
    cost: float | None
    """US dollars; None when the price or the usage is unknown. 0.0 for an unbilled, reused or local call."""
    started: str
    """UTC, ISO 8601."""
    latency: float
    """Seconds from sending to the answer or the failure, time in queues and `lag` left out. 0.0 for a lost or reused
    call."""
    reused_from: str | None = None
    """Exactly when `fate` is `reused`: the run that asked, and its episode, as `RUN_ID EPISODE`. Seat, step and attempt
    were the same."""
    lag: float = 0.0
    """Seconds between sending and the answer or the failure in which this process was too busy to look: no time of the
    provider's, and none of the decision's."""
    told: Usage | None = None
    """What a call that brought no answer used, where the provider told even so."""

    @property
    def usage(self) -> Usage | None:
        """What it used, as far as the provider told."""
        return self.told if self.completion is None else self.completion.usage


def departed(key: CallKey, number: int, request: Request, started: str, cost: float | None) -> Call:
    """A call as it is written down before it leaves. What becomes of it takes this one's place.

    `cost` is what it comes to if nothing is ever heard of it: 0.0 where nothing costs anything, else None.
    """
    return Call(key, number, request, "lost", None, LOST, "unknown", cost, started, 0.0)


@dataclass(frozen=True, slots=True)
class Void:
    """An episode that an outage ended: kept, counted, never rated."""

    episode: str
    block: str
    game: str
    entrants: tuple[str, ...]
    step: int
    """The step it had reached."""
    seats: tuple[int, ...]
    """The seats whose provider failed."""
    cause: str
    """One line."""
