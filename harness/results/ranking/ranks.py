"""Who stands where in each game, and who is called first when there are several games.

Owns ranks, their intervals and the claim "X is first". Knows no rows and no frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from weigh.harness.stats.clustered import at_most
from weigh.harness.stats.multiple_tests import holm
from weigh.harness.stats.power import LEVEL
from weigh.harness.stats.rank_bootstrap import draw_ranks
from weigh.harness.stats.rare import p_lead

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Estimates


@dataclass(frozen=True, slots=True)
class Place:
    """Where one ranked entrant stands in one game."""

    rank: int
    interval: tuple[int, int]
    probability_first: float | None
    claims: bool
    """It is the leader of several: the one of whom it may be said that it is first."""
    first_p_value: float | None = None
    """Of that claim, alone; None where nothing is claimed or some ranked entrant has no interval."""
    first_p_value_holm: float | None = None
    """Of that claim, among those of all games."""
    guaranteed_p_value: float | None = None
    """Of that claim by bets, which hold for any bounded scores; None where nothing is claimed or they do not hold."""
    first: bool = False
    """The claim is made."""
    first_guaranteed: bool = False
    """It is, and the bets make it too."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Ranks by the draws, of one entrant."""

    low: int
    high: int
    probability_first: float | None = None
    first_p_value: float | None = None


def places(
    names: Sequence[str],
    ranked: Sequence[str],
    estimates: Estimates,
    games: int,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
) -> dict[str, Place]:
    """Ranks by mean, with their intervals. Who has no interval of the mean could be anywhere, and so could those whom
    one never met, directly or through others.

    Where the schedule was not even, the mean owes something to who the opponents were. It decides the order all the
    same, but rank intervals hold the ranks by adjusted mean too, under the same draws, and the leader's p-value is the
    larger of the two.

    `games` is in how many somebody may be called first; `call_first` does that. `bounds` are those of the scores, None
    where no claim can be guaranteed. None can where the schedule was not even: means against other opponents are other
    means.
    """
    at = {name: names.index(name) for name in ranked}
    leader = min(ranked, key=lambda name: (-float(estimates.mean[at[name]]), name), default=None)
    drawn = _drawn(ranked, at, estimates, games)
    if estimates.linked and not estimates.even:
        adjusted = _drawn(ranked, at, estimates.by_adjusted(), games)
        drawn = {name: _wider(drawn[name], adjusted[name]) for name in ranked}
    sound = bounds if estimates.even else None
    found = {}
    for name in ranked:
        claims = name == leader and len(ranked) > 1
        found[name] = Place(
            rank=1 + sum(bool(estimates.mean[at[other]] > estimates.mean[at[name]]) for other in ranked),
            interval=(drawn[name].low, drawn[name].high),
            probability_first=drawn[name].probability_first,
            claims=claims,
            first_p_value=drawn[name].first_p_value if claims and estimates.linked else None,
            guaranteed_p_value=p_lead(estimates, list(at.values()), at[name], *sound) if claims and sound else None,
        )
    return found


def _drawn(ranked: Sequence[str], at: Mapping[str, int], estimates: Estimates, games: int) -> dict[str, _Drawn]:
    """Ranks among those that met, directly or through others; all who did not may be before or behind them."""
    found = {name: _Drawn(1, len(ranked)) for name in ranked}
    for group in sorted({int(estimates.group[at[name]]) for name in ranked}):
        known = [n for n in ranked if estimates.group[at[n]] == group and not isnan(estimates.half_width[at[n]])]
        if not known:
            continue
        anywhere = len(ranked) - len(known)
        ranks = draw_ranks(estimates, [at[name] for name in known], games)
        for n, name in enumerate(known):
            low, high = int(ranks.low[n]), int(ranks.high[n]) + anywhere
            found[name] = (
                _Drawn(low, high)
                if anywhere
                else _Drawn(low, high, float(ranks.first[n]), float(ranks.first_p_value[n]))
            )
    return found


def _wider(by_mean: _Drawn, by_adjusted: _Drawn) -> _Drawn:
    """What both ways to draw allow. The share of draws in which somebody leads stays that of the mean."""
    ps = (by_mean.first_p_value, by_adjusted.first_p_value)
    return _Drawn(
        low=min(by_mean.low, by_adjusted.low),
        high=max(by_mean.high, by_adjusted.high),
        probability_first=by_mean.probability_first,
        first_p_value=None if None in ps else max(p for p in ps if p is not None),
    )


def call_first(games: Sequence[Mapping[str, Place]]) -> list[dict[str, Place]]:
    """The same places, with the leader of each game called first where its claim stands beside those of all others.

    A game whose leader cannot be judged counts as a claim all the same, one that fails.
    """
    claims = [(n, name) for n, found in enumerate(games) for name, place in found.items() if place.claims]
    made = [games[n][name] for n, name in claims]
    drawn = holm([1.0 if place.first_p_value is None else place.first_p_value for place in made])
    bets = holm([1.0 if place.guaranteed_p_value is None else place.guaranteed_p_value for place in made])
    called = [dict(found) for found in games]
    for (n, name), place, p, guaranteed in zip(claims, made, drawn, bets, strict=True):
        if place.first_p_value is not None:
            first = at_most(p, LEVEL) and place.interval == (1, 1)
            sure = first and at_most(guaranteed, LEVEL)
            called[n][name] = replace(place, first_p_value_holm=p, first=first, first_guaranteed=sure)
    return called
