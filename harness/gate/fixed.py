"""The fixed-size test a sequential one is measured by, and the bounds of a mean.

Owns sample sizes, detectable effects and bounds at one look. Knows no sequence of looks and no verdicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.clusters import ZERO

if TYPE_CHECKING:
    from harness.clusters import Floats


def fixed_size(effect: float, sd: float, alpha: float, beta: float) -> int | None:
    """Blocks of the one-sided t test that finds a difference of `effect` with chance 1 - `beta` at level `alpha`.

    `sd` is the standard deviation of block differences. The power is that of statsmodels' TTestPower (noncentral t).
    None where there is no spread to plan with.
    """
    from scipy import stats
    from statsmodels.stats.power import TTestPower

    if not sd > ZERO or not effect > 0:
        return None
    power = TTestPower().power
    distance = float(stats.norm.isf(alpha) + stats.norm.isf(beta))
    size = max(2, int((distance * sd / effect) ** 2))
    while power(effect / sd, size, alpha, alternative="larger") < 1 - beta:
        size += 1
    while size > 2 and power(effect / sd, size - 1, alpha, alternative="larger") >= 1 - beta:
        size -= 1
    return size


def detectable(count: int, sd: float, alpha: float, beta: float) -> float | None:
    """The least difference that a t test of `count` blocks finds with chance 1 - `beta`, at one-sided level `alpha`.

    (t(1 - alpha) + t(1 - beta)) * sd / sqrt(count), with count - 1 degrees of freedom. None for fewer than two blocks
    or no spread.
    """
    from scipy import stats

    if count < 2 or not sd > ZERO:
        return None
    quantiles = stats.t.isf([alpha, beta], count - 1)
    return float(quantiles.sum() * sd / count**0.5)


def lower_bound(values: Floats, level: float, end: float) -> float:
    """A lower bound of the mean that is too high with chance `level`: the t bound with one value more, at the low end.

    The value that was not seen stands for losses too rare to have been met yet. Where it matters, with few blocks or
    blocks that all agree, the bound is about as low as one for a proportion: n blocks that all show 0 do not exclude a
    mean of `end` * q for (1 - q)^n > `level`. Elsewhere it is lower than the t bound by about (mean - end) / n. Never
    below `end`; `end` itself for no values.
    """
    from scipy import stats

    if not len(values):
        return end
    mean, error = _guarded(values, end)
    return max(end, mean - float(stats.t.isf(level, len(values))) * error)


def upper_bound(values: Floats, level: float, end: float) -> float:
    """The mirror image of `lower_bound`: an upper bound with one value more, at the high end."""
    return -lower_bound(-values, level, -end)


def p_above(values: Floats, mean: float, end: float) -> float:
    """The `level` at which `lower_bound` is `mean`: a p-value of "the mean is no more than that". 1 for no values."""
    from scipy import stats

    if not len(values):
        return 1.0
    guarded, error = _guarded(values, end)
    if error <= ZERO:
        return 1.0
    return float(stats.t.sf((guarded - mean) / error, len(values)))


def _guarded(values: Floats, end: float) -> tuple[float, float]:
    """Mean and standard error with one value more, at the end."""
    import numpy as np

    guarded = np.append(values, end)
    return float(guarded.mean()), float(guarded.std(ddof=1)) / len(guarded) ** 0.5
