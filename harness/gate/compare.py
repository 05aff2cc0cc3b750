"""Two arms compared on the same blocks, once and without a margin: how far apart, how surely.

Owns the two-sided comparison of one finished set of block differences. For many looks there is
`harness.gate.sequential`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weigh.harness.gate.sequential import WIDEST, present
from weigh.harness.stats.clustered import LEAST_ALIKE, cluster_mean, zeroed
from weigh.harness.stats.power import LEVEL, POWER, one_sided_detectable
from weigh.harness.stats.sign_flip import sign_flip


@dataclass(frozen=True, slots=True)
class Comparison:
    """One arm less the other. A number that does not exist is None."""

    n: int
    """Blocks with a difference: what is independent."""
    missing: int
    """Blocks without one."""
    mean: float | None
    """Mean of block differences, each block counting once however many pairs it holds."""
    sd: float | None
    """Of block differences, divided by n - 1; 0 where all agree."""
    interval: tuple[float, float] | None
    """95 % t interval of the mean, clustered by block and cut to [-2, 2]. None for fewer than two blocks, and for fewer
    than five that all agree, which equals do often enough."""
    p: float | None
    """Two-sided sign-flip p-value of "no difference"; exact where differences are symmetric about 0. None for none."""
    mde: float | None
    """Minimum detectable effect: the difference that so many blocks find in four runs of five, two-sided at 5 %."""


def compare(differences: Sequence[float | None]) -> Comparison:
    """What the block differences of two arms say. None or NaN for a block that has none.

    For one look at the end: stopping when `p` is small makes it too small. Raises ValueError for a difference outside
    [-2, 2].
    """
    import numpy as np

    values, missing = present(differences)
    n = len(values)
    mean, half = cluster_mean(values, np.arange(n))
    sd = float(zeroed(values.std(ddof=1))) if n > 1 else None
    known = sd is not None and (sd > 0 or n >= LEAST_ALIKE)
    return Comparison(
        n=n,
        missing=missing,
        mean=mean if n else None,
        sd=sd,
        interval=(max(-WIDEST, mean - half), min(WIDEST, mean + half)) if known else None,
        p=sign_flip(values, "two-sided") if n else None,
        mde=None if sd is None else one_sided_detectable(n, sd, LEVEL / 2, 1 - POWER),
    )
