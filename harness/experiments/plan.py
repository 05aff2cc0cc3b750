"""The episodes of an experiment on claims: which arm is played by whom, in pairs that share their randomness.

Owns arms, keys and who sits where. A pair number stands for both seatings of the two entrants, once in every arm. In
all arms, equal seatings of one pair have the same streams of randomness and the same aliases: whatever differs, the
alteration brought about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from games.ballast.rules import BALLAST
from harness.experiments.arms import ALTERATIONS, OF_THE_LISTENER, Alteration, Altered
from harness.schedule import Episode
from policies.contract import Policy

NORMAL: Final = "normal"
SEATINGS: Final = (0, 1)


@dataclass(frozen=True, slots=True)
class Direction:
    """Who claims and who listens."""

    claimer: str
    listener: str

    def fielded(self, alteration: Alteration | None) -> tuple[str, str]:
        """Under which names claimer and listener play an arm."""
        if alteration is None:
            return self.claimer, self.listener
        if alteration in OF_THE_LISTENER:
            return self.claimer, f"{self.listener}~{alteration}"
        return f"{self.claimer}~{alteration}", self.listener


@dataclass(frozen=True, slots=True)
class Place:
    """One episode of the plan."""

    pair: int
    seating: int
    """0 when the claimer of the first direction has the first seat, else 1."""
    alteration: Alteration | None
    direction: Direction
    """Of a normal episode the first one: it serves both."""

    @property
    def arm(self) -> str:
        """`normal`, or `mute/CLAIMER-to-LISTENER`."""
        if self.alteration is None:
            return NORMAL
        return f"{self.alteration}/{self.direction.claimer}-to-{self.direction.listener}"

    @property
    def key(self) -> str:
        return f"{BALLAST.name}/{self.arm}/p{self.pair:04}/s{self.seating}"


@dataclass(frozen=True, slots=True)
class ClaimsPlan:
    """Every episode of an experiment."""

    directions: tuple[Direction, ...]
    """One, or one and its reverse."""
    pairs: int

    @property
    def names(self) -> tuple[str, str]:
        """The two entrants, the one that sits first in seating 0 before the other."""
        return self.directions[0].claimer, self.directions[0].listener

    @property
    def blocks(self) -> int:
        """How many groups of two seatings there are."""
        return self.pairs * (1 + len(ALTERATIONS) * len(self.directions))

    def places(self) -> Iterator[Place]:
        """Pair by pair, so that a run that stops early has as many of each arm."""
        first = self.directions[0]
        for pair in range(self.pairs):
            for alteration, direction in self._arms():
                for seating in SEATINGS:
                    yield Place(pair, seating, alteration, direction or first)

    def _arms(self) -> Iterator[tuple[Alteration | None, Direction | None]]:
        yield None, None
        for direction in self.directions:
            for alteration in ALTERATIONS:
                yield alteration, direction

    def episodes(self) -> tuple[Episode, ...]:
        return tuple(self._episode(place) for place in self.places())

    def _episode(self, place: Place) -> Episode:
        claimer, listener = place.direction.fielded(place.alteration)
        first = self.claimer_seat(place.direction, place.seating) == 0
        return Episode(
            key=place.key,
            game=BALLAST.name,
            block=place.key.rpartition("/")[0],
            entrants=(claimer, listener) if first else (listener, claimer),
            deal_key=f"{BALLAST.name}/p{place.pair:04}/s{place.seating}",
            paired=True,
        )

    def claimer_seat(self, direction: Direction, seating: int) -> int:
        return seating if direction == self.directions[0] else 1 - seating

    def policies(self, plain: Mapping[str, Policy]) -> dict[str, Policy]:
        """The policies that play, by the names they are fielded under; `plain` holds the two entrants'."""
        fielded: dict[str, Policy] = {name: plain[name] for name in self.names}
        for direction in self.directions:
            for alteration in ALTERATIONS:
                who = direction.listener if alteration in OF_THE_LISTENER else direction.claimer
                altered = Altered(plain[who], alteration)
                fielded[altered.name] = altered
        return fielded
