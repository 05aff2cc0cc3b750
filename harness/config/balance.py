"""How balanced a schedule is, for people and for scripts.

Owns the counts over a whole schedule and their two forms, lines and JSON. Knows no results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weigh.games.game import Json
from weigh.harness.config.designs import Balance, balance, design
from weigh.harness.config.schedule import Episode, shape_of

LARGEST_MATRIX = 64
"""Entrants whose meetings are written down pair by pair; of more, their range has to do."""


@dataclass(frozen=True, slots=True)
class ScheduleReport:
    """The balance of one game's schedule."""

    game: str
    entrants: tuple[str, ...]
    """Sorted."""
    seats: int
    blocks: int
    episodes: int
    kind: str
    """How tables are made for so many entrants, see `Design.kind`."""
    followed: bool
    """Whether the tables are those of the design; not so after an extension for another field."""
    exact: bool
    """Whether the design lets every pair meet equally often in a full rotation, and is followed."""
    cycle: int
    """Blocks in a full rotation."""
    tables: Balance
    """Counted over blocks: each table once."""
    chairs: Balance
    """Counted over episodes: each row once."""
    withdrawn: tuple[str, ...] = ()
    """Those of the entrants that sit down in no new episode."""

    @property
    def left_over(self) -> int:
        """Blocks beyond the last full rotation."""
        return self.blocks % self.cycle

    @property
    def balanced(self) -> bool:
        """Whether every pair meets equally often and every entrant sits in every seat equally often."""
        return len({*self.tables.pair_range}) == 1 and len({*self.chairs.seat_range}) == 1

    def lines(self) -> tuple[str, ...]:
        """What a person needs to know, in plain lines."""
        # What the withdrawn never met will never be met: it says nothing of how even the others are.
        staying = [n for n, name in enumerate(self.entrants) if name not in self.withdrawn]
        tables, chairs = self.tables.among(staying), self.chairs.among(staying)
        fewest, most = tables.pair_range
        low, high = chairs.seat_range
        rarely, often = chairs.neighbour_range
        kind = self.kind if self.followed else "extended for another field"
        lines = [
            f"{self.game}: {self.episodes} episodes in {self.blocks} blocks of {self.seats} rows, "
            f"{len(staying)} entrants at {self.seats} seats, {kind}",
            f"  blocks in which a pair meets: {_range(fewest, most)}; "
            f"episodes of an entrant in one seat: {_range(low, high)}; "
            f"right before one other: {_range(rarely, often)}",
        ]
        if len({*tables.pair_range}) > 1 or len({*chairs.seat_range}) > 1:
            lines.append(f"  not balanced: {self._advice()}")
        absent = [name for name, seats in zip(self.entrants, self.chairs.sittings, strict=True) if not any(seats)]
        if absent:
            lines.append(f"  never at a table: {', '.join(absent)}")
        if self.withdrawn:
            lines.append(f"  withdrawn, and not counted in this balance: {', '.join(self.withdrawn)}")
        return tuple(lines)

    def _advice(self) -> str:
        if not self.followed:
            return "blocks were added for another field; the opponent-adjusted mean allows for it"
        if self.left_over and self.exact:
            less = self.blocks - self.left_over
            more = f"{less} or {less + self.cycle}" if less else str(self.cycle)
            return (
                f"{self.blocks} blocks are no full rotation of {self.cycle}; take {more} blocks for a balanced schedule"
            )
        if self.left_over:
            return (
                f"{self.blocks} blocks are no full rotation of {self.cycle}; the opponent-adjusted mean allows for it"
            )
        return "no exact design was found; the opponent-adjusted mean allows for it"

    def to_json(self) -> dict[str, Json]:
        """Stable keys; `meetings` counts blocks, `neighbours` episodes by ordered pair.

        The two matrices are null for more than `LARGEST_MATRIX` entrants.
        """
        fewest, most = self.tables.pair_range
        low, high = self.chairs.seat_range
        rarely, often = self.chairs.neighbour_range
        small = len(self.entrants) <= LARGEST_MATRIX
        return {
            "game": self.game,
            "entrants": list(self.entrants),
            "seats": self.seats,
            "blocks": self.blocks,
            "episodes": self.episodes,
            "design": self.kind,
            "followed": self.followed,
            "exact": self.exact,
            "cycle": self.cycle,
            "left_over": self.left_over,
            "balanced": self.balanced,
            "pair_meetings": {"fewest": fewest, "most": most},
            "episodes_by_seat": {"fewest": low, "most": high},
            "neighbours": {"fewest": rarely, "most": often},
            "meetings": self._meetings() if small else None,
            "episodes_by_entrant_and_seat": self._by_seat() if small else None,
        }

    def _meetings(self) -> dict[str, Json]:
        return {
            one: {other: row[b] for b, other in enumerate(self.entrants) if b != a}
            for a, (one, row) in enumerate(zip(self.entrants, self.tables.meetings, strict=True))
        }

    def _by_seat(self) -> dict[str, Json]:
        return {name: list(row) for name, row in zip(self.entrants, self.chairs.sittings, strict=True)}


def describe(
    episodes: Sequence[Episode], entrants: Sequence[str] | None = None, followed: bool = True
) -> ScheduleReport:
    """The balance of one game's `episodes`, for `entrants` and all others who sit down in them.

    `followed` says whether the episodes are those of the design for so many, see `schedule.follows_design`.

    Raises ScheduleInvalid for no episodes, and for episodes of several games or table sizes.
    """
    game, seats = shape_of(episodes)
    names = sorted({*(entrants or ()), *(name for episode in episodes for name in episode.entrants)})
    number = {name: n for n, name in enumerate(names)}
    seated = [tuple(number[name] for name in episode.entrants) for episode in episodes]
    tables = {episode.block: table for episode, table in zip(episodes, seated, strict=True)}
    plan = design(len(names), seats)
    return ScheduleReport(
        game=game,
        entrants=tuple(names),
        seats=seats,
        blocks=len(tables),
        episodes=len(episodes),
        kind=plan.kind,
        followed=followed,
        exact=plan.exact and followed,
        cycle=len(plan.tables),
        tables=balance(tables.values(), len(names), seats),
        chairs=balance(seated, len(names), seats),
        withdrawn=tuple(name for name in names if name not in entrants) if entrants else (),
    )


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
