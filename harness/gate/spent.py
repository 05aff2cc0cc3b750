"""What the arms of a gate or of a comparison took, as a value.

Owns the sums only: which blocks or sittings they are of is said where they are made.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spent:
    """Episodes played, and what was paid for them."""

    episodes: int = 0
    """Finished ones."""
    calls: int = 0
    tokens: int = 0
    cost_known_usd: float = 0.0
    unknown_cost_calls: int = 0
    void_starts: int = 0
    """How often an outage ended an episode."""
    replayed: int = 0
    """Episodes that were begun again after one, with the same seed."""

    @property
    def cost_usd(self) -> float | None:
        return None if self.unknown_cost_calls else self.cost_known_usd

    def __add__(self, other: Spent) -> Spent:
        pairs = zip(asdict(self).values(), asdict(other).values(), strict=True)
        return Spent(*(mine + theirs for mine, theirs in pairs))

    def __sub__(self, other: Spent) -> Spent:
        pairs = zip(asdict(self).values(), asdict(other).values(), strict=True)
        return Spent(*(mine - theirs for mine, theirs in pairs))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "cost_usd": self.cost_usd}
