"""What every two entrants did to each other, block by block, and what that says of each pair by itself.

Owns the sums over meetings, their intervals and their one-sided tests, over plain arrays. Knows no frames, no names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.clusters import CONFIDENCE, LEAST_ALIKE, zeroed

if TYPE_CHECKING:
    from harness.clusters import Flags, Floats, Ints
    from harness.encounters import Meetings


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
