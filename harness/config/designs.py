"""Block designs: which of E entrants sit down together, so that every pair meets equally often.

Owns pure combinatorics over the numbers 0..E-1: one cycle of tables for E entrants at n seats, and the count of who met
whom, who sat where and who sat next to whom. Knows no names, games, seeds or episodes; `harness.config.schedule` puts
those on.

One cycle is exact when every pair meets equally often in it. It is exact for a full table (E = n), for two seats
(all pairs), and wherever the cyclic shifts of one or two base blocks form a difference family, e.g. {0,1,3,9} mod 13,
{0,1,2,4} mod 7 and {0,1,2,3} mod 5. Elsewhere it is the best found: E shifts of the base block whose pair meetings
spread least.

The rows of a block: in which order the entrants of one table sit, episode after episode.

Owns squares over the places 0..n-1, in which every place comes once in every seat, and the choice between a square and
its mirror. Knows no names, games or seeds.

Two kinds:
- `williams`: row-complete Latin squares (E. J. Williams, Australian Journal of Scientific Research A 2, 1949). For even
  n one square has every ordered pair of neighbours exactly once. For odd n a square has every two neighbours exactly
  twice, and only the square and its mirror together have them as often in either order.
- `rotated`: the rotations of one order, so that the same entrants are neighbours in every row but one.

Two entrants have only one square, and it is of both kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb
from typing import Literal, TypeAlias

from weigh.harness.errors import ScheduleInvalid

Rows: TypeAlias = Literal["williams", "rotated"]
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


Table: TypeAlias = tuple[int, ...]
"""Who sits together, as entrant numbers."""

SEARCH_LIMIT = 20_000
"""Base blocks looked at one by one; where there are more, one is built greedily instead."""

KNOWN_BASES: dict[tuple[int, int], Table] = {
    (21, 5): (0, 1, 4, 14, 16),
    (31, 6): (0, 1, 3, 8, 12, 18),
    (57, 8): (0, 1, 3, 13, 32, 36, 43, 52),
    (73, 9): (0, 1, 3, 7, 15, 31, 36, 54, 63),
    (91, 10): (0, 1, 3, 9, 27, 49, 56, 61, 77, 81),
}
"""Singer difference sets (J. Singer, 1938) too large to search for: (entrants, seats) to base block."""


@dataclass(frozen=True, slots=True)
class Design:
    """One cycle of tables."""

    entrants: int
    seats: int
    tables: tuple[Table, ...]
    """In the order to play them: at every point entrants have sat down about equally often."""
    kind: str
    """How the tables were found, for people: `all pairs`, `shifts of {0,1,3,9} mod 13` ..."""
    exact: bool
    """Whether one full rotation lets every pair meet equally often."""


@dataclass(frozen=True, slots=True)
class Balance:
    """Who met whom, who sat where and who sat right before whom, counted over seatings."""

    meetings: tuple[tuple[int, ...], ...]
    """meetings[a][b]: at how many tables a and b sat together; 0 on the diagonal."""
    sittings: tuple[tuple[int, ...], ...]
    """sittings[a][s]: how often a sat in seat s."""
    neighbours: tuple[tuple[int, ...], ...]
    """neighbours[a][b]: how often b sat in the seat after a's; the last seat has none after it. 0 on the diagonal."""

    @property
    def pair_range(self) -> tuple[int, int]:
        """The fewest and the most meetings of any pair; (0, 0) when there is no pair."""
        pairs = [row[b] for a, row in enumerate(self.meetings) for b in range(a)]
        return (min(pairs), max(pairs)) if pairs else (0, 0)

    @property
    def seat_range(self) -> tuple[int, int]:
        """The fewest and the most sittings of any entrant in any seat."""
        cells = [count for row in self.sittings for count in row]
        return min(cells), max(cells)

    @property
    def neighbour_range(self) -> tuple[int, int]:
        """The fewest and the most times that any entrant sat right before any other; (0, 0) when there is no pair."""
        cells = [count for a, row in enumerate(self.neighbours) for b, count in enumerate(row) if a != b]
        return (min(cells), max(cells)) if cells else (0, 0)

    def among(self, chosen: Sequence[int]) -> Balance:
        """The same of some of the entrants only."""
        return Balance(
            tuple(tuple(self.meetings[a][b] for b in chosen) for a in chosen),
            tuple(self.sittings[a] for a in chosen),
            tuple(tuple(self.neighbours[a][b] for b in chosen) for a in chosen),
        )


def balance(seatings: Iterable[Sequence[int]], entrants: int, seats: int) -> Balance:
    """Count meetings, sittings and neighbours over `seatings`, each one table in seat order."""
    meetings = [[0] * entrants for _ in range(entrants)]
    sittings = [[0] * seats for _ in range(entrants)]
    neighbours = [[0] * entrants for _ in range(entrants)]
    for seating in seatings:
        for one, other in pairwise(seating):
            neighbours[one][other] += 1
        for seat, one in enumerate(seating):
            sittings[one][seat] += 1
            for other in seating:
                meetings[one][other] += one != other
    return Balance(tuple(map(tuple, meetings)), tuple(map(tuple, sittings)), tuple(map(tuple, neighbours)))


