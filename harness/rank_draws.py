"""How sure a ranking is: ranks under a block bootstrap, and the leader against the runner-up.

Owns the arithmetic over means and what each block adds to their errors. Knows no frames, names or files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from harness.clusters import BOOTSTRAP_SEED, CONFIDENCE, DRAWS, ZERO

if TYPE_CHECKING:
    from harness.clusters import Estimates, Floats, Ints

BLOCKS_AT_ONCE = 4_096
"""Weights drawn at a time, so that memory does not grow with the run."""

POWER = 0.8
"""The chance to see the difference, for which `blocks_needed` is worked out."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Ranks over the draws: arrays by entrant."""

    low: Ints
    """The best rank of the 95 % interval."""
    high: Ints
    """The worst rank of it. 1 means: first in at least 97.5 % of the draws."""
    first: Floats
    """Share of the draws in which the entrant is first; a draw shared by k counts 1/k for each."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One mean less another."""

    difference: float
    half_width: float
    """Half the length of its 95 % interval, or NaN."""
    blocks_needed: int | None
    """Blocks of the whole schedule at which so large a difference would show in four runs of five; 0 for a difference
    without error, None for no difference or no interval."""


def draw_ranks(estimates: Estimates, chosen: Sequence[int]) -> Ranks:
    """Ranks by mean among the `chosen` entrants, all with an interval, over DRAWS draws of a block bootstrap.

    Each draw gives every block one random weight, the same for all entrants of the block: a multiplier bootstrap with
    normal weights (Wu, Annals of Statistics 14, 1986), which keeps the dependence within tables and needs no block
    to come twice. Deviations are then stretched by sqrt(f / chi-square with f degrees of freedom), so that a draw
    has the tails of the t of the interval: few blocks give wide ranks, where plain resampling of two blocks
    would be sure of its leader.
    """
    import numpy as np
    from scipy import stats

    mean, freedom = estimates.mean[chosen], estimates.freedom[chosen]
    influence = estimates.influence[:, chosen]
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    stretch = np.sqrt(freedom / stats.chi2.ppf(rng.uniform(size=DRAWS)[:, None], freedom))
    moved = np.zeros((DRAWS, len(mean)))
    for start in range(0, len(influence), BLOCKS_AT_ONCE):
        part = influence[start : start + BLOCKS_AT_ONCE]
        moved += rng.standard_normal((DRAWS, len(part))) @ part
    drawn = mean + moved * stretch
    low = np.empty(drawn.shape, dtype=np.intp)
    high = np.empty(drawn.shape, dtype=np.intp)
    for i in range(len(mean)):
        ahead = drawn - drawn[:, i : i + 1]
        low[:, i] = 1 + (ahead > ZERO).sum(axis=1)
        high[:, i] = (ahead >= -ZERO).sum(axis=1)
    leads = low == 1
    tail = (1 - CONFIDENCE) / 2
    return Ranks(
        low=np.quantile(low, tail, axis=0, method="inverted_cdf"),
        high=np.quantile(high, 1 - tail, axis=0, method="inverted_cdf"),
        first=(leads / leads.sum(axis=1, keepdims=True)).mean(axis=0),
    )


def gap(estimates: Estimates, one: int, other: int) -> Gap:
    """The mean of `one` less that of `other` with its clustered interval: errors are paired by block.

    Degrees of freedom are the smaller of the two, which errs to the wide side. Blocks needed: those at which the
    difference found is (z(.975) + z(.8)) standard errors, errors shrinking with the root of the number of blocks.
    Where one of the two has no interval, there is none of the difference: NaN.
    """
    import numpy as np
    from scipy import stats

    difference = float(estimates.mean[one] - estimates.mean[other])
    if isnan(estimates.half_width[one] + estimates.half_width[other]):
        return Gap(difference, float("nan"), None)
    error = float(np.sqrt(((estimates.influence[:, one] - estimates.influence[:, other]) ** 2).sum()))
    quantile = float(stats.t.ppf(0.5 + CONFIDENCE / 2, min(estimates.freedom[one], estimates.freedom[other])))
    needed = None
    if abs(difference) > ZERO:
        distance = float(stats.norm.ppf(0.5 + CONFIDENCE / 2) + stats.norm.ppf(POWER))
        needed = int(np.ceil(len(estimates.influence) * (distance * error / difference) ** 2))
    return Gap(difference, quantile * error, needed)
