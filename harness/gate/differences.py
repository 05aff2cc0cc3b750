"""From scores of two arms to block differences, and the range these can have.

Owns the pairing and its ends. Knows scores as numbers only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from statistics import stdev
from typing import Literal, TypeAlias

from weigh.harness.stats.clustered import at_most, levelled

Ends: TypeAlias = Literal["surest", "credible"]
"""What is taken for the largest loss and the largest gain of a block.

`surest`: nothing is assumed. The candidate may break down in any block to the lowest score the rules allow.
`credible`: no block changes by more than STRETCH standard deviations of the baseline's blocks. Fewer blocks decide, and
a candidate whose only fault are rare breakdowns beyond that passes too often: for policies that cannot break down, or
where something else would notice it.
"""

LOWEST, HIGHEST = -1.0, 1.0
"""Where scores lie."""

STRETCH = 4
"""Standard deviations of the baseline's block means within which a block is expected to stay."""

COMMON = 0.1
"""The share of blocks with one and the same mean from which scores are taken to come in lumps."""


def block_difference(candidate: Sequence[float | None], baseline: Sequence[float | None]) -> float | None:
    """The mean over a block's pairs of (candidate score - baseline score), or None where a score is missing.

    A pair is two episodes of one deal, seat and field. A block without one of its rotations would weigh seats unevenly,
    so it counts as missing as a whole. Where pairs cancel, the difference is 0, in whatever order they come. Raises
    ValueError for arms of unequal length, an empty block, or a score outside [-1, 1].
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


def surest_ends(baseline: Sequence[float], lowest: float = LOWEST, highest: float = HIGHEST) -> tuple[float, float]:
    """The least and the greatest difference a block can show, from the baseline's mean score in each of its blocks.

    No assumption: the candidate scores `lowest` in every episode of the baseline's best block, or `highest` in its
    worst. `lowest` is what the rules allow (`Game.lowest`: -1/3 at goofspiel for four); `baseline` must hold every
    block that may be played. Raises ValueError for no blocks.

    One end for all blocks, although each block has its own (`lowest` less its baseline's score): a bet sized by that
    would be small where the baseline was lucky, which is where a loss is likely.
    """
    _some(baseline)
    return lowest - max(baseline), highest - min(baseline)


def credible_ends(baseline: Sequence[float], lowest: float = LOWEST, highest: float = HIGHEST) -> tuple[float, float]:
    """The same under an assumption: no block changes by more than STRETCH standard deviations of the baseline's blocks.

    Where scores spread little over many values, sure ends decide how many blocks a gate takes, and these do not. Where
    scores come in lumps (one block mean in more than COMMON of the blocks), a block that breaks may fall anywhere: then
    it is `surest_ends`, and never more. Raises ValueError for no blocks.
    """
    import numpy as np

    least, greatest = surest_ends(baseline, lowest, highest)
    commonest = max(Counter(levelled(np.array(baseline)).tolist()).values())
    if commonest > COMMON * len(baseline):
        return least, greatest
    reach = STRETCH * stdev(baseline)
    return max(least, -reach), min(greatest, reach)


def _some(baseline: Sequence[float]) -> None:
    if not baseline:
        raise ValueError("a baseline without blocks says nothing of the range of differences")
