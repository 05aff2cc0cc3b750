"""Several claims made at once: p-values corrected for their number.

Owns Holm's correction, for all that claims more than one thing. Knows nothing of the claims.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number: the chance of any wrong claim at 5 % is then at most 5 %, whichever claims
    are wrong and however they hang together (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    if len(p_values) < 2:
        return list(p_values)
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(p_values, method="holm")[1]]


def holm_of_known(p_values: Sequence[float | None]) -> list[float | None]:
    """The same where some claims could not be tested: those stay None, and do not count."""
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]
