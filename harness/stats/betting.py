"""Betting against a mean: evidence that may be looked at after every block, whatever the differences look like.

Owns the arithmetic: bets, p-values and bounds of a mean. Knows no designs, no verdicts and no records.

Somebody who starts with a stake of 1 bets before each block that it lies above a `mean`: with x the block's difference,
the stake is multiplied by 1 + bet * (x - mean). If E[x] is `mean` or less, no way of betting makes the stake grow on
average, so the chance that it ever reaches 1 / level is at most `level` (Ville, 1939; Waudby-Smith & Ramdas, Journal of
the Royal Statistical Society B 86, 2024). That needs two things and no others: blocks are drawn independently, and no x
lies below the `end`, so that no single block takes more than the stake. It holds at every block at once.

How the bet is chosen decides only how soon the stake grows. It may depend on earlier blocks, never on the block it is
laid on: nor on what the baseline scored in it, which is known beforehand. Smaller bets where the baseline was lucky,
and much can be lost, would be smaller bets where a loss is likely.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Floats

MOST = 0.95
"""The largest part of the stake that the worst block may take. Less is safer after a rare loss, and slower without."""

_STEPS = 40
"""Halvings of an interval no longer than 4: below 1e-11."""


def log_stakes(values: Floats, mean: float, end: float, effect: float) -> Floats:
    """The logarithm of the stake after each value, bet against "the mean is `mean` or less".

    No value may lie below `end`, and `end` lies below `mean`. `effect` is by how much the mean is expected to be above.

    With y = x - mean the bet is m / (v + m^2), which grows fastest where y has the mean m and the variance v and is
    small; at most MOST / (mean - end). m is `effect`, or the mean of earlier y less its standard error where that is
    more. v is their variance. Both reckon with one more y, as if differences were all or nothing: of mean `effect`, and
    with a square of effect * (mean - end).
    """
    import numpy as np

    away, gap = values - mean, mean - end
    before = np.arange(1, len(away) + 1)  # with the one more
    center = (np.cumsum(away) - away + effect) / before
    square = (np.cumsum(away * away) - away * away + effect * gap) / before
    variance = np.maximum(square - center * center, 0.0)
    hoped = np.maximum(effect, center - np.sqrt(variance / before))
    bets = np.minimum(hoped / (variance + hoped * hoped), MOST / gap)
    stakes: Floats = np.cumsum(np.log1p(bets * away))
    return stakes


def p_above(values: Floats, mean: float, end: float, effect: float) -> float:
    """The least level at which "the mean is `mean` or less" was given up after one of the values; 1 for none."""
    if not len(values):
        return 1.0
    return exp(-max(0.0, float(log_stakes(values, mean, end, effect).max())))


def lower_bound(values: Floats, level: float, end: float, effect: float) -> float:
    """The largest mean that was given up at `level`: it is ever above the true mean with a chance of at most `level`.

    Valid after every value, however many looks there were. `end` for no values.
    """
    if not len(values):
        return end
    return largest_given_up(lambda mean: p_above(values, mean, end, effect), level, end, float(values.max()))


def largest_given_up(p: Callable[[float], float], level: float, low: float, high: float) -> float:
    """The largest mean between `low` and `high` with a p-value of at most `level`: `p` falls with the mean, and `low`
    counts as given up."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if p(middle) <= level:
            low = middle
        else:
            high = middle
    return low


def upper_bound(values: Floats, level: float, end: float, effect: float) -> float:
    """The mirror image of `lower_bound`; `end` is the high one."""
    return -lower_bound(-values, level, -end, effect)


def fewest_zeros(level: float, mean: float, end: float) -> int:
    """How many differences of exactly 0 it takes to give up "the mean is `mean` or less" at `level`; `mean` below 0.

    log(1 / level) / log(1 + MOST * -mean / (mean - end)), rounded up, where -mean is at most half of -end.
    """
    import numpy as np

    count = 1
    while p_above(np.zeros(count), mean, end, -mean) > level:
        count *= 2
    low = count // 2
    while count - low > 1:
        middle = (low + count) // 2
        if p_above(np.zeros(middle), mean, end, -mean) > level:
            low = middle
        else:
            count = middle
    return count
