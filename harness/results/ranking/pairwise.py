"""Who met whom, in the order of the schedule: one game's scored episodes as arrays.

Owns that order, what a tie is, and how an episode of many seats falls apart into pairs. Computes no statistic. Knows no
files.

What every two entrants did to each other, block by block, and what that says of each pair by itself.

Owns the sums over meetings, their intervals and their one-sided tests, over plain arrays. Knows no frames, no names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weigh.harness.errors import RowsInvalid
from weigh.harness.results.ranking.rows import GameRows, Ordered, split_by_game
from weigh.harness.results.ranking.standings import GameLadder, Ladder
from weigh.harness.stats.clustered import LEAST_ALIKE, zeroed
from weigh.harness.stats.power import CONFIDENCE, LEVEL, ZERO
from weigh.harness.stats.rare import p_bounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from weigh.harness.stats.clustered import Flags, Floats, Ints


EMPTY_SEAT = -1
"""Stands in `Encounters.table` for a seat without a score, and for one that a smaller table does not have."""


@dataclass(frozen=True, slots=True, eq=False)
class Encounters:
    """One game's scored episodes, in the order of the schedule."""

    game: str
    names: tuple[str, ...]
    """Entrants with a score, in the order of the ladder: their places are the entrant numbers below."""
    table: Ints
    """episodes x seats: entrant numbers, or EMPTY_SEAT."""
    score: Floats
    """episodes x seats; NaN at an empty seat."""
    above: Ints
    """episodes x seats: how many seats of the episode scored more. Equal numbers are a tie."""
    block: Ints
    """By episode: block numbers from 0 without gaps. Blocks of runs that share their deals are the same."""

    def __len__(self) -> int:
        return len(self.table)


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """The pairs of all episodes: arrays with one element for each two entrants of each episode, `one` < `other`."""

    one: Ints
    other: Ints
    block: Ints
    difference: Floats
    """Score of `one` less that of `other`."""
    margin: Floats
    """1 where `one` scored more, -1 where `other` did, 0 for a tie."""


def encounters_of(
    seats: pd.DataFrame, ladder: Ladder, *, seeds: Mapping[str, int] | None = None
) -> Iterator[tuple[GameLadder, Encounters]]:
    """Each game of `ladder` with its episodes, under the view that the ladder has; games are never mixed.

    `seats` is the frame that `ladder` was made of, and `seeds` what it was told of shared deals.

    Raises RowsInvalid as `harness.results.ranking.ladder.rank` does, and for an entrant that sits twice at one table.
    """
    ladders = {game.game: game for game in ladder.games}
    split = split_by_game(
        seats,
        None,
        exclude_fallback_episodes=ladder.fallback_episodes == "left out",
        games=dict.fromkeys(ladders, Ordered()),
        seeds=seeds or {},
    )
    for rows in split:
        if rows.game in ladders:
            scored = [s.entrant for s in ladders[rows.game].standings if s.entrant in rows.names]
            yield ladders[rows.game], encounters(rows, scored)


def encounters(rows: GameRows, names: Sequence[str]) -> Encounters:
    """The scored episodes of `rows`; `names` are its entrants with a score, in the order their numbers shall have.

    Order of the schedule: by run id (which begins with the time the run was made), then by episode key with numbers
    read as numbers, block by block and rotation by rotation. Neither the order of rows nor the order in which episodes
    happened to finish plays a part.
    """
    import numpy as np

    scored = rows.scored
    number = {name: n for n, name in enumerate(names)}
    keys = sorted(set(zip(scored["run"], scored["episode"], strict=True)), key=lambda key: (key[0], _natural(key[1])))
    place = {key: n for n, key in enumerate(keys)}
    episode = np.array([place[key] for key in zip(scored["run"], scored["episode"], strict=True)], dtype=np.intp)
    entrant = np.array([number[name] for name in scored["entrant"]], dtype=np.intp)
    # Rows come sorted by seat within an episode, so a stable sort by episode numbers the scored seats of each.
    order = np.argsort(episode, kind="stable")
    episode, entrant = episode[order], entrant[order]
    sizes = np.bincount(episode, minlength=len(keys))
    seat = np.arange(len(episode)) - (np.cumsum(sizes) - sizes)[episode]
    shape = (len(keys), int(sizes.max(initial=0)))
    table = np.full(shape, EMPTY_SEAT, dtype=np.intp)
    score = np.full(shape, np.nan)
    table[episode, seat] = entrant
    score[episode, seat] = scored["score"].to_numpy(dtype=float)[order]
    block = np.zeros(len(keys), dtype=np.intp)
    block[episode] = scored.groupby(["deals", "block"], sort=True).ngroup().to_numpy(dtype=np.intp)[order]
    _check_tables(rows.game, names, keys, table)
    above = (score[:, None, :] - score[:, :, None] > ZERO).sum(axis=2)
    return Encounters(rows.game, tuple(names), table, score, above, block)


