"""How sure a difference of bounded scores is while a rare failure may not have shown yet: two grades, never mixed.

Owns the betting interval of a finished set of blocks, the grades, and the rare loss that so many blocks cannot exclude.
Knows no designs and no words for people.

An interval by normal theory takes the spread that was seen for the spread there is. A policy that loses everything in
one block of twenty shows none of it in most runs of ten blocks, and the interval then excludes the truth. A bet against
each mean holds for every distribution between two bounds: with x the values, all at least `end`, blocks independent,
and f a share of the stake,

    stake = mean over f of product over blocks of (1 + f * (x - mean) / (mean - end))

has an expectation of at most 1 where the average of the blocks' expectations is `mean` or less: each product has at
most the n-th power of its average factor, since a geometric mean is at most the arithmetic one. So by Markov's
inequality the stake comes to 1 / level with a chance of at most `level`. Expectations may differ from block to block,
as those of a schedule's tables do, and the order of the blocks plays no part. For looks after every block there is
`weigh.harness.stats.betting`, which chooses each bet by the blocks before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, log, log2, sqrt
from typing import TYPE_CHECKING, Literal, TypeAlias

from weigh.harness.stats.betting import largest_given_up
from weigh.harness.stats.power import LEVEL, ZERO

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Estimates, Floats

Grade: TypeAlias = Literal["guaranteed", "barring_rare_failures"]
"""Of the claim that a difference is not 0. Guaranteed: wrong in at most 5 % of runs whatever the distribution of
bounded scores. Barring rare failures: the interval by normal theory excludes 0 and the betting interval does not, so
the claim is wrong more often where blocks lose much, rarely."""


def p_bounded(values: Floats, mean: float, end: float) -> float:
    """The p-value of "the average of the blocks' expectations is `mean` or less", for values none of which lies below
    `end`; 1 for no values. One look at a finished set.

    The shares f run from the one that is best for blocks that are all or nothing, sqrt(2 log(1 / level) / n), to the
    whole stake, in steps of at most a factor of 2. Raises ValueError for a value below `end` or an `end` not below
    `mean`.
    """
    import numpy as np

    gap = mean - end
    if gap <= 0:
        raise ValueError(f"no stake can be bet against a mean of {mean} with values from {end} on")
    if not len(values):
        return 1.0
    if float(values.min()) < end - ZERO * gap:
        raise ValueError(f"a value of {float(values.min())} lies below the end of {end}")
    least = min(1.0, sqrt(2 * log(2 / LEVEL) / len(values)))
    steps = ceil(log2(1 / least))
    shares = least ** (np.arange(steps + 1) / max(steps, 1)) if steps else np.ones(1)
    away = np.maximum((values - mean) / gap, -1.0)
    with np.errstate(divide="ignore"):
        stakes = np.log1p(shares[:, None] * away).sum(axis=1)
    return exp(-max(0.0, float(np.logaddexp.reduce(stakes)) - log(len(shares))))


def bounded_interval(values: Floats, low: float, high: float, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the average expectation of values between `low` and `high` that holds it in 1 - `level` of runs,
    whatever their distribution; [low, high] for no values. Raises ValueError for a value outside."""
    if not len(values):
        return low, high
    return (
        largest_given_up(lambda mean: p_bounded(values, mean, low), level / 2, low, float(values.max())),
        -largest_given_up(lambda mean: p_bounded(-values, mean, -high), level / 2, -high, -float(values.min())),
    )


def p_lead(estimates: Estimates, chosen: Sequence[int], one: int, low: float, high: float) -> float:
    """The p-value of "`one` is first among the `chosen`" on this schedule, for scores between `low` and `high`.

    To be first is to be ahead of each other, so it is the largest of those p-values, times the number of the chosen, of
    whom each might be called first. The lead over another is the average over blocks of x, what a block adds to the one
    mean less what it adds to the other, times the number of blocks.
    """
    others = [other for other in chosen if other != one]
    return min(1.0, len(chosen) * max((_p_ahead(estimates, one, other, low, high) for other in others), default=1.0))


def _p_ahead(estimates: Estimates, one: int, other: int, low: float, high: float) -> float:
    both = [one, other]
    there = estimates.sat[:, both].any(axis=1)
    scale = there.sum() / estimates.count[both]
    sat, sums = (table[there][:, both] * scale for table in (estimates.sat, estimates.sums))
    return p_bounded(sums[:, 0] - sums[:, 1], 0.0, float((sat[:, 0] * low - sat[:, 1] * high).min()))


def grade(interval: tuple[float, float] | None, bounded: tuple[float, float]) -> Grade | None:
    """Of a difference with the 95 % `interval` of normal theory (None for none) and that of bets: None where neither
    excludes 0."""
    if bounded[0] > 0 or bounded[1] < 0:
        return "guaranteed"
    if interval is not None and (interval[0] > 0 or interval[1] < 0):
        return "barring_rare_failures"
    return None


@dataclass(frozen=True, slots=True)
class RareLoss:
    """A loss that a number of blocks cannot exclude, because none of them need have shown it."""

    blocks: int
    loss: float
    """In a block, in mean score."""
    share: float
    """The largest share of such blocks of which none shows in `blocks` with a chance of 5 %: 1 - 0.05^(1 / blocks)."""
    moves: float
    """By how much such a loss would lower a mean score: share * loss."""


def rare_loss(blocks: int, loss: float = 1.0) -> RareLoss:
    """The share of blocks with this `loss` that `blocks` without one cannot exclude at 95 %."""
    share = 1 - LEVEL ** (1 / blocks) if blocks else 1.0
    return RareLoss(blocks, loss, share, share * loss)
