"""Two arms on the same blocks: from their scores to block differences, and what a fixed number of these says.

Owns the pairing, the range of differences, and the one two-sided comparison that every paired command makes. Knows
scores as numbers only; for repeated interim analyses there is `harness.gate.sequential`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from weigh.harness.stats.clustered import LEAST_ALIKE, at_most, cluster_mean, zeroed
from weigh.harness.stats.power import LARGEST, LEVEL, POWER, one_sided_detectable
from weigh.harness.stats.rare import p_bounded
from weigh.harness.stats.sign_flip import sign_flip

if TYPE_CHECKING:
    from weigh.harness.stats.clustered import Floats

LOWEST, HIGHEST = -1.0, 1.0
"""Where scores lie; so differences lie in [-LARGEST, LARGEST]."""


def block_difference(candidate: Sequence[float | None], baseline: Sequence[float | None]) -> float | None:
    """The mean over a block's seats of (candidate score - baseline score), or None where a score is missing.

    Both scores of a seat come of one deal and the same opponents. A block without one of its rotations would weigh
    seats unevenly, so it counts as missing as a whole. Where seats cancel, the difference is 0, in whatever order they
    come. Raises ValueError for arms of unequal length, an empty block, or a score outside [-1, 1].
    """
    if len(candidate) != len(baseline) or not candidate:
        raise ValueError(f"a block of {len(candidate)} candidate and {len(baseline)} baseline scores has no pairs")
    total = 0.0
    missing = False
    for mine, old in zip(candidate, baseline, strict=True):
        if mine is None or old is None or mine != mine or old != old:
            missing = True
            continue
        for score in (mine, old):
            if not isfinite(score) or not LOWEST <= score <= HIGHEST:
                raise ValueError(f"a score of {score} does not lie between {LOWEST:g} and {HIGHEST:g}")
        total += mine - old
    if missing:
        return None
    return 0.0 if at_most(abs(total), 0.0, len(candidate)) else total / len(candidate)


def difference_range(
    baseline: Sequence[float], lowest: float = LOWEST, highest: float = HIGHEST
) -> tuple[float, float]:
    """The least and the greatest difference a block can show, from the baseline's mean score in each of its blocks.

    No assumption: the candidate scores `lowest` in every episode of the baseline's best block, or `highest` in its
    worst. `lowest` is what the rules allow (`Game.lowest`: -1/3 at goofspiel for four); `baseline` must hold every
    block that may be played. Raises ValueError for no blocks.

    One range for all blocks, although each block has its own (`lowest` less its baseline's score): a bet sized by that
    would be small where the baseline was lucky, which is where a loss is likely.
    """
    if not baseline:
        raise ValueError("a baseline without blocks says nothing of the range of differences")
    return lowest - max(baseline), highest - min(baseline)


@dataclass(frozen=True, slots=True)
class Paired:
    """One arm less the other over a fixed number of blocks. A number that does not exist is None."""

    n: int
    """Blocks with a difference: what is independent."""
    missing: int
    """Blocks without one."""
    mean: float | None
    """Mean of block differences, each block counting once."""
    sd: float | None
    """Of block differences, divided by n - 1; 0 where all agree."""
    interval: tuple[float, float] | None
    """95 % t interval of the mean, clustered by block and cut to what the rules allow. None for fewer than two blocks,
    and for fewer than five that all agree, which equals do often enough."""
    p: float | None
    """Two-sided sign-flip p-value of "no difference"; exact where differences are symmetric about 0. None for none."""
    detectable: float | None
    """Minimum detectable difference: what so many blocks find with 80 % power, two-sided at 5 %."""
    guaranteed: bool
    """Whether the betting interval of the mean, which holds for any bounded scores, excludes 0; so a difference is sure
    even if rare failures have not shown yet."""

    @property
    def alike(self) -> bool:
        """Whether all blocks show one and the same difference, more than one of them."""
        return self.n > 1 and self.sd == 0


def paired(differences: Sequence[float | None], largest: float = LARGEST) -> Paired:
    """What the block differences of two arms say. None or NaN for a block that has none; the rules allow none beyond
    `largest` either way.

    For one analysis at the end: stopping when `p` is small makes it too small. Raises ValueError for a difference
    outside [-2, 2].
    """
    import numpy as np

    values, missing = present(differences)
    n = len(values)
    mean, half = cluster_mean(values, np.arange(n))
    sd = float(zeroed(values.std(ddof=1))) if n > 1 else None
    known = sd is not None and (sd > 0 or n >= LEAST_ALIKE)
    return Paired(
        n=n,
        missing=missing,
        mean=mean if n else None,
        sd=sd,
        interval=(max(-largest, mean - half), min(largest, mean + half)) if known else None,
        p=sign_flip(values, "two-sided") if n else None,
        detectable=None if sd is None else minimum_detectable(n, sd),
        guaranteed=min(p_bounded(side, 0.0, -largest) for side in (values, -values)) <= LEVEL / 2,
    )


def minimum_detectable(count: int, sd: float) -> float | None:
    """The difference that `count` blocks find with 80 % power, two-sided at 5 %; None without spread."""
    return one_sided_detectable(count, sd, LEVEL / 2, 1 - POWER)


def present(differences: Sequence[float | None]) -> tuple[Floats, int]:
    """Those that are there, in order, and how many are not."""
    import numpy as np

    there = [d for d in differences if d is not None and d == d]
    for d in there:
        if not abs(d) <= LARGEST:
            raise ValueError(f"a block difference of {d} does not lie between -2 and 2")
    return np.array(there, dtype=np.float64), len(differences) - len(there)
