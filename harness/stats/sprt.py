"""Fishtest's sequential test, which is told beside the gate's own verdict and does not decide it.

Owns the formulas: Wald's bounds and the log likelihood ratio on the normalised difference. Knows no designs and no
verdicts. `docs/method.md`, "The gate", says why it is told only: with the sign-flip test at its stop it passed far more
than alpha of the candidates that lose rarely and much.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

from weigh.harness.stats.clustered import ZERO

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Floats


class Bounds(NamedTuple):
    """Where the test stops, on the scale of the log likelihood ratio."""

    low: float
    """At or below: the second mean is given up."""
    high: float
    """At or above: the first mean is given up."""


def wald_bounds(alpha: float, beta: float) -> Bounds:
    """Wald's bounds, log(beta / (1 - alpha)) and log((1 - beta) / alpha) (Annals of Mathematical Statistics 16, 1945).

    `alpha` is the chance to reach the high bound under the first mean, `beta` the low one under the second.
    """
    return Bounds(log(beta / (1 - alpha)), log((1 - beta) / alpha))


def log_likelihood_ratio(values: Floats, first: float, second: float) -> float | None:
    """n * (second - first) * (2 * mean - first - second) / (2 * variance): the mean `second` against the mean `first`.

    The generalised likelihood ratio of two means in its normal approximation, as Fishtest uses it (Van den Bergh, "A
    practical introduction to the GSPRT"); `variance` is the maximum likelihood one, divided by n. None for values
    without spread, which the formula takes for certainty.
    """
    variance = float(values.var()) if len(values) else 0.0
    if variance <= ZERO**2:
        return None
    return len(values) * (second - first) * (2 * float(values.mean()) - first - second) / (2 * variance)
