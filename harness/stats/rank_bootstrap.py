"""How sure a ranking is: ranks under a block bootstrap, and the leader against the runner-up.

Owns the arithmetic over means and what each block adds to their errors. Knows no frames, names or files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import TYPE_CHECKING

from weigh.harness.stats.clustered import BOOTSTRAP_SEED, DRAWS, agrees_by_luck, at_most, zeroed
from weigh.harness.stats.power import CONFIDENCE, LARGEST, LEVEL, POWER, ZERO, Test, blocks_needed, errors_detectable

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Estimates, Flags, Floats, Ints

BLOCKS_AT_ONCE = 4_096
"""Weights drawn at a time, so that memory does not grow with the run."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Ranks over the draws: arrays by entrant."""

    low: Ints
    """The best rank of the 95 % interval."""
    high: Ints
    """The worst rank of it. 1 means: first in at least 97.5 % of the draws."""
    first: Floats
    """Share of the draws in which the entrant is first; a draw shared by k counts 1/k for each."""
    first_p_value: Floats
    """p-value, two-sided, of the claim that the entrant is first: at most 0.05 where `high` is 1, and only there, when
    there is one game."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One mean less another."""

    difference: float
    """0 for means that are equal."""
    half_width: float
    """Half the length of its 95 % interval, or NaN."""
    error: float
    """Its standard error, or NaN."""
    freedom: float
    """Degrees of freedom of that."""
    blocks: int
    """Of the whole schedule."""

    @property
    def blocks_needed(self) -> int | None:
        """Blocks of the whole schedule at which a t test at 5 % shows so large a difference in four runs of five; 0 for
        a difference without error, None for no difference, no interval, or more blocks than anybody plays."""
        size = abs(self.difference)
        if isnan(self.half_width) or size == 0:
            return None
        if self.error == 0:
            return 0
        share = (self.freedom + 1) / self.blocks
        return blocks_needed(self.error * sqrt(self.blocks), Test(size, LEVEL, POWER), share)

    @property
    def detectable(self) -> float | None:
        """The smallest true difference that these blocks show in four runs of five; infinite where no two means can
        differ so much, None for no interval."""
        if isnan(self.half_width):
            return None
        least = errors_detectable(self.freedom) * self.error
        return least if least <= LARGEST else inf


def draw_ranks(estimates: Estimates, chosen: Sequence[int], games: int = 1) -> Ranks:
    """Ranks by mean among the `chosen` entrants, all with an interval, over DRAWS draws of a block bootstrap.

    Each draw gives every block one random weight, the same for all entrants of the block: a multiplier bootstrap with
    normal weights (Wu, Annals of Statistics 14, 1986), which keeps the dependence within tables and needs no block
    to come twice. Deviations are then stretched by sqrt(f / chi-square with f degrees of freedom), so that a draw
    has the tails of the t of the interval: few blocks give wide ranks, where plain resampling of two blocks
    would be sure of its leader.

    `games` is how many games somebody may be called first in. With k of them a claim may have to hold at 0.05 / k, so
    where a p-value is 0.05 or less, it is taken from k * DRAWS draws: as many of them decide there as with one game.

    Two entrants whose difference has no error are level in every draw where that may be luck (`agrees_by_luck`).
    """
    import numpy as np

    drawn = _drawn(estimates, chosen, 0)
    alike = _alike(estimates, chosen)
    low = np.empty(drawn.shape, dtype=np.intp)
    high = np.empty(drawn.shape, dtype=np.intp)
    for i in range(len(chosen)):
        ahead = drawn - drawn[:, i : i + 1]
        ahead[:, alike[i]] = 0
        low[:, i] = 1 + (ahead > ZERO).sum(axis=1)
        high[:, i] = (ahead >= -ZERO).sum(axis=1)
    leads = low == 1
    outside = round(DRAWS * (1 - CONFIDENCE) / 2)
    missed = (high > 1).sum(axis=0)
    return Ranks(
        low=np.sort(low, axis=0)[outside],
        high=np.sort(high, axis=0)[DRAWS - 1 - outside],
        first=(leads / leads.sum(axis=1, keepdims=True)).mean(axis=0),
        first_p_value=np.array([_first_p(estimates, chosen, i, int(missed[i]), games) for i in range(len(chosen))]),
    )


