"""The fixed-size test a sequential one is measured by.

Owns sample sizes and detectable effects. Knows no sequence of looks and no verdicts.
"""

from __future__ import annotations

from weigh.harness.stats.clustered import ZERO


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
