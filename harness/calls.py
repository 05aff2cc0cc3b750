"""Model calls as the harness keeps them: one value for every request that left for a provider.

Owns the words for a call and its fate. Knows neither how calls are made nor where they are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from policies.contract import Completion, Request

Fate: TypeAlias = Literal["answered", "timed_out", "wait", "outage", "fatal"]
"""What became of a request: the provider answered; the decision's time ran out; a passing failure that was tried again;
a failure past patience; a refusal that no further call can change."""

Billing: TypeAlias = Literal["known", "none", "unknown"]
"""Whether it was paid for: usage was reported; the provider refused it unbilled; nobody can tell (cut, timed out)."""


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
    """One request that left for a provider."""

    key: CallKey
    number: int
    """Counts the requests made for one key, from 0: above 0 are transport retries."""
    request: Request
    fate: Fate
    completion: Completion | None
    """What came back, exactly when `fate` is `answered`."""
    error: str | None
    """One line without keys or headers, exactly when `fate` is not `answered`."""
    billing: Billing
    cost: float | None
    """US dollars; None when the price or the usage is unknown. 0.0 for an unbilled or local call."""
    started: str
    """UTC, ISO 8601."""
    latency: float
    """Seconds from sending to the answer or the failure, time in queues left out."""


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
