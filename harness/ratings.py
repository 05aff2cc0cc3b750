"""The ladder: who is ahead, by how much, and how sure that is.

Owns who is ranked, in which order, and what stands beside a rank. Pure: equal rows give equal ladders, whatever their
order. The arithmetic is in `clusters` and `rank_draws`, counts are in `tallies`, warnings in `caveats`.

Entrants are ranked by mean episode score. Everything else stands beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from harness.accounts import Account, Accounts
from harness.caveats import caveats
from harness.clusters import ZERO, Estimates, cluster_mean, estimate
from harness.rank_draws import draw_ranks, gap
from harness.rating_rows import GameRows, split_by_game
from harness.standings import Conduct, GameLadder, Interval, Ladder, Lead, SeatMean, Standing
from harness.tallies import blocks_of, conduct, episodes_of, mean_of, number, spend, starts_of

if TYPE_CHECKING:
    import pandas as pd

COLLUSION_THRESHOLD = 0.5
"""The collusion index from which an episode counts as high."""


def rank(
    seats: pd.DataFrame,
    voids: pd.DataFrame | None = None,
    *,
    max_fallback_rate: float = 0.2,
    exclude_fallback_episodes: bool = False,
    expected_episodes: Mapping[str, int] | None = None,
    entered: Mapping[str, Collection[str]] | None = None,
    seeds: Mapping[str, int] | None = None,
    accounts: Accounts | None = None,
) -> Ladder:
    """The ladder of every game in `seats`, which may be of a run in progress, or of several runs.

    `seats` and `voids` are the frames of `harness.results`; a missing score is counted and stands in no mean.
    `max_fallback_rate`: an entrant for which the fallback made a larger share of the decisions is listed, not ranked.
    `exclude_fallback_episodes` leaves out of all scores the whole of every episode in which the fallback moved for any
    seat; rates and costs are of all episodes all the same. `expected_episodes`, by game, makes a partial run say so.
    `entered`, by game, names the entrants of today: others are listed, not ranked, and the episodes they played count.
    `seeds`, by run: runs with one seed share their deals, so blocks of the same name in them are one block. Without it
    every run counts as independent of the others. `accounts` are those of the same runs: without them no
    entrant's traffic is known.

    Raises RowsInvalid for missing columns, seats that stand there twice, and rows without an entrant.
    """
    expected = expected_episodes or {}
    split = split_by_game(
        seats,
        voids,
        exclude_fallback_episodes=exclude_fallback_episodes,
        games=expected,
        entered=entered or {},
        seeds=seeds or {},
    )
    return Ladder(
        games=tuple(
            _ladder(
                rows,
                expected.get(rows.game),
                None if entered is None else frozenset(entered.get(rows.game, ())),
                max_fallback_rate,
                accounts or Accounts(),
            )
            for rows in split
        ),
        max_fallback_rate=max_fallback_rate,
        fallback_episodes="left out" if exclude_fallback_episodes else "included",
        accounts=accounts or Accounts(),
    )


def _ladder(
    rows: GameRows,
    expected: int | None,
    entered: frozenset[str] | None,
    max_fallback_rate: float,
    accounts: Accounts,
) -> GameLadder:
    estimates = estimate(*rows.arrays(), len(rows.names))
    conducts = {name: conduct(_of(rows.seats, name), _of(rows.voids, name)) for name in rows.entrants}
    reasons = {
        name: _unranked(name, conducts[name], name in rows.names, entered, max_fallback_rate) for name in rows.entrants
    }
    places = _places(rows.names, [name for name in rows.names if reasons[name] is None], estimates)
    standings = sorted(
        (
            _standing(
                rows,
                name,
                conducts[name],
                reasons[name],
                places.get(name),
                estimates,
                accounts.of(rows.game, name),
            )
            for name in rows.entrants
        ),
        key=_order,
    )
    lead = _lead(rows.names, [standing for standing in standings if standing.rank is not None], estimates)
    return GameLadder(
        game=rows.game,
        episodes=episodes_of(rows.view),
        expected=expected,
        blocks=blocks_of(rows.scored),
        left_out=episodes_of(rows.seats) - episodes_of(rows.view),
        voids=starts_of(rows.voids),
        standings=tuple(standings),
        seats=_seat_means(rows),
        lead=lead,
        caveats=caveats(rows, standings, lead, expected, estimates),
    )


def _of(frame: pd.DataFrame, entrant: str) -> pd.DataFrame:
    return frame[frame["entrant"] == entrant]


def _order(standing: Standing) -> tuple[bool, float, str]:
    """The ranked first, by mean; then the others, by mean, those without one last. Equal means by name."""
    low = float("inf") if standing.mean is None else -round(standing.mean, 9)
    return standing.rank is None, low, standing.entrant


def _unranked(
    name: str, conduct: Conduct, scored: bool, entered: frozenset[str] | None, max_fallback_rate: float
) -> str | None:
    """Why an entrant is listed and not ranked; None when it is ranked."""
    if entered is not None and name not in entered:
        return "no longer entered"
    if conduct.own_move_rate == 0:
        return "made no move of its own"
    if conduct.fallback_rate is not None and conduct.fallback_rate > max_fallback_rate:
        return f"the fallback made {conduct.fallback_rate:.1%} of its moves, more than {max_fallback_rate:.1%}"
    if not scored:
        return "no scored episode"
    return None


@dataclass(frozen=True, slots=True)
class _Place:
    rank: int
    interval: tuple[int, int]
    p_first: float | None
    first: bool


def _places(names: Sequence[str], ranked: Sequence[str], estimates: Estimates) -> dict[str, _Place]:
    """Ranks by mean, with their intervals. Who has no interval of the mean could be anywhere."""
    at = {name: names.index(name) for name in ranked}
    known = [name for name in ranked if not isnan(estimates.half_width[at[name]])]
    anywhere = len(ranked) - len(known)
    intervals = {name: (1, len(ranked)) for name in ranked}
    p_first: dict[str, float] = {}
    if known:
        chosen = [at[name] for name in known]
        ranks = draw_ranks(estimates, chosen)
        for n, name in enumerate(known):
            intervals[name] = (int(ranks.low[n]), int(ranks.high[n]) + anywhere)
            if not anywhere:
                p_first[name] = float(ranks.first[n])
    return {
        name: _Place(
            rank=1 + sum(bool(estimates.mean[at[other]] > estimates.mean[at[name]] + ZERO) for other in ranked),
            interval=intervals[name],
            p_first=p_first.get(name),
            first=intervals[name] == (1, 1) and len(ranked) > 1,
        )
        for name in ranked
    }


def _standing(
    rows: GameRows,
    name: str,
    conduct: Conduct,
    reason: str | None,
    place: _Place | None,
    estimates: Estimates,
    account: Account | None,
) -> Standing:
    every, scored = _of(rows.seats, name), _of(rows.scored, name)
    view = _of(rows.view, name)
    i = rows.names.index(name) if name in rows.names else None
    middle = None if i is None else number(estimates.mean[i])
    half = None if i is None else number(estimates.half_width[i])
    by_seat = scored.groupby("seat")["score"].mean()
    collusion = view["collusion_index"].astype(float).dropna()
    return Standing(
        entrant=name,
        scripted=len(every) > 0 and bool(every["model"].isna().all()),
        models=tuple(sorted(set(every["model"].dropna()))),
        policies=tuple(sorted(set(every["policy"].dropna()))),
        rank=None if place is None else place.rank,
        unranked=reason,
        rank_interval=None if place is None else place.interval,
        p_first=None if place is None else place.p_first,
        first=place is not None and place.first,
        episodes=episodes_of(scored),
        blocks=blocks_of(scored),
        unscored=len(view) - len(scored),
        mean=middle,
        interval=None if middle is None or half is None else _interval(middle, half, rows),
        adjusted=None if i is None else number(estimates.adjusted[i]),
        strength=None if i is None else number(estimates.strength[i]),
        opponents=0 if i is None else int((estimates.meetings[i] > 0).sum()) - 1,
        seat_means=tuple(float(by_seat[seat]) if seat in by_seat.index else None for seat in range(_seats(rows.seats))),
        points=mean_of(view["points"]),
        collusion=mean_of(collusion),
        collusion_high=mean_of(collusion >= COLLUSION_THRESHOLD),
        conduct=conduct,
        spend=spend(every),
        traffic=None if account is None else account.traffic,
    )


def _interval(middle: float, half: float, rows: GameRows) -> Interval:
    """Cut to where scores can lie: [-1, 1] by the contract of games."""
    bound = max(1.0, float(rows.scored["score"].abs().max()))
    return Interval(max(-bound, middle - half), min(bound, middle + half))


def _seats(seats: pd.DataFrame) -> int:
    return 0 if seats.empty else int(seats["seat"].max()) + 1


def _lead(names: Sequence[str], ranked: Sequence[Standing], estimates: Estimates) -> Lead | None:
    if len(ranked) < 2:
        return None
    one, other = ranked[:2]
    found = gap(estimates, names.index(one.entrant), names.index(other.entrant))
    low, high = found.difference - found.half_width, found.difference + found.half_width
    return Lead(
        leader=one.entrant,
        runner_up=other.entrant,
        difference=found.difference,
        interval=None if isnan(low) else Interval(low, high),
        blocks_needed=found.blocks_needed,
    )


def _seat_means(rows: GameRows) -> tuple[SeatMean, ...]:
    """Seats over all entrants. In whole blocks everybody sits everywhere, so no model of the tables is needed."""
    _, _, block, score = rows.arrays()
    seat = rows.scored["seat"].to_numpy()
    found = []
    for place in range(_seats(rows.scored)):
        mine = seat == place
        middle, half = cluster_mean(score[mine], block[mine])
        interval = None if isnan(half) else _interval(middle, half, rows)
        found.append(SeatMean(place, middle, interval, int(mine.sum())))
    return tuple(found)
