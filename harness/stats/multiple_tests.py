"""Several claims made at once: p-values corrected for their number.

Owns Holm's correction, and Benjamini and Hochberg's, for all that claims more than one thing. Knows nothing of the
claims. Both give the numbers of statsmodels' `multipletests`, which tests compare.
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number: the chance of any wrong claim at 5 % is then at most 5 %, whichever claims
    are wrong and however they hang together (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    import numpy as np

    p = np.array(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return [float(each) for each in corrected]


def holm_of_known(p_values: Sequence[float | None]) -> list[float | None]:
    """The same where some claims could not be tested: those stay None, and do not count."""
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p-values corrected so that of the claims made at 5 %, at most 5 % are wrong on average, for independent or
    positively dependent ones (Benjamini & Hochberg, Journal of the Royal Statistical Society B 57, 1995)."""
    import numpy as np

    p = np.array(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    shares = p[order] / (np.arange(1, len(p) + 1) / len(p))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.minimum.accumulate(shares[::-1])[::-1])
    return [float(each) for each in corrected]
