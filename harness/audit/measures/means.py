"""Running means by name: what every game's diagnostics add up."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(slots=True)
class Mean:
    """A mean in the making."""

    total: float = 0.0
    count: float = 0.0

    def add(self, value: float, count: float = 1.0) -> None:
        """Take in a value, or the sum of `count` values."""
        self.total += value
        self.count += count

    @property
    def value(self) -> float | None:
        """None while nothing was observed."""
        return self.total / self.count if self.count else None


Means: TypeAlias = defaultdict[str, Mean]
"""By the name of a measure; one is made when it is first asked for."""


def no_means() -> Means:
    return defaultdict(Mean)
