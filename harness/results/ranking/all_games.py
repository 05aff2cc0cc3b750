"""One number over several games, for those who ask for it: every game counts the same.

Owns that sum and its caution. Scores of different games have different spreads, and an entrant may be first in one
and last in another: games are ranked by themselves, and this is printed only on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from weigh.games.game import Json
from weigh.harness.results.ranking.standings import Interval, Ladder, Standing


@dataclass(frozen=True, slots=True)
class Blended:
    """One entrant over all games of a ladder."""

    entrant: str
    mean: float
    """The mean over games of its mean scores."""
    interval: Interval | None
    """95 %: the half-widths of the games' own intervals, which are independent, added as squares. None where a game has
    none."""
    by_game: Mapping[str, float]

    def to_json(self) -> dict[str, Json]:
        return {
            "entrant": self.entrant,
            "mean": self.mean,
            "interval": None if self.interval is None else [self.interval.low, self.interval.high],
            "by_game": dict(self.by_game),
        }


def blend(ladder: Ladder) -> tuple[Blended, ...]:
    """The entrants that are ranked in every game of `ladder`, best first. Nobody else can be compared fairly."""
    ranked: dict[str, dict[str, Standing]] = {}
    for game in ladder.games:
        for standing in game.standings:
            if standing.rank is not None and standing.mean is not None:
                ranked.setdefault(standing.entrant, {})[game.game] = standing
    rows = [_blended(name, found) for name, found in ranked.items() if len(found) == len(ladder.games)]
    return tuple(sorted(rows, key=lambda row: (-row.mean, row.entrant)))


def _blended(name: str, standings: Mapping[str, Standing]) -> Blended:
    means = {game: standing.mean for game, standing in standings.items() if standing.mean is not None}
    mean = sum(means.values()) / len(means)
    halves = [
        (standing.interval.high - standing.interval.low) / 2
        for standing in standings.values()
        if standing.interval is not None
    ]
    interval = None
    if len(halves) == len(standings):
        half = sqrt(sum(value * value for value in halves)) / len(halves)
        interval = Interval(max(-1.0, mean - half), min(1.0, mean + half))
    return Blended(name, mean, interval, means)