def _alike(estimates: Estimates, chosen: Sequence[int]) -> Flags:
    """chosen x chosen: pairs whose difference has no error because few blocks agree on it."""
    import numpy as np

    freedom = estimates.freedom[chosen]
    few = agrees_by_luck(np.minimum(freedom[:, None], freedom))
    alike = np.zeros(few.shape, dtype=bool)
    for i in np.flatnonzero(few.any(axis=1)).tolist():
        alike[i] = few[i] & (errors_beside(estimates.influence, chosen[i], chosen) == 0)
    return alike


def _drawn(estimates: Estimates, chosen: Sequence[int], stream: int) -> Floats:
    """DRAWS x chosen: the means as one stream of draws has them."""
    import numpy as np
    from scipy import stats

    mean = estimates.mean[chosen]
    # Quantiles are dear, and often all entrants have the same freedom, but for the last bits.
    freedom, which = np.unique(estimates.freedom[chosen].round(9), return_inverse=True)
    influence = estimates.influence[:, chosen]
    rng = np.random.default_rng([BOOTSTRAP_SEED, stream] if stream else BOOTSTRAP_SEED)
    stretch = np.sqrt(freedom / stats.chi2.ppf(rng.uniform(size=DRAWS)[:, None], freedom))
    moved = np.zeros((DRAWS, len(mean)))
    for start in range(0, len(influence), BLOCKS_AT_ONCE):
        part = influence[start : start + BLOCKS_AT_ONCE]
        moved += rng.standard_normal((DRAWS, len(part))) @ part
    drawn: Floats = mean + moved * stretch[:, which]
    return drawn


def _first_p(estimates: Estimates, chosen: Sequence[int], i: int, missed: int, games: int) -> float:
    """Twice the share of draws in which the i-th of `chosen` is not first alone; `missed` says in how many it is not.

    One draw is the least that is believed to be missing: no number of draws shows a chance of nothing.
    """
    draws = DRAWS
    if at_most(2 * missed / draws, LEVEL):
        for stream in range(1, games):
            drawn = _drawn(estimates, chosen, stream)
            missed += int(((drawn >= drawn[:, i : i + 1] - ZERO).sum(axis=1) > 1).sum())
            draws += DRAWS
    return min(1.0, 2 * max(missed, 1) / draws)


def gap(estimates: Estimates, one: int, other: int) -> Gap:
    """The mean of `one` less that of `other` with its clustered interval: errors are paired by block.

    Degrees of freedom are the smaller of the two, which errs to the wide side. Blocks needed and detectable are those
    at which the t test at 5 % succeeds with POWER, by the noncentral t distribution; with more blocks, errors shrink
    with the root of their number, and degrees of freedom grow in proportion.
    There is no interval, NaN, where one of the two has none, or blocks agree on the difference that may do so by luck.
    """
    from scipy import stats

    difference, blocks = float(estimates.mean[one] - estimates.mean[other]), len(estimates.influence)
    if isnan(estimates.half_width[one] + estimates.half_width[other]):
        return Gap(difference, nan, nan, nan, blocks)
    error = float(errors_beside(estimates.influence, one, [other])[0])
    freedom = min(estimates.freedom[one], estimates.freedom[other])
    if error == 0 and agrees_by_luck(freedom):
        return Gap(difference, nan, nan, nan, blocks)
    quantile = float(stats.t.ppf(0.5 + CONFIDENCE / 2, freedom))
    return Gap(difference, quantile * error, error, float(freedom), blocks)


def detectable_between(estimates: Estimates, chosen: Sequence[int]) -> float | None:
    """The smallest true difference that these blocks show between two typical entrants: the median over pairs of the
    `chosen`, infinite as in `Gap`. None when no pair has an interval."""
    import numpy as np

    known = [one for one in chosen if not isnan(estimates.half_width[one])]
    found: list[float] = []
    for n, one in enumerate(known):
        others = known[n + 1 :]
        errors = errors_beside(estimates.influence, one, others)
        freedom = np.minimum(estimates.freedom[one], estimates.freedom[others])
        shown = ~agrees_by_luck(freedom) | (errors > 0)
        found += [
            errors_detectable(f) * error
            for f, error in zip(freedom[shown].tolist(), errors[shown].tolist(), strict=True)
        ]
    least = float(np.median(found)) if found else None
    return least if least is None or least <= LARGEST else inf


def errors_beside(influence: Floats, one: int, others: Sequence[int]) -> Floats:
    """By each of `others`: the standard error of its mean's difference from that of `one`, paired by block."""
    import numpy as np

    return zeroed(np.sqrt(((influence[:, others] - influence[:, [one]]) ** 2).sum(axis=0)))
