"""One number over several games, for those who ask for it: the macro average on a scale that makes games comparable.

Owns that scale, the average and its interval. Scores of different games have different spreads, and an entrant may be
first in one and last in another: games are ranked by themselves, and this is printed only on request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Final

from weigh.games.game import Json
from weigh.harness.results.ranking.standings import GameLadder, Interval, Ladder
from weigh.harness.stats.clustered import LEAST_ALIKE, cluster_mean
from weigh.harness.stats.power import ZERO

FLOOR: Final = "random"
"""The scripted entrant that is 0 on the scale."""


@dataclass(frozen=True, slots=True)
class MacroAverage:
    """One entrant over all games of a ladder."""

    entrant: str
    mean: float
    """The mean over games of `by_game`: every game counts the same."""
    interval: Interval | None
    """95 %, of the mean over games of this kind: t over the games' own values, whose spread holds both what games
    differ by and what blocks do (random effects). None for fewer than two games, or fewer than five that all agree."""
    by_game: Mapping[str, float]
    """Its mean on the game's scale: 0 is `random`, 1 the strongest other scripted entrant."""

    def to_json(self) -> dict[str, Json]:
        return {
            "entrant": self.entrant,
            "mean": self.mean,
            "interval": None if self.interval is None else [self.interval.low, self.interval.high],
            "by_game": dict(self.by_game),
        }


def unscaled(ladder: Ladder) -> tuple[str, ...]:
    """The games without a scale: no scripted `random` on the ladder, or no scripted entrant above it."""
    return tuple(game.game for game in ladder.games if _scale(game) is None)


def macro_averages(ladder: Ladder) -> tuple[MacroAverage, ...]:
    """The entrants that are ranked in every game of `ladder`, best first: no other can be compared fairly. Empty where
    a game is `unscaled`."""
    if unscaled(ladder):
        return ()
    values: dict[str, dict[str, float]] = {}
    for game in ladder.games:
        low, high = _scale(game) or (0.0, 1.0)
        for standing in game.standings:
            if standing.rank is not None and standing.mean is not None:
                values.setdefault(standing.entrant, {})[game.game] = (standing.mean - low) / (high - low)
    rows = [_average(name, found) for name, found in values.items() if len(found) == len(ladder.games)]
    return tuple(sorted(rows, key=lambda row: (-row.mean, row.entrant)))


def _scale(game: GameLadder) -> tuple[float, float] | None:
    """The means of `random` and of the strongest other scripted entrant."""
    means = {s.entrant: s.mean for s in game.standings if s.scripted and s.mean is not None}
    low = means.pop(FLOOR, None)
    high = max(means.values(), default=None)
    return None if low is None or high is None or high - low <= ZERO else (low, high)


def _average(name: str, by_game: Mapping[str, float]) -> MacroAverage:
    import numpy as np

    mean, half = cluster_mean(np.array(list(by_game.values())), np.arange(len(by_game)))
    known = not isnan(half) and (half > 0 or len(by_game) >= LEAST_ALIKE)
    return MacroAverage(name, mean, Interval(mean - half, mean + half) if known else None, by_game)
