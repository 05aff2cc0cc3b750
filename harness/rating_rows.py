"""The rows a ladder is made of: which columns it reads, which rows count, and in which order.

Owns the checks of a tidy frame and its split by game and view. Computes no statistic. Knows no files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.tallies import NEEDED

if TYPE_CHECKING:
    import pandas as pd

    from harness.clusters import Floats, Ints

SEAT_KEY = ("run", "game", "block", "episode", "seat")
SEAT_COLUMNS = (*SEAT_KEY, "entrant", "policy", "model", "score", "collusion_index", "points", *NEEDED)
"""What a ladder reads of the seats frame: one row for each seat of each finished episode."""

VOID_KEY = ("run", "game", "episode", "occurrence", "seat")
VOID_COLUMNS = (*VOID_KEY, "entrant", "failed")
"""What it reads of the voids frame: one row for each seat of each start that an outage ended."""


class RowsInvalid(ValueError):
    """Rows from which no ladder can be made. The message is one line a person can act on."""


@dataclass(frozen=True, slots=True, eq=False)
class GameRows:
    """One game's rows, sorted by their key."""

    game: str
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
    def bound(self) -> float:
        """Scores lie within it on either side of 0: 1 by the contract of games, or more where one does not keep it. So
        do means, and differences of means within twice as much."""
        return max(1.0, float(self.scored["score"].abs().max())) if len(self.scored) else 1.0

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


def split_by_game(
    seats: pd.DataFrame,
    voids: pd.DataFrame | None,
    *,
    exclude_fallback_episodes: bool,
    games: Collection[str],
    entered: Mapping[str, Collection[str]],
    seeds: Mapping[str, int],
) -> Iterator[GameRows]:
    """The rows of each game, games in order of name; `games` are there even without rows.

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
        everyone = {*mine["entrant"], *gone["entrant"], *entered.get(game, ())}
        yield GameRows(game, mine, view, scored, gone, tuple(sorted(set(scored["entrant"]))), tuple(sorted(everyone)))


def deals_of(run: str, seed: int | None) -> str:
    """What runs with equal deals have in common: the seed, else the run itself."""
    return f"run {run}" if seed is None else f"seed {seed}"


def _checked(frame: pd.DataFrame, columns: tuple[str, ...], key: tuple[str, ...], what: str) -> pd.DataFrame:
    """The frame in its one order: sums then come out the same to the last bit, whatever order the rows had."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise RowsInvalid(f"the {what} frame has no column {', '.join(missing)}")
    nameless = int((frame["entrant"].isna() | (frame["entrant"] == "")).sum())
    if nameless:
        raise RowsInvalid(f"the {what} frame has {nameless} rows without an entrant")
    rows = frame.sort_values(list(key), kind="stable", ignore_index=True)
    twice = rows.duplicated(list(key))
    if twice.any():
        row = rows[twice].iloc[0]
        place = ", ".join(f"{column} {row[column]}" for column in key if column not in ("game", "block"))
        raise RowsInvalid(f"the {what} frame holds {place} twice: give every run once")
    return rows
