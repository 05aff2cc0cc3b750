"""How sure a ranking is: ranks under a block bootstrap, and the leader against the runner-up.

Owns the arithmetic over means and what each block adds to their errors. Knows no frames, names or files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING

from harness.clusters import BOOTSTRAP_SEED, CONFIDENCE, DRAWS, LEAST_ALIKE, ZERO

if TYPE_CHECKING:
    from harness.clusters import Estimates, Flags, Floats, Ints

BLOCKS_AT_ONCE = 4_096
"""Weights drawn at a time, so that memory does not grow with the run."""

POWER = 0.8
"""The chance to see the difference, for which `blocks_needed` and `detectable` are worked out."""

LEVEL = 1 - CONFIDENCE
"""At which somebody is called first."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Ranks over the draws: arrays by entrant."""

    low: Ints
    """The best rank of the 95 % interval."""
    high: Ints
    """The worst rank of it. 1 means: first in at least 97.5 % of the draws."""
    first: Floats
    """Share of the draws in which the entrant is first; a draw shared by k counts 1/k for each."""
    first_p: Floats
    """p-value, two-sided, of the claim that the entrant is first: at most 0.05 where `high` is 1, and only there, when
    there is one game."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One mean less another."""

    difference: float
    half_width: float
    """Half the length of its 95 % interval, or NaN."""
    blocks_needed: int | None
    """Blocks of the whole schedule at which so large a difference would show in four runs of five; 0 for a difference
    without error, None for no difference or no interval."""
    detectable: float | None
    """The smallest true difference that these blocks show in four runs of five; None for no interval."""


def draw_ranks(estimates: Estimates, chosen: Sequence[int], games: int = 1) -> Ranks:
    """Ranks by mean among the `chosen` entrants, all with an interval, over DRAWS draws of a block bootstrap.

    Each draw gives every block one random weight, the same for all entrants of the block: a multiplier bootstrap with
    normal weights (Wu, Annals of Statistics 14, 1986), which keeps the dependence within tables and needs no block
    to come twice. Deviations are then stretched by sqrt(f / chi-square with f degrees of freedom), so that a draw
    has the tails of the t of the interval: few blocks give wide ranks, where plain resampling of two blocks
    would be sure of its leader.

    `games` is how many games somebody may be called first in. With k of them a claim may have to hold at 0.05 / k, so
    where a p-value is 0.05 or less, it is taken from k * DRAWS draws: as many of them decide there as with one game.

    Two entrants whose difference was the same in each of fewer than LEAST_ALIKE blocks are level in every draw.
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
    tail = (1 - CONFIDENCE) / 2
    missed = (high > 1).sum(axis=0)
    return Ranks(
        low=np.quantile(low, tail, axis=0, method="inverted_cdf").astype(np.intp),
        high=np.quantile(high, 1 - tail, axis=0, method="inverted_cdf").astype(np.intp),
        first=(leads / leads.sum(axis=1, keepdims=True)).mean(axis=0),
        first_p=np.array([_first_p(estimates, chosen, i, int(missed[i]), games) for i in range(len(chosen))]),
    )


def _alike(estimates: Estimates, chosen: Sequence[int]) -> Flags:
    """chosen x chosen: pairs whose difference has no error because few blocks agree on it."""
    import numpy as np

    influence, blocks = estimates.influence[:, chosen], estimates.blocks[chosen]
    few = np.minimum(blocks[:, None], blocks) < LEAST_ALIKE
    alike = np.zeros(few.shape, dtype=bool)
    for i in np.flatnonzero(few.any(axis=1)):
        error = np.sqrt(((influence - influence[:, i : i + 1]) ** 2).sum(axis=0))
        alike[i] = few[i] & (error <= ZERO)
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
    if 2 * missed / draws <= LEVEL + ZERO:
        for stream in range(1, games):
            drawn = _drawn(estimates, chosen, stream)
            missed += int(((drawn >= drawn[:, i : i + 1] - ZERO).sum(axis=1) > 1).sum())
            draws += DRAWS
    return min(1.0, 2 * max(missed, 1) / draws)


def gap(estimates: Estimates, one: int, other: int) -> Gap:
    """The mean of `one` less that of `other` with its clustered interval: errors are paired by block.

    Degrees of freedom are the smaller of the two, which errs to the wide side. Blocks needed: those at which the
    difference found is (z(.975) + z(.8)) standard errors, errors shrinking with the root of the number of blocks.
    Detectable is the difference at which the t test at 5 % succeeds with POWER, by the noncentral t distribution.
    There is no interval, NaN, where one of the two has none, or fewer than LEAST_ALIKE blocks agree on the difference.
    """
    import numpy as np
    from scipy import stats

    difference = float(estimates.mean[one] - estimates.mean[other])
    if isnan(estimates.half_width[one] + estimates.half_width[other]):
        return Gap(difference, float("nan"), None, None)
    error = float(np.sqrt(((estimates.influence[:, one] - estimates.influence[:, other]) ** 2).sum()))
    if error <= ZERO and min(estimates.blocks[one], estimates.blocks[other]) < LEAST_ALIKE:
        return Gap(difference, float("nan"), None, None)
    freedom = min(estimates.freedom[one], estimates.freedom[other])
    quantile = float(stats.t.ppf(0.5 + CONFIDENCE / 2, freedom))
    needed = None
    if abs(difference) > ZERO:
        distance = float(stats.norm.ppf(0.5 + CONFIDENCE / 2) + stats.norm.ppf(POWER))
        needed = int(np.ceil(len(estimates.influence) * (distance * error / difference) ** 2))
    return Gap(difference, quantile * error, needed, _errors_detectable(float(freedom)) * error)


def detectable_between(estimates: Estimates, chosen: Sequence[int]) -> float | None:
    """The smallest true difference that these blocks show between two typical entrants: the median over pairs of the
    `chosen`. None when no pair has an interval."""
    from statistics import median

    gaps = (gap(estimates, one, other).detectable for one, other in combinations(chosen, 2))
    found = [least for least in gaps if least is not None]
    return median(found) if found else None


@cache
def _errors_detectable(freedom: float) -> float:
    """How many standard errors a true difference must have so that a t test at 5 %, two-sided, succeeds with POWER.

    The chance of a success on the wrong side is left out: it is below 0.0001.
    """
    from scipy import special, stats

    return float(special.nctdtrinc(freedom, 1 - POWER, stats.t.ppf(0.5 + CONFIDENCE / 2, freedom)))
