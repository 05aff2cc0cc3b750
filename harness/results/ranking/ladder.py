"""The ladder: who is ahead, by how much, and how sure that is.

Owns who is ranked, in which order, and what stands beside a rank. Pure: equal rows give equal ladders, whatever their
order. The arithmetic is in `clusters` and `rank_draws`, ranks are in `places`, counts in `tallies`, and warnings in
`warnings`.

Entrants are ranked by mean episode score. Everything else stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING

from weigh.harness.config.thresholds import COLLUSION_THRESHOLD, MAX_FALLBACK_RATE
from weigh.harness.results.ranking.ranks import Place, call_first, places
from weigh.harness.results.ranking.rows import (
    GameRows,
    Ordered,
    blocks_of,
    episodes_of,
    mean_of,
    number,
    reliability,
    spend,
    split_by_game,
    starts_of,
)
from weigh.harness.results.ranking.standings import (
    GameLadder,
    Interval,
    Ladder,
    Lead,
    Reliability,
    SeatMean,
    Standing,
    cost_frontier,
)
from weigh.harness.results.ranking.warnings import warnings_of
from weigh.harness.stats.clustered import Estimates, cluster_mean, estimate
from weigh.harness.stats.halves import blocks_deciding_first, split_half_reliability
from weigh.harness.stats.rank_bootstrap import detectable_between, gap
from weigh.harness.stats.rare import RareLoss, rare_loss
from weigh.harness.store.usage import Account, Accounts

if TYPE_CHECKING:
    import pandas as pd


def rank(
    seats: pd.DataFrame,
    voids: pd.DataFrame | None = None,
    *,
    max_fallback_rate: float = MAX_FALLBACK_RATE,
    exclude_fallback_episodes: bool = False,
    ordered: Mapping[str, Ordered] | None = None,
    seeds: Mapping[str, int] | None = None,
    accounts: Accounts | None = None,
) -> Ladder:
    """The ladder of every game in `seats`, which may be of a run in progress, or of several runs.

    `seats` and `voids` are the frames of `harness.results`; a missing score is counted and stands in no mean.
    `max_fallback_rate`: an entrant for which the fallback made a larger share of the decisions is listed, not ranked.
    `exclude_fallback_episodes` leaves out of all scores the whole of every episode in which the fallback moved for any
    seat; rates and costs are of all episodes all the same. `ordered`, by game, makes a partial run say so, lists who
    has left without a rank, whose episodes count all the same, and bounds the scores.
    `seeds`, by run: runs with one seed share their deals, so blocks of the same name in them are one block. Without it
    every run counts as independent of the others. `accounts` are those of the same runs: without them no
    entrant's traffic is known.

    Raises RowsInvalid for missing columns, seats that stand there twice, and rows without an entrant.
    """
    split = split_by_game(
        seats,
        voids,
        exclude_fallback_episodes=exclude_fallback_episodes,
        games=ordered or {},
        seeds=seeds or {},
    )
    fields = [_field(rows, max_fallback_rate) for rows in split]
    claims = sum(len(field.ranked) > 1 for field in fields)
    placed = call_first(
        [
            places(
                field.rows.names, field.ranked, field.estimates, claims, field.rows.bounds if field.rows.whole else None
            )
            for field in fields
        ]
    )
    return Ladder(
        games=tuple(
            _ladder(field, found, claims, accounts or Accounts()) for field, found in zip(fields, placed, strict=True)
        ),
        max_fallback_rate=max_fallback_rate,
        fallback_episodes="left out" if exclude_fallback_episodes else "included",
        accounts=accounts or Accounts(),
    )


@dataclass(frozen=True, slots=True)
class _Field:
    """One game before anybody has a place."""

    rows: GameRows
    estimates: Estimates
    reliable: Mapping[str, Reliability]
    reasons: Mapping[str, str | None]
    """By entrant: why it is not ranked, None where it is."""

    seats: Mapping[str, pd.DataFrame]
    """The rows of each entrant, here and below: frames are cut up once, not searched through for everybody."""
    view: Mapping[str, pd.DataFrame]
    scored: Mapping[str, pd.DataFrame]

    @property
    def ranked(self) -> list[str]:
        return [name for name in self.rows.names if self.reasons[name] is None]

    def at(self, name: str) -> int:
        """The entrant's number in the arrays."""
        return self.rows.names.index(name)


def _field(rows: GameRows, max_fallback_rate: float) -> _Field:
    seats, voids = _by_entrant(rows.seats, rows.entrants), _by_entrant(rows.voids, rows.entrants)
    reliable = {name: reliability(seats[name], voids[name]) for name in rows.entrants}
    reasons = {
        name: _unranked(name, reliable[name], name in rows.names, rows.ordered.entrants, max_fallback_rate)
        for name in rows.entrants
    }
    return _Field(
        rows,
        estimate(*rows.arrays(), len(rows.names)),
        reliable,
        reasons,
        seats,
        _by_entrant(rows.view, rows.entrants),
        _by_entrant(rows.scored, rows.entrants),
    )