def meetings(played: Encounters) -> Meetings:
    """Every two entrants of every episode."""
    import numpy as np

    first, second = np.triu_indices(played.table.shape[1], k=1)
    left, right = played.table[:, first], played.table[:, second]
    there = (left != EMPTY_SEAT) & (right != EMPTY_SEAT)
    turned = np.where(left < right, 1.0, -1.0)[there]
    difference = (played.score[:, first] - played.score[:, second])[there]
    margin = np.sign(played.above[:, second] - played.above[:, first])[there]
    block = np.broadcast_to(played.block[:, None], there.shape)[there]
    left, right = left[there], right[there]
    return Meetings(
        np.minimum(left, right), np.maximum(left, right), block, turned * difference, turned * margin.astype(float)
    )


def _natural(key: str) -> tuple[tuple[int, str], ...]:
    """Sorts `b9999` before `b10000`: runs of digits by their value, everything else as text."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", key) if part)


def _check_tables(game: str, names: Sequence[str], keys: Sequence[tuple[str, str]], table: Ints) -> None:
    import numpy as np

    line = np.sort(table, axis=1)
    twice = (line[:, 1:] == line[:, :-1]) & (line[:, 1:] != EMPTY_SEAT)
    if twice.any():
        episode, seat = (int(place) for place in np.argwhere(twice)[0])
        raise RowsInvalid(
            f"{game}: {names[line[episode, seat]]} sits twice at the table of {keys[episode][1]}; "
            "an entrant that plays itself has no place on a board",
            kind="sits-twice",
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairBlocks:
    """One game's pairs that met, `one` < `other`, and their cells: a cell is one pair in one block."""

    entrants: int
    one: Ints
    other: Ints
    pair: Ints
    """By cell: which pair."""
    block: Ints
    """By cell: which block."""
    count: Floats
    """By cell: episodes in which both sat."""
    difference: Floats
    """By cell: the sum of score differences, `one` less `other`; 0 where they cancel."""
    margin: Floats
    """By cell: the sum of margins, 1 for each episode in which `one` scored more, -1 for less."""

    @property
    def met(self) -> Floats:
        """By pair: episodes."""
        return self._over_pairs(self.count)

    @property
    def blocks(self) -> Ints:
        """By pair: blocks."""
        import numpy as np

        return np.bincount(self.pair, minlength=len(self.one))

    def _over_pairs(self, cells: Floats) -> Floats:
        import numpy as np

        sums: Floats = np.bincount(self.pair, weights=cells, minlength=len(self.one)).astype(np.float64)
        return sums

    def mean(self, sums: Floats) -> Floats:
        """By pair: the mean over its episodes of what `sums` (`difference` or `margin`) has by cell."""
        return zeroed(self._over_pairs(sums) / self.met)

    def half_width(self, sums: Floats) -> Floats:
        """By pair: half the length of the 95 % interval of that mean, clustered by block, as `clusters.cluster_mean`.

        NaN for fewer than two blocks, and for fewer than LEAST_ALIKE that all agree.
        """
        import numpy as np
        from scipy import stats

        error, blocks = self._error(sums), self.blocks
        half: Floats = stats.t.ppf(0.5 + CONFIDENCE / 2, np.maximum(blocks - 1, 1)) * error
        half[(error == 0) & (blocks < LEAST_ALIKE)] = np.nan
        return half

    def p_above(self, sums: Floats) -> tuple[Floats, Floats]:
        """By pair: one-sided p-values of "`one` is above `other`" and of the reverse; 1 where there is no saying.

        The t test of the interval, but never below what a sign test of the same blocks could give: 2 to the minus the
        number of blocks that are not even. Wins and losses in a few blocks may agree without any spread.
        """
        import numpy as np
        from scipy import stats

        error, mean = self._error(sums), self.mean(sums)
        uneven = np.bincount(self.pair[sums != 0], minlength=len(self.one))
        known = np.isfinite(self.half_width(sums)) & (mean != 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = np.where(known, mean / error, 0.0)
        freedom = np.maximum(self.blocks - 1, 1)
        least = 0.5**uneven

        def test(toward: Floats) -> Floats:
            p: Floats = np.where(known, np.maximum(stats.t.sf(toward, freedom), least), 1.0)
            return p

        return test(statistic), test(-statistic)

    def guaranteed(self, bounds: tuple[float, float]) -> Flags:
        """By pair: whether bets exclude that the mean difference is 0, for scores within `bounds`: each pair for
        itself, two-sided, at LEVEL."""
        import numpy as np

        each = (self.blocks / self.met)[self.pair]
        values, widest = self.difference * each, self.count * each * (bounds[1] - bounds[0])
        found = np.zeros(len(self.one), dtype=np.bool_)
        for n in range(len(found)):
            mine = self.pair == n
            low, x = -float(widest[mine].max()), values[mine]
            found[n] = min(p_bounded(x, 0.0, low), p_bounded(-x, 0.0, low)) <= LEVEL / 2
        return found

    def _error(self, sums: Floats) -> Floats:
        """Standard error by pair: B/(B-1) times the sum of squared block sums of deviations, over n squared."""
        import numpy as np

        away = sums - self.count * self.mean(sums)[self.pair]
        blocks = self.blocks
        with np.errstate(divide="ignore", invalid="ignore"):
            error: Floats = np.sqrt(blocks / (blocks - 1) * self._over_pairs(away**2)) / self.met
        return np.where(blocks > 1, zeroed(error), np.nan)

    def among(self, chosen: Flags) -> PairBlocks:
        """The pairs whose two entrants are both `chosen`; entrants are numbered anew, in their order."""
        import numpy as np

        number = np.cumsum(chosen) - 1
        kept = chosen[self.one] & chosen[self.other]
        cells = kept[self.pair]
        return PairBlocks(
            entrants=int(chosen.sum()),
            one=number[self.one[kept]],
            other=number[self.other[kept]],
            pair=(np.cumsum(kept) - 1)[self.pair[cells]],
            block=self.block[cells],
            count=self.count[cells],
            difference=self.difference[cells],
            margin=self.margin[cells],
        )

    def matrix(self, values: Floats, opposite: Floats, missing: float) -> Floats:
        """entrants x entrants: `values` of (one, other), `opposite` of (other, one), `missing` where none met."""
        import numpy as np

        square = np.full((self.entrants, self.entrants), missing)
        square[self.one, self.other] = values
        square[self.other, self.one] = opposite
        return square


def pair_blocks(met: Meetings, entrants: int) -> PairBlocks:
    """The sums of `met`, of whose `entrants` some may have met nobody."""
    import numpy as np

    pairs, pair = np.unique(met.one * entrants + met.other, return_inverse=True)
    width = int(met.block.max(initial=-1)) + 1
    cells, cell = np.unique(pair * width + met.block, return_inverse=True)
    return PairBlocks(
        entrants=entrants,
        one=pairs // max(entrants, 1),
        other=pairs % max(entrants, 1),
        pair=cells // max(width, 1),
        block=cells % max(width, 1),
        count=np.bincount(cell, minlength=len(cells)).astype(np.float64),
        difference=zeroed(np.bincount(cell, weights=met.difference, minlength=len(cells)).astype(np.float64)),
        margin=np.bincount(cell, weights=met.margin, minlength=len(cells)).astype(np.float64),
    )
