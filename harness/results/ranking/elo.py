"""A second board: Elo as leagues compute it, beside the mean that decides.

Owns the rating, how much it owes to the order of the episodes, and where it disagrees with the mean. Pure:
equal rows give equal boards, whatever their order. `docs/explanation/appendix.md` says what the numbers are worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from weigh.games.game import Json
from weigh.harness.results.ranking.pairwise import EMPTY_SEAT, Encounters, encounters_of
from weigh.harness.results.ranking.standings import GameLadder, Ladder, Standing

if TYPE_CHECKING:
    import pandas as pd

    from weigh.harness.stats.clustered import Flags, Floats, Ints

ELO_START: Final = 1000.0
ELO_K: Final = 32.0
"""The most that one game moves a rating (Elo, The Rating of Chessplayers, 1978)."""
ELO_SCALE: Final = 400.0
"""A lead of so many points is expected to win ten times as often as to lose."""

SHUFFLES: Final = 200
SHUFFLE_SEED: Final = 20_261_130
"""Fixed: equal scores give equal boards."""

ALIKE: Final = 1e-6
"""Ratings closer than this are equal: they are sums of floats."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One entrant's Elo over SHUFFLES random orders of the same episodes."""

    mean: float
    sd: float
    low: float
    high: float
    best_rank: int | None
    """Its ranks in these orders, among the ranked; None for an entrant that is not ranked."""
    worst_rank: int | None


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One entrant with a score."""

    entrant: str
    rank: int | None
    """By mean, as on the ladder; None for an entrant that is listed and not ranked."""
    unranked: str | None
    """Why not. It has ratings all the same, since its games are games for the others."""
    mean: float
    episodes: int
    games: int
    """Pairs of seats it was in."""
    elo: float
    """In the order of the schedule."""
    elo_spread: Spread | None
    """None for fewer than two episodes."""
    elo_rank: int | None
    """Among the ranked."""
    elo_disagrees: bool
    """Elo puts it on the other side of some ranked entrant than the mean does."""


@dataclass(frozen=True, slots=True)
class Board:
    """The second board of one game."""

    game: str
    episodes: int
    rows: tuple[BoardRow, ...]
    """In the order of the ladder: by mean, then those that are not ranked."""
    same_order: float | None
    """Share of the shuffled orders in which Elo ranks the ranked as it does in the order of the schedule; None for
    fewer than two episodes or ranked entrants."""

    def to_json(self) -> dict[str, Json]:
        """JSON with the field names as keys; what is not known is null."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}


def boards(seats: pd.DataFrame, ladder: Ladder, *, seeds: Mapping[str, int] | None = None) -> tuple[Board, ...]:
    """The second board of every game of `ladder`, which was made of `seats`; its view of fallback episodes holds here.

    Raises RowsInvalid as `encounters_of` does.
    """
    return tuple(_board(game, played) for game, played in encounters_of(seats, ladder, seeds=seeds))


def elo(played: Encounters, orders: Ints) -> Floats:
    """Elo ratings, orders x entrants, for each order in which the episodes could have come (rows of episode numbers).

    Every two seats of an episode are one game: won, lost, or drawn with equal scores. All its games are judged by
    the ratings before the episode, and their changes are summed, so no seat comes first within an episode:

        R_i += K * sum over others j of (S_ij - 1 / (1 + 10^((R_j - R_i) / 400))),   S_ij = 1, 1/2 or 0
    """
    import numpy as np

    entrants = len(played.names)
    rating = np.full((len(orders), entrants + 1), ELO_START)  # the last column takes what empty seats do
    line = np.arange(len(orders))[:, None]
    at = np.where(played.table == EMPTY_SEAT, entrants, played.table)
    taken = played.table != EMPTY_SEAT
    for step in range(orders.shape[1]):
        episode = orders[:, step]
        now, above, there = at[episode], played.above[episode], taken[episode]
        mine = rating[line, now]
        won = 0.5 + 0.5 * np.sign(above[:, None, :] - above[:, :, None])
        expected = 1 / (1 + 10 ** ((mine[:, None, :] - mine[:, :, None]) / ELO_SCALE))
        counted = there[:, :, None] & there[:, None, :]
        rating[line, now] = mine + ELO_K * ((won - expected) * counted).sum(axis=2) * there
    return rating[:, :entrants]


