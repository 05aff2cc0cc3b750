"""Counting in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

MOST_KEYS = 65_536
OTHER = "(other)"


class RecentTally:
    """Counts by key; forgets the key that was counted longest ago when there are too many."""

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._counts: OrderedDict[Hashable, int] = OrderedDict()
        self._most = most

    def add(self, key: Hashable) -> int:
        """Count `key` once more; how often that makes."""
        count = self._counts.pop(key, 0) + 1
        self._counts[key] = count
        if len(self._counts) > self._most:
            self._counts.popitem(last=False)
        return count


class NamedTally:
    """Counts by name; names beyond the first thousand are counted together, so that no total is ever wrong."""

    def __init__(self, most: int = 1000) -> None:
        self.counts: dict[str, int] = {}
        self._most = most

    def add(self, name: str, amount: int = 1) -> None:
        """Count `amount` under `name`, or under `(other)` when there are too many names."""
        if name not in self.counts and len(self.counts) >= self._most:
            name = OTHER
        self.counts[name] = self.counts.get(name, 0) + amount
