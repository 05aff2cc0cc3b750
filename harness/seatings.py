"""The rows of a block: in which order the entrants of one table sit, episode after episode.

Owns squares over the places 0..n-1, in which every place comes once in every seat, and the choice between a square and
its mirror. Knows no names, games or seeds.

Two kinds:
- `williams`: row-complete Latin squares (E. J. Williams, Australian Journal of Scientific Research A 2, 1949). For even
  n one square has every ordered pair of neighbours exactly once. For odd n a square has every two neighbours exactly
  twice, and only the square and its mirror together have them as often in either order.
- `cyclic`: the rotations of one order, so that the same entrants are neighbours in every row but one.

Two entrants have only one square, and it is of both kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

Rows: TypeAlias = Literal["williams", "cyclic"]
"""How the rows of a block are made."""


@lru_cache(maxsize=64)
def square(seats: int, rows: Rows) -> tuple[tuple[int, ...], ...]:
    """`seats` rows of the places 0..seats-1, each place once in every row and once in every seat."""
    first = [_zigzag(seat, seats) for seat in range(seats)] if rows == "williams" else list(range(seats))
    return tuple(tuple((place + shift) % seats for place in first) for shift in range(seats))


def _zigzag(seat: int, seats: int) -> int:
    """The first row of Williams' squares: 0, 1, n-1, 2, n-2 ..., in which every step is of another length."""
    return (seat + 1) // 2 if seat % 2 else -(seat // 2) % seats


def needs_mirror(seats: int, rows: Rows) -> bool:
    """Whether neighbours are as often in either order only in a square and its mirror together."""
    return rows == "williams" and seats % 2 == 1


class Neighbours:
    """Who sat right before whom so far, and in which direction a further square should be read."""

    def __init__(self) -> None:
        self._before: Counter[tuple[str, str]] = Counter()

    def add(self, seated: Sequence[str]) -> None:
        """Count one episode, given in seat order."""
        self._before.update(pairwise(seated))

    def evened(self, rows: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
        """The rows or their mirror, whichever leaves the counts more even; the rows when neither does."""
        lean = sum(self._before[one, other] - self._before[other, one] for row in rows for one, other in pairwise(row))
        return tuple(row[::-1] for row in rows) if lean > 0 else tuple(rows)
