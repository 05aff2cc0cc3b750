"""Who stands where in each game, and who is called first when there are several games.

Owns ranks, their intervals and the claim "X is first". Knows no rows and no frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING

from harness.clusters import ZERO
from harness.rank_draws import LEVEL, draw_ranks

if TYPE_CHECKING:
    from harness.clusters import Estimates


@dataclass(frozen=True, slots=True)
class Place:
    """Where one ranked entrant stands in one game."""

    rank: int
    interval: tuple[int, int]
    p_first: float | None
    claims: bool
    """It is the leader of several: the one of whom it may be said that it is first."""
    first_p: float | None = None
    """Of that claim, alone; None where nothing is claimed or some ranked entrant has no interval."""
    first_p_holm: float | None = None
    """Of that claim, among those of all games."""
    first: bool = False
    """The claim is made."""


def places(names: Sequence[str], ranked: Sequence[str], estimates: Estimates, games: int) -> dict[str, Place]:
    """Ranks by mean, with their intervals. Who has no interval of the mean could be anywhere.

    `games` is in how many somebody may be called first; `call_first` does that.
    """
    at = {name: names.index(name) for name in ranked}
    leader = min(ranked, key=lambda name: (-round(float(estimates.mean[at[name]]), 9), name), default=None)
    known = [name for name in ranked if not isnan(estimates.half_width[at[name]])]
    anywhere = len(ranked) - len(known)
    intervals = {name: (1, len(ranked)) for name in ranked}
    p_first: dict[str, float] = {}
    first_p: dict[str, float] = {}
    if known:
        ranks = draw_ranks(estimates, [at[name] for name in known], games)
        for n, name in enumerate(known):
            intervals[name] = (int(ranks.low[n]), int(ranks.high[n]) + anywhere)
            if not anywhere:
                p_first[name] = float(ranks.first[n])
                first_p[name] = float(ranks.first_p[n])
    found = {}
    for name in ranked:
        claims = name == leader and len(ranked) > 1
        found[name] = Place(
            rank=1 + sum(bool(estimates.mean[at[other]] > estimates.mean[at[name]] + ZERO) for other in ranked),
            interval=intervals[name],
            p_first=p_first.get(name),
            claims=claims,
            first_p=first_p.get(name) if claims else None,
        )
    return found


def call_first(games: Sequence[Mapping[str, Place]]) -> list[dict[str, Place]]:
    """The same places, with the leader of each game called first where its claim stands beside those of all others.

    A game whose leader cannot be judged counts as a claim all the same, one that fails.
    """
    claims = [(n, name) for n, found in enumerate(games) for name, place in found.items() if place.claims]
    alone = [games[n][name].first_p for n, name in claims]
    called = [dict(found) for found in games]
    for (n, name), p, corrected in zip(claims, alone, holm([1.0 if p is None else p for p in alone]), strict=True):
        if p is not None:
            first = corrected <= LEVEL + ZERO and called[n][name].interval == (1, 1)
            called[n][name] = replace(called[n][name], first_p_holm=corrected, first=first)
    return called


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number: the chance of any wrong claim at 5 % is then at most 5 %, whichever claims
    are wrong and however they hang together (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    if len(p_values) < 2:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(p_values, method="holm")[1]]
