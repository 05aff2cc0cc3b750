"""The rows a ladder is made of: which columns it reads, which rows count, and in which order.

Owns the checks of a tidy frame and its split by game and view. Computes no statistic. Knows no files.

What is counted, not estimated, about each entrant: whose moves they were, faults, voids, calls, tokens, money.

Owns sums and rates over the rows of one game. Knows no intervals and no ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from weigh.harness.errors import RowsInvalid
from weigh.harness.results.ranking.standings import Reliability, Spend
from weigh.harness.store.kinds import deals_of
from weigh.policies.contract import FAULTS

if TYPE_CHECKING:
    import pandas as pd

    from weigh.harness.stats.clustered import Floats, Ints


BY = ("by_model", "by_retry", "by_fallback", "by_scripted", "by_human")

TOKENS = ("input_tokens", "cached_tokens", "cache_written_tokens", "output_tokens", "reasoning_tokens")

NEEDED = (
    "decisions",
    *BY,
    *(f"fault_{fault}" for fault in FAULTS),
    "refusal_streak",
    "calls",
    "answered",
    *TOKENS,
    "unknown_usage_calls",
    "cost_usd",
    "latency_mean",
)
"""Columns of the seats frame that tallies read."""


def reliability(seats: pd.DataFrame, voids: pd.DataFrame) -> Reliability:
    """Over `seats`, one entrant's rows of one game, and `voids`, its seats in starts that an outage ended."""
    by = {name: _total(seats[name]) for name in BY}
    decisions = _total(seats["decisions"])
    lost = starts_of(voids)
    return Reliability(
        decisions=decisions,
        **by,
        own_move_rate=_rate(decisions - by["by_fallback"], decisions),
        retry_rate=_rate(by["by_retry"] + by["by_fallback"], decisions),
        fallback_rate=_rate(by["by_fallback"], decisions),
        fallback_episodes=episodes_of(seats[seats["by_fallback"] > 0]),
        faults={fault: _total(seats[f"fault_{fault}"]) for fault in FAULTS},
        refusal_streak=int(seats["refusal_streak"].max()) if len(seats) else 0,
        voids=lost,
        voids_own=starts_of(voids[voids["failed"].astype(bool)]),
        void_rate=_rate(lost, lost + episodes_of(seats)),
    )


def episodes_of(rows: pd.DataFrame) -> int:
    """How many different episodes there are among `rows`."""
    return len(rows[["run", "episode"]].drop_duplicates())


def blocks_of(rows: pd.DataFrame) -> int:
    """How many different blocks. Blocks of one deal, in runs with the same seed, are one."""
    return len(rows[["deals", "block"]].drop_duplicates())


def starts_of(voids: pd.DataFrame) -> int:
    """How many different starts there are among `voids`: an episode may have been started, and lost, several times."""
    return len(voids[["run", "episode", "occurrence"]].drop_duplicates())


def spend(rows: pd.DataFrame) -> Spend:
    """What `rows` cost together. A seat that made no call cost nothing, whatever stands there."""
    calls, answered = _total(rows["calls"]), _total(rows["answered"])
    cost = _costs(rows)
    waited = float((rows["latency_mean"].astype(float) * rows["answered"]).sum())
    unknown = episodes_of(rows[cost.isna()])
    total = None if unknown else float(cost.sum())
    episodes = episodes_of(rows)
    return Spend(
        calls=calls,
        answered=answered,
        **{name: _tokens(rows[name], calls) for name in TOKENS},
        unknown_usage_calls=_total(rows["unknown_usage_calls"]),
        cost_usd=total,
        cost_known_usd=float(cost.sum()),
        cost_unknown_episodes=unknown,
        cost_per_episode_usd=None if total is None or not episodes else total / episodes,
        latency_mean=_rate(waited, answered),
    )


def _costs(rows: pd.DataFrame) -> pd.Series:
    return rows["cost_usd"].astype(float).mask(rows["calls"] == 0, 0.0)


def number(value: float) -> float | None:
    """A float, or None for NaN."""
    return None if isnan(value) else float(value)


def mean_of(values: pd.Series) -> float | None:
    """Mean of the values there are, None when there are none."""
    return number(float(values.astype(float).mean()))


def _tokens(column: pd.Series, calls: int) -> int | None:
    """The tokens that are known, None when there were calls and nothing is known of any."""
    return None if calls and column.isna().all() else _total(column)


def _total(column: pd.Series) -> int:
    return int(column.fillna(0).sum())


def _rate(part: float, whole: int) -> float | None:
    return part / whole if whole else None


SEAT_KEY = ("run", "game", "block", "episode", "seat")
SEAT_COLUMNS = (*SEAT_KEY, "entrant", "policy", "model", "score", "collusion_index", "points", *NEEDED)
"""What a ladder reads of the seats frame: one row for each seat of each finished episode."""

VOID_KEY = ("run", "game", "episode", "occurrence", "seat")
VOID_COLUMNS = (*VOID_KEY, "entrant", "failed")
"""What it reads of the voids frame: one row for each seat of each start that an outage ended."""


