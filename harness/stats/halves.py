"""How much of a ranking the choice of blocks decides: agreement of halves, and how few blocks make the leader.

Owns both numbers, over what each block adds to each mean. Knows no frames, names or files. Descriptive: neither is a
test, and neither is part of a claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weigh.harness.stats.clustered import BOOTSTRAP_SEED
from weigh.harness.stats.power import ZERO

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Estimates

SPLITS = 200
"""Random ways to halve the blocks."""

LEAST_ENTRANTS, LEAST_BLOCKS = 3, 4
"""Two entrants always correlate perfectly, and halves of one block are no means."""


def split_half_reliability(estimates: Estimates, chosen: Sequence[int]) -> float | None:
    """How well the means of the `chosen` in all blocks would agree with those in as many others: 1 for the same order
    and distances, 0 for noise.

    The Spearman-Brown step-up 2r / (1 + r) of r, the correlation of entrant means between random halves of the blocks,
    averaged over SPLITS halvings (Brown, British Journal of Psychology 3, 1910). At most 1; negative where halves
    disagree. None for fewer than LEAST_ENTRANTS or LEAST_BLOCKS, and where means do not differ, or somebody has no
    score in a half.
    """
    import numpy as np

    sums, sat = estimates.sums[:, chosen], estimates.sat[:, chosen]
    blocks = len(sums)
    if len(chosen) < LEAST_ENTRANTS or blocks < LEAST_BLOCKS:
        return None
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    half = np.zeros((SPLITS, blocks))
    half[:, : blocks // 2] = 1
    half = rng.permuted(half, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        one, other = half @ sums / (half @ sat), (1 - half) @ sums / ((1 - half) @ sat)
    one, other = one - one.mean(axis=1, keepdims=True), other - other.mean(axis=1, keepdims=True)
    spread = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    if not np.isfinite(spread).all() or (spread <= ZERO).any():
        return None
    r = float(((one * other).sum(axis=1) / spread).mean())
    return 2 * r / (1 + r) if r > -1 + ZERO else -1.0


def blocks_deciding_first(estimates: Estimates, chosen: Sequence[int]) -> int | None:
    """The fewest blocks without which the first of the `chosen` by mean is no longer ahead of all others.

    Exact where both entrants sat equally often in each block; else the blocks that add most to the lead are left out
    first; all, where the leader is ahead to the last of them. None for fewer than two entrants and no single leader.
    """
    import numpy as np

    if len(chosen) < 2:
        return None
    first, *others = sorted(chosen, key=lambda one: -float(estimates.mean[one]))
    if estimates.mean[others[0]] >= estimates.mean[first] - ZERO:
        return None
    away = (estimates.sums - estimates.sat * estimates.mean) / estimates.count
    found = [len(estimates.sums)]
    for other in others:
        order = np.argsort(away[:, other] - away[:, first], kind="stable")
        pair = [first, other]
        left = [table[order][::-1, pair].cumsum(axis=0)[::-1] for table in (estimates.sums, estimates.sat)]
        with np.errstate(invalid="ignore", divide="ignore"):
            means = left[0] / left[1]
        behind = np.flatnonzero(means[:, 0] - means[:, 1] <= ZERO)
        if len(behind):
            found.append(int(behind[0]))
    return min(found)