def _ladder(field: _Field, found: Mapping[str, Place], claims: int, accounts: Accounts) -> GameLadder:
    rows = field.rows
    standings = sorted(
        (_standing(field, name, found.get(name), accounts.of(rows.game, name)) for name in rows.entrants), key=_order
    )
    chosen = [field.at(name) for name in field.ranked]
    lead = _lead(field, [standing for standing in standings if standing.rank is not None])
    return GameLadder(
        game=rows.game,
        episodes=episodes_of(rows.view),
        expected=rows.ordered.episodes,
        blocks=blocks_of(rows.scored),
        bounds=rows.bounds,
        whole=rows.whole,
        left_out=episodes_of(rows.seats) - episodes_of(rows.view),
        voids=starts_of(rows.voids),
        standings=tuple(standings),
        seats=_seat_means(rows),
        lead=lead,
        minimum_detectable_difference=_finite(detectable_between(field.estimates, chosen)),
        split_half_reliability=split_half_reliability(field.estimates, chosen),
        blocks_deciding_first=blocks_deciding_first(field.estimates, chosen),
        rare_loss=_rare_loss(standings[0], field) if lead is not None else None,
        warnings=warnings_of(rows, standings, lead, claims, field.estimates),
        cost_frontier=cost_frontier(standings),
    )


def _by_entrant(frame: pd.DataFrame, entrants: Sequence[str]) -> dict[str, pd.DataFrame]:
    where = frame.groupby("entrant", sort=False).indices
    return {name: frame.iloc[where.get(name, [])] for name in entrants}


def _order(standing: Standing) -> tuple[bool, float, str]:
    """The ranked first, by mean; then the others, by mean, those without one last. Equal means by name."""
    low = float("inf") if standing.mean is None else -standing.mean
    return standing.rank is None, low, standing.entrant


def _unranked(
    name: str, reliable: Reliability, scored: bool, entered: frozenset[str] | None, max_fallback_rate: float
) -> str | None:
    """Why an entrant is listed and not ranked; None when it is ranked."""
    if entered is not None and name not in entered:
        return "no longer entered"
    if reliable.own_move_rate == 0:
        return "made no move of its own"
    if reliable.fallback_rate is not None and reliable.fallback_rate > max_fallback_rate:
        return f"the fallback made {reliable.fallback_rate:.1%} of its moves, more than {max_fallback_rate:.1%}"
    if not scored:
        return "no scored episode"
    return None


def _standing(field: _Field, name: str, place: Place | None, account: Account | None) -> Standing:
    rows, estimates = field.rows, field.estimates
    every, view, scored = field.seats[name], field.view[name], field.scored[name]
    i = field.at(name) if name in rows.names else None
    middle = None if i is None else number(estimates.mean[i])
    half = None if i is None else number(estimates.half_width[i])
    adjusted = None if i is None else number(estimates.adjusted[i])
    adjusted_half = None if i is None else number(estimates.adjusted_half_width[i])
    by_seat = scored.groupby("seat")["score"].mean()
    collusion = view["collusion_index"].astype(float).dropna()
    return Standing(
        entrant=name,
        scripted=len(every) > 0 and bool(every["model"].isna().all()),
        models=tuple(sorted(set(every["model"].dropna()))),
        policies=tuple(sorted(set(every["policy"].dropna()))),
        rank=None if place is None else place.rank,
        unranked=field.reasons[name],
        rank_interval=None if place is None else place.interval,
        probability_first=None if place is None else place.probability_first,
        first_p_value=None if place is None else place.first_p_value,
        first_p_value_holm=None if place is None else place.first_p_value_holm,
        first=place is not None and place.first,
        first_guaranteed=place is not None and place.first_guaranteed,
        episodes=episodes_of(scored),
        blocks=blocks_of(scored),
        unscored=len(view) - len(scored),
        mean=middle,
        interval=None if middle is None or half is None else Interval.around(middle, half, rows.bound),
        adjusted=adjusted,
        adjusted_interval=None
        if adjusted is None or adjusted_half is None
        else Interval(adjusted - adjusted_half, adjusted + adjusted_half),
        schedule_strength=None if i is None else number(estimates.strength[i]),
        opponents=0 if i is None else int((estimates.meetings[i] > 0).sum()) - 1,
        seat_means=tuple(float(by_seat[seat]) if seat in by_seat.index else None for seat in range(_seats(rows.seats))),
        points=mean_of(view["points"]),
        collusion=mean_of(collusion),
        collusion_high=mean_of(collusion >= COLLUSION_THRESHOLD),
        reliability=field.reliable[name],
        spend=spend(every),
        traffic=None if account is None else account.usage,
    )


def _seats(seats: pd.DataFrame) -> int:
    return 0 if seats.empty else int(seats["seat"].max()) + 1


def _lead(field: _Field, ranked: Sequence[Standing]) -> Lead | None:
    if len(ranked) < 2:
        return None
    one, other = ranked[:2]
    found = gap(field.estimates, field.at(one.entrant), field.at(other.entrant))
    return Lead(
        leader=one.entrant,
        runner_up=other.entrant,
        difference=found.difference,
        interval=Interval.around(found.difference, found.half_width, 2 * field.rows.bound),
        blocks_needed=found.blocks_needed,
        minimum_detectable_difference=_finite(found.detectable),
    )


def _rare_loss(leader: Standing, field: _Field) -> RareLoss | None:
    return None if leader.mean is None else rare_loss(leader.blocks, leader.mean - field.rows.ordered.lowest)


def _finite(difference: float | None) -> float | None:
    return None if difference is None or isinf(difference) else difference


def _seat_means(rows: GameRows) -> tuple[SeatMean, ...]:
    """Seats over all entrants. In whole blocks everybody sits everywhere, so no model of the tables is needed."""
    _, _, block, score = rows.arrays()
    seat = rows.scored["seat"].to_numpy()
    found = []
    for place in range(_seats(rows.scored)):
        mine = seat == place
        middle, half = cluster_mean(score[mine], block[mine])
        found.append(SeatMean(place, middle, Interval.around(middle, half, rows.bound), int(mine.sum())))
    return tuple(found)