@dataclass(frozen=True, slots=True, eq=False)
class GameRows:
    """One game's rows, sorted by their key."""

    game: str
    ordered: Ordered
    seats: pd.DataFrame
    """Every finished seat-episode."""
    view: pd.DataFrame
    """Those whose scores count: all, or those of episodes without a fallback move."""
    scored: pd.DataFrame
    """Those of the view that have a score."""
    voids: pd.DataFrame
    names: tuple[str, ...]
    """Entrants with a score, sorted: their places are the entrant numbers of the arrays."""
    entrants: tuple[str, ...]
    """All entrants: with a score, without one, with nothing but void episodes, entered and not yet played."""

    @property
    def whole(self) -> bool:
        """Whether everything that was ordered is finished at its first start, has its scores, and stands in the view:
        otherwise what is seen may depend on how it went."""
        ordered, every = self.ordered.episodes, episodes_of(self.seats)
        return not len(self.voids) and len(self.scored) == len(self.seats) and (ordered is None or every >= ordered)

    @property
    def bound(self) -> float:
        """Scores lie within it on either side of 0: 1 by the contract of games, or more where one does not keep it. So
        do means, and differences of means within twice as much."""
        return max(1.0, float(self.scored["score"].abs().max())) if len(self.scored) else 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest score that the rules allow; wider where a score does not keep to them."""
        return (self.ordered.lowest, 1.0) if self.bound == 1 else (-self.bound, self.bound)

    def arrays(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Entrant, episode and block numbers and scores of `scored`. Episodes of two runs are different, and so are
        their blocks, unless the runs share their deals."""
        import numpy as np

        scored = self.scored
        number = {name: n for n, name in enumerate(self.names)}
        entrant = scored["entrant"].map(number).to_numpy(dtype=np.intp)
        episode = scored.groupby(["run", "episode"], sort=True).ngroup().to_numpy(dtype=np.intp)
        block = scored.groupby(["deals", "block"], sort=True).ngroup().to_numpy(dtype=np.intp)
        return entrant, episode, block, scored["score"].to_numpy(dtype=float)


@dataclass(frozen=True, slots=True)
class Ordered:
    """What is known of a game beside its rows."""

    episodes: int | None = None
    """How many were ordered; None: nobody said."""
    entrants: frozenset[str] | None = None
    """Those of today: others are listed, not ranked. None: all who have a row."""
    lowest: float = -1.0
    """The lowest score that the rules allow."""


def split_by_game(
    seats: pd.DataFrame,
    voids: pd.DataFrame | None,
    *,
    exclude_fallback_episodes: bool,
    games: Mapping[str, Ordered],
    seeds: Mapping[str, int],
) -> Iterator[GameRows]:
    """The rows of each game, games in order of name; `games` are there even without rows, and so are their entrants.

    The seat rows get a column `deals`, equal for runs whose deals are: those with one seed, by `seeds` (run to seed).

    Raises RowsInvalid for missing columns, a seat that stands there twice, and rows without an entrant.
    """
    import numpy as np
    import pandas as pd

    rows = _checked(seats, SEAT_COLUMNS, SEAT_KEY, "seats")
    rows["deals"] = rows["run"].map({run: deals_of(run, seeds.get(run)) for run in rows["run"].unique()})
    lost = pd.DataFrame(columns=list(VOID_COLUMNS)) if voids is None else voids
    lost = _checked(lost, VOID_COLUMNS, VOID_KEY, "voids")
    for game in sorted({*rows["game"], *lost["game"], *games}):
        mine, gone = rows[rows["game"] == game], lost[lost["game"] == game]
        helped = mine.groupby(["run", "episode"])["by_fallback"].transform("sum") > 0
        view = mine[~helped] if exclude_fallback_episodes else mine
        scored = view[np.isfinite(view["score"].to_numpy(dtype=float, na_value=np.nan))]
        ordered = games.get(game, Ordered())
        everyone = {*mine["entrant"], *gone["entrant"], *(ordered.entrants or ())}
        names = tuple(sorted(set(scored["entrant"])))
        yield GameRows(game, ordered, mine, view, scored, gone, names, tuple(sorted(everyone)))


def _checked(frame: pd.DataFrame, columns: tuple[str, ...], key: tuple[str, ...], what: str) -> pd.DataFrame:
    """The frame in its one order: sums then come out the same to the last bit, whatever order the rows had."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise RowsInvalid(f"the {what} frame has no column {', '.join(missing)}", kind="column-missing")
    nameless = int((frame["entrant"].isna() | (frame["entrant"] == "")).sum())
    if nameless:
        raise RowsInvalid(f"the {what} frame has {nameless} rows without an entrant", kind="nameless-rows")
    rows = frame.sort_values(list(key), kind="stable", ignore_index=True)
    twice = rows.duplicated(list(key))
    if twice.any():
        row = rows[twice].iloc[0]
        place = ", ".join(f"{column} {row[column]}" for column in key if column not in ("game", "block"))
        raise RowsInvalid(f"the {what} frame holds {place} twice: give every run once", kind="given-twice")
    return rows