def shuffles(episodes: int) -> Ints:
    """SHUFFLES orders of so many episodes, below the order of the schedule: an array of 1 + SHUFFLES rows."""
    import numpy as np

    rng = np.random.default_rng(SHUFFLE_SEED)
    scheduled = np.arange(episodes)
    return np.vstack([scheduled, rng.permuted(np.tile(scheduled, (SHUFFLES, 1)), axis=1)])


def _board(ladder: GameLadder, played: Encounters) -> Board:
    import numpy as np

    if not len(played):
        return Board(ladder.game, 0, (), None)
    standing = {found.entrant: found for found in ladder.standings}
    field = [standing[name] for name in played.names]
    ranked = np.array([found.rank is not None for found in field], dtype=np.bool_)
    mean = np.array([np.nan if found.mean is None else found.mean for found in field])
    ratings = elo(played, shuffles(len(played)) if len(played) > 1 else shuffles(len(played))[:1])
    elo_ranks = ranks(ratings, ranked)
    several = len(played) > 1
    seated = (played.table != EMPTY_SEAT).sum(axis=1)
    games = np.array([int((seated - 1)[(played.table == i).any(axis=1)].sum()) for i in range(len(field))])
    elo_off = _disagrees(mean, ratings[0], ranked)
    rows = [
        BoardRow(
            entrant=found.entrant,
            rank=found.rank,
            unranked=found.unranked,
            mean=float(mean[i]),
            episodes=found.episodes,
            games=int(games[i]),
            elo=float(ratings[0, i]),
            elo_spread=_spread(ratings[1:, i], elo_ranks[1:, i], found) if several else None,
            elo_rank=int(elo_ranks[0, i]) if ranked[i] else None,
            elo_disagrees=bool(elo_off[i]),
        )
        for i, found in enumerate(field)
    ]
    same = (elo_ranks[1:, ranked] == elo_ranks[0, ranked]).all(axis=1)
    return Board(
        game=ladder.game,
        episodes=len(played),
        rows=tuple(rows),
        same_order=float(same.mean()) if several and ranked.sum() > 1 else None,
    )


def ranks(ratings: Floats, ranked: Flags) -> Ints:
    """orders x entrants: 1 + how many of the `ranked` are ahead. Equal ratings share the better rank."""
    import numpy as np

    rank = np.empty(ratings.shape, dtype=np.intp)
    for i in range(ratings.shape[1]):
        rank[:, i] = 1 + ((ratings - ratings[:, i : i + 1] > ALIKE) & ranked).sum(axis=1)
    return rank


def _spread(ratings: Floats, places: Ints, standing: Standing) -> Spread:
    ranked = standing.rank is not None
    return Spread(
        mean=float(ratings.mean()),
        sd=float(ratings.std(ddof=1)),
        low=float(ratings.min()),
        high=float(ratings.max()),
        best_rank=int(places.min()) if ranked else None,
        worst_rank=int(places.max()) if ranked else None,
    )


def _disagrees(mean: Floats, rating: Floats, ranked: Flags) -> Flags:
    """Whether two orders put an entrant on different sides of some other: a tie in either is no disagreement."""
    import numpy as np

    by_mean, by_rating = mean[:, None] - mean, rating[:, None] - rating
    opposed = (np.abs(by_rating) > ALIKE) & (by_mean * by_rating < 0)
    found: Flags = np.asarray((opposed & ranked & ranked[:, None]).any(axis=1))
    return found


def disagreeing(board: Board) -> Sequence[str]:
    """Entrants that Elo puts elsewhere than the mean does."""
    return [row.entrant for row in board.rows if row.elo_disagrees]
