"""What a run spent: sums over its calls, made by the database.

Owns which calls count for what. Knows neither prices nor how a call is kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SUMS: Final = (
    "count(*), sum(c.fate = 'answered'), sum(c.input_tokens), sum(c.cached_tokens), sum(c.output_tokens), "
    "sum(c.reasoning_tokens), sum(c.billing <> 'none' AND (c.input_tokens IS NULL OR c.output_tokens IS NULL)), "
    "coalesce(sum(c.cost), 0.0), sum(c.cost IS NULL), "
    "coalesce(sum(CASE WHEN c.fate = 'answered' THEN c.latency END), 0.0)"
)


@dataclass(frozen=True, slots=True)
class Spending:
    """Sums over calls. Tokens and cost are sums over the calls that are known; the unknown ones are counted beside."""

    calls: int = 0
    """Every request that left for a provider."""
    answered: int = 0
    input: int | None = 0
    """Prompt tokens, cached ones included; None where no call told, here and below."""
    cached: int | None = 0
    output: int | None = 0
    """Generated tokens, reasoning included."""
    reasoning: int | None = 0
    unknown_usage: int = 0
    """Calls that may have been billed and whose tokens nobody told."""
    cost: float = 0.0
    """US dollars."""
    unknown_cost: int = 0
    """Calls whose cost is not known; above 0, `cost` is a lower bound."""
    waited: float = 0.0
    """Seconds of latency, summed over the answered calls."""

    @property
    def tokens(self) -> int:
        """Prompt and generated tokens that were told of."""
        return (self.input or 0) + (self.output or 0)

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.calls + other.calls,
            self.answered + other.answered,
            _sum(self.input, other.input),
            _sum(self.cached, other.cached),
            _sum(self.output, other.output),
            _sum(self.reasoning, other.reasoning),
            self.unknown_usage + other.unknown_usage,
            self.cost + other.cost,
            self.unknown_cost + other.unknown_cost,
            self.waited + other.waited,
        )


@dataclass(frozen=True, slots=True)
class Account:
    """What one entrant spent at one model, in finished, void and unfinished episodes alike."""

    entrant: str | None
    """None for an episode that nothing but its calls is known of."""
    model: str
    spending: Spending


def accounts(db: sqlite3.Connection) -> Iterator[Account]:
    """What was spent, by entrant and model."""
    query = (
        f"SELECT s.entrant, c.model, {SUMS} FROM calls c "  # noqa: S608 - constants only
        "LEFT JOIN seats s ON s.episode = c.episode AND s.seat = c.seat GROUP BY 1, 2 ORDER BY 1, 2"
    )
    for row in db.execute(query):
        yield Account(row[0], row[1], Spending(*row[2:]))


def by_seat(db: sqlite3.Connection, episode: str) -> dict[int, Spending]:
    """What was spent for each seat of one episode that made calls."""
    query = (
        f"SELECT c.seat, {SUMS} FROM episodes e JOIN calls c ON c.episode = e.id "  # noqa: S608 - constants only
        "WHERE e.key = ? GROUP BY c.seat"
    )
    return {row[0]: Spending(*row[1:]) for row in db.execute(query, (episode,))}


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return left if right is None else right
    return left + right
