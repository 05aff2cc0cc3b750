"""The likelihood ratio of a sequential test on means, where nothing is known of the distribution but its range.

Owns the arithmetic: Wald's bounds, the exact generalised likelihood ratio, and its normal approximation. Knows no
designs, no verdicts and no records.

The generalised sequential probability ratio test compares the best explanation of what was seen under one mean with the
best under another (Van den Bergh, "A practical introduction to the GSPRT", as in fishtest's trinomial and pentanomial
models). Here a block difference may take any value between two ends, so the model is multinomial over the values seen
and the two ends. The ends carry no weight of their own; they are where a mean that the sample does not reach would have
to come from. Without them ten blocks that all show 0 would refute every other mean.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from harness.clusters import Floats

_INSIDE = 1 - 1e-12
"""How close to the ends of its range a multiplier is sought: there the likelihood may be 0."""


class Bounds(NamedTuple):
    """Where a sequential test stops, on the scale of the log likelihood ratio."""

    low: float
    """At or below: the second mean is given up."""
    high: float
    """At or above: the first mean is given up."""


def wald_bounds(alpha: float, beta: float) -> Bounds:
    """Wald's bounds, log(beta / (1 - alpha)) and log((1 - beta) / alpha) (Annals of Mathematical Statistics 16, 1945).

    `alpha` is the chance to reach the high bound under the first mean, `beta` the low one under the second.
    """
    return Bounds(log(beta / (1 - alpha)), log((1 - beta) / alpha))


def normal_llr(count: int, mean: float, variance: float, first: float, second: float) -> float:
    """count * (second - first) * (2 * mean - first - second) / (2 * variance): fishtest's formula.

    `variance` is the maximum likelihood one (divided by `count`), above 0. It is close to `exact_llr` where both means
    are close to the sample's and the sample is large. It trusts a small sample's variance, which `exact_llr` does not.
    """
    return count * (second - first) * (2 * mean - first - second) / (2 * variance)


def exact_llr(values: Floats, first: float, second: float, ends: tuple[float, float]) -> float:
    """The largest log likelihood of `values` with mean `second`, less the largest with mean `first`.

    Both means must lie strictly between the two `ends`, outside of which no value can lie. Raises ValueError otherwise.
    """
    return refuted(values, first, ends) - refuted(values, second, ends)


def refuted(values: Floats, mean: float, ends: tuple[float, float]) -> float:
    """How much the best fit to `values` is better than the best with this `mean`: 0 for their own mean, else above 0.

    In units of log likelihood.

    With x the values less `mean`, it is the maximum over t of sum(log(1 + t * x)), t such that 1 + t * x >= 0 at both
    ends: Lagrange's dual of the constrained maximum, which gives weight 1 / (n * (1 + t * x)) to each value and what is
    left to an end (Owen, Biometrika 75, 1988; with the ends, Honda & Takemura, COLT 2010). Concave in t, so its one
    stationary point is found by bracketing.
    """
    import numpy as np
    from scipy.optimize import brentq

    low, high = ends
    if not low < mean < high:
        raise ValueError(f"a mean of {mean} does not lie between the ends {low} and {high}")
    if not len(values):
        return 0.0
    away = values - mean
    if float(away.min()) < (low - mean) * (1 + 1e-9) or float(away.max()) > (high - mean) * (1 + 1e-9):
        raise ValueError(f"values from {values.min()} to {values.max()} do not lie between the ends {low} and {high}")
    least, most = -_INSIDE / (high - mean), _INSIDE / (mean - low)

    def slope(multiplier: float) -> float:
        return float((away / (1 + multiplier * away)).sum())

    if slope(most) >= 0:
        multiplier = most
    elif slope(least) <= 0:
        multiplier = least
    else:
        multiplier = float(brentq(slope, least, most, xtol=1e-12, rtol=1e-12))
    return max(0.0, float(np.log1p(multiplier * away).sum()))
