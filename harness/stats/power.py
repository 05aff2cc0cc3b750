"""How large a difference so many blocks can show, and how many blocks a difference needs.

Owns the power of the two-sided t test of a difference between two means over blocks, and the size of the one-sided one
that a gate is measured by. Pure arithmetic; scipy's noncentral t. One block is one observation: its contributions to
both means are paired.

With d the true difference, s the standard deviation of a block's contribution to it, B blocks, f degrees of freedom:

    power = P(|T| > t(1 - alpha/2, f)),   T ~ noncentral t(f, d sqrt(B) / s)

Cohen, Statistical Power Analysis (1988), chapter 2. f is B - 1 at a full table; fewer where entrants sit out blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

LEVEL = 0.05
"""At which a difference is significant, and somebody is called first."""

CONFIDENCE = 1 - LEVEL
"""Of every interval."""

POWER = 0.8
"""The chance to see a difference, for which numbers of blocks and detectable differences are worked out."""

ZERO = 1e-9
"""Scores closer than this are equal: they are floats nearest to exact fractions, at most 1 away from 0. Of other
quantities it is a share, see `at_most`."""

LEAST_BLOCKS = 2
"""Fewer give no interval, and so no test."""

MOST_BLOCKS = 1_000_000
"""More are not looked for."""

LARGEST = 2.0
"""No two mean scores lie further apart: scores are in [-1, 1]."""


@dataclass(frozen=True, slots=True)
class Test:
    """What is asked of the comparison."""

    __test__ = False  # not one of pytest's

    difference: float = 0.1
    """In mean score."""
    alpha: float = LEVEL
    """The chance to see a difference where there is none."""
    power: float = POWER
    """The chance to see a difference of this size."""


def power_at(difference: float, sd: float, blocks: float, alpha: float, share: float = 1.0) -> float:
    """The chance that `blocks` show a true `difference`; NaN without spread or with too few blocks.

    `share`: degrees of freedom are share * blocks - 1, at least 1.
    """
    from scipy import special, stats

    if blocks < LEAST_BLOCKS or sd <= 0:
        return math.nan
    freedom = freedom_of(blocks, share)
    shift = abs(difference) * math.sqrt(blocks) / sd
    critical = float(stats.t.ppf(1 - alpha / 2, freedom))
    # `nctdtr` is the distribution function behind `stats.nct`. Far out it gives up, where the power is 1.
    above = 1.0 - float(special.nctdtr(freedom, shift, critical))
    below = float(special.nctdtr(freedom, shift, -critical))
    found = above + (0.0 if math.isnan(below) else below)
    return 1.0 if math.isnan(found) else min(1.0, max(0.0, found))


def freedom_of(blocks: float, share: float) -> float:
    return max(1.0, share * blocks - 1.0)


def blocks_needed(sd: float, test: Test, share: float = 1.0) -> int | None:
    """The fewest blocks that show `test.difference` with `test.power`; None without spread, or beyond MOST_BLOCKS."""
    if not sd > 0 or not test.difference > 0:
        return None

    def enough(blocks: int) -> bool:
        return power_at(test.difference, sd, blocks, test.alpha, share) >= test.power

    high = LEAST_BLOCKS
    while not enough(high):
        if high >= MOST_BLOCKS:
            return None
        high = min(MOST_BLOCKS, 2 * high)
    low = max(LEAST_BLOCKS, high // 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def detectable(sd: float, blocks: float, test: Test, share: float = 1.0) -> float | None:
    """The smallest true difference that `blocks` show with `test.power`; None without spread, with fewer than two
    blocks, or where no two scores can differ so much."""
    from scipy import optimize

    if blocks < LEAST_BLOCKS or not sd > 0:
        return None

    def missing(difference: float) -> float:
        return power_at(difference, sd, blocks, test.alpha, share) - test.power

    if missing(LARGEST) < 0:
        return None
    return float(optimize.brentq(missing, 0.0, LARGEST, xtol=1e-9))


@cache
def errors_detectable(freedom: float) -> float:
    """How many standard errors a true difference must have so that a t test at LEVEL, two-sided, succeeds with POWER.

    The chance of a success on the wrong side is left out: it is below 0.0001.
    """
    from scipy import special, stats

    return float(special.nctdtrinc(freedom, 1 - POWER, stats.t.ppf(0.5 + CONFIDENCE / 2, freedom)))


def fixed_size(effect: float, sd: float, alpha: float, beta: float) -> int | None:
    """Blocks of the one-sided t test that finds a difference of `effect` with chance 1 - `beta` at level `alpha`.

    `sd` is the standard deviation of block differences. None where there is no spread to plan with.
    """
    from scipy import stats

    if not sd > ZERO or not effect > 0:
        return None
    distance = float(stats.norm.isf(alpha) + stats.norm.isf(beta))
    size = max(2, int((distance * sd / effect) ** 2))
    while _one_sided_power(effect / sd, size, alpha) < 1 - beta:
        size += 1
    while size > 2 and _one_sided_power(effect / sd, size - 1, alpha) >= 1 - beta:
        size -= 1
    return size


def _one_sided_power(effect: float, count: int, alpha: float) -> float:
    """`effect` in standard deviations. Noncentral t, as in `power_at`."""
    from scipy import special, stats

    missed = float(special.nctdtr(count - 1, effect * math.sqrt(count), stats.t.isf(alpha, count - 1)))
    return 1.0 if math.isnan(missed) else 1.0 - missed


def one_sided_detectable(count: int, sd: float, alpha: float, beta: float) -> float | None:
    """The least difference that a t test of `count` blocks finds with chance 1 - `beta`, at one-sided level `alpha`.

    (t(1 - alpha) + t(1 - beta)) * sd / sqrt(count), with count - 1 degrees of freedom. None for fewer than two blocks
    or no spread.
    """
    from scipy import stats

    if count < 2 or not sd > ZERO:
        return None
    quantiles = stats.t.isf([alpha, beta], count - 1)
    return float(quantiles.sum() * sd / count**0.5)
