"""What a number of blocks can see of one game's differences, beside what it takes to play them.

Owns the table of blocks and its JSON form. Where spread and costs come from is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weigh.games.game import Json
from weigh.harness.planning.estimates import Span, plain
from weigh.harness.planning.spread import Spread
from weigh.harness.stats.power import Test, blocks_needed, detectable

MULTIPLES = (0.5, 1, 2, 4)
"""Of the blocks there are, in the table."""


@dataclass(frozen=True, slots=True)
class Price:
    """What some blocks take in all."""

    calls: Span
    cost: Span | None
    """US dollars; None: not known."""


@dataclass(frozen=True, slots=True)
class Row:
    blocks: int
    detects: float | None
    """The smallest difference that is seen; None where there is none that scores could have."""
    episodes: int
    price: Price

    def to_json(self) -> dict[str, Json]:
        return {
            "blocks": self.blocks,
            "detects": plain(self.detects),
            "episodes": self.episodes,
            "calls": self.price.calls.to_json(),
            "cost_usd": None if self.price.cost is None else self.price.cost.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Sight:
    """What a game's blocks can see."""

    test: Test
    blocks: int
    """Planned, or played."""
    spread: Spread | None
    """None: nothing tells how much blocks differ."""
    reason: str
    """Where the spread comes from, or why there is none: one line."""
    detects: float | None
    needed: int | None
    """Blocks at which `test.difference` is seen."""
    rows: tuple[Row, ...]

    def to_json(self) -> dict[str, Json]:
        return {
            "difference": self.test.difference,
            "alpha": self.test.alpha,
            "power": self.test.power,
            "blocks": self.blocks,
            "detects": plain(self.detects),
            "blocks_needed": self.needed,
            "more_blocks": None if self.needed is None else max(0, self.needed - self.blocks),
            "spread": None if self.spread is None else self.spread.to_json(),
            "spread_from": self.reason,
            "rows": [row.to_json() for row in self.rows],
        }


def sight(
    blocks: int, seats: int, test: Test, spread: Spread | None, reason: str, price: Callable[[int], Price]
) -> Sight:
    """`price` tells what so many blocks take. The table has half, once, twice and four times the blocks, and those that
    the difference needs."""

    def seen(number: int) -> float | None:
        return None if spread is None else detectable(spread.typical, number, test, spread.share)

    needed = None if spread is None else blocks_needed(spread.typical, test, spread.share)
    wanted = {max(1, round(blocks * multiple + 0.01)) for multiple in MULTIPLES}
    if needed is not None:
        wanted.add(needed)
    rows = tuple(Row(number, seen(number), number * seats, price(number)) for number in sorted(wanted))
    return Sight(test, blocks, spread, reason, seen(blocks), needed, rows)


def measured(calls: float, cost: float | None) -> Price:
    """What was really taken: one figure in the place of three."""
    return Price(Span(calls, calls, calls), None if cost is None else Span(cost, cost, cost))