@lru_cache(maxsize=64)
def design(entrants: int, seats: int) -> Design:
    """One cycle of tables for `entrants` at `seats` seats; equal for equal arguments, everywhere.

    Raises ScheduleInvalid when the entrants do not fill one table.
    """
    require_table(entrants, seats)
    if entrants == seats:
        return Design(entrants, seats, (tuple(range(seats)),), "full table", exact=True)
    if seats == 2:
        return Design(entrants, seats, tuple(_all_pairs(entrants)), "all pairs", exact=True)
    bases = _base_blocks(entrants, seats)
    shifts = [tuple((x + shift) % entrants for x in base) for base in bases for shift in range(entrants)]
    exact = len(set(_sum(_differences(base, entrants) for base in bases))) == 1
    named = " and ".join("{" + ",".join(map(str, base)) + "}" for base in bases)
    kind = f"shifts of {named} mod {entrants}" + ("" if exact else " (best effort)")
    return Design(entrants, seats, tuple(_evened(shifts, entrants)), kind, exact)


def require_table(entrants: int, seats: int) -> None:
    """Raise ScheduleInvalid unless `entrants` fill at least one table of at least two seats."""
    if seats < 2:
        raise ScheduleInvalid(f"a table has at least 2 seats, not {seats}", kind="too-few-seats")
    if entrants < seats:
        missing = seats - entrants
        raise ScheduleInvalid(
            f"a table has {seats} seats and there {_are(entrants, 'entrant')}: "
            f"add {missing} more (scripted baselines such as match and random can fill the places)",
            kind="too-few-entrants",
        )


def _are(count: int, noun: str) -> str:
    return f"is {count} {noun}" if count == 1 else f"are {count} {noun}s"


def _all_pairs(entrants: int) -> Iterator[Table]:
    """Every pair once, in rounds in which no entrant plays twice (the circle method for round robins)."""
    ring: list[int | None] = [*range(entrants)]
    if entrants % 2:
        ring.append(None)
    half = len(ring) // 2
    for _ in range(len(ring) - 1):
        for one, other in zip(ring[:half], reversed(ring[half:]), strict=True):
            if one is not None and other is not None:
                yield one, other
        ring = [ring[0], ring[-1], *ring[1:-1]]


def _base_blocks(entrants: int, seats: int) -> tuple[Table, ...]:
    """The base blocks to shift: one or two that make a difference family, else the single one that spreads least."""
    if (entrants, seats) in KNOWN_BASES:
        return (KNOWN_BASES[entrants, seats],)
    if comb(entrants - 1, seats - 1) > SEARCH_LIMIT:
        return (_greedy_base(entrants, seats),)
    found: dict[tuple[int, ...], Table] = {}
    """One base block for each way of covering the differences, in lexicographic order."""
    for rest in combinations(range(1, entrants), seats - 1):
        base = (0, *rest)
        differences = _differences(base, entrants)
        if len(set(differences)) == 1:
            return (base,)
        found.setdefault(differences, base)
    each, remainder = divmod(2 * seats * (seats - 1), entrants - 1)
    if remainder == 0:
        for differences, base in found.items():
            partner = found.get(tuple(each - count for count in differences))
            if partner is not None:
                return base, partner
    return (min(found.items(), key=lambda item: (_spread(item[0]), item[1]))[1],)


def _greedy_base(entrants: int, seats: int) -> Table:
    """A base block built one point at a time, each the one that keeps the differences spread least."""
    base: Table = (0,)
    while len(base) < seats:
        rest = (x for x in range(1, entrants) if x not in base)
        base = min(((*base, x) for x in rest), key=lambda block: (_spread(_differences(block, entrants)), block))
    return tuple(sorted(base))


def _differences(base: Table, modulus: int) -> tuple[int, ...]:
    """How often each difference 1..modulus-1 occurs in `base`: the meetings, over all shifts, of pairs so far apart."""
    counts = [0] * modulus
    for one in base:
        for other in base:
            counts[(one - other) % modulus] += 1
    return tuple(counts[1:])


def _sum(vectors: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*vectors, strict=True)))


def _spread(counts: Sequence[int]) -> tuple[int, int]:
    """Range first, then the sum of squares: smaller is more even."""
    return max(counts) - min(counts), sum(count * count for count in counts)


def _evened(tables: Sequence[Table], entrants: int) -> Iterator[Table]:
    """The same tables, ordered so that a run cut short has seated all entrants about equally often."""
    waiting = list(tables)
    sat = [0] * entrants
    while waiting:
        table = min(waiting, key=lambda t: sum((2 * sat[x] + 1) for x in t))
        waiting.remove(table)
        for x in table:
            sat[x] += 1
        yield table
