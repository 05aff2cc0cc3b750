"""From scores of two arms to block differences, and the range these can have.

Owns the pairing and its ends. Knows scores as numbers only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from weigh.harness.stats.clustered import at_most

LOWEST, HIGHEST = -1.0, 1.0
"""Where scores lie."""


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


def block_ends(baseline: Sequence[float], lowest: float = LOWEST, highest: float = HIGHEST) -> tuple[float, float]:
    """The least and the greatest difference a block can show, from the baseline's mean score in each of its blocks.

    No assumption: the candidate scores `lowest` in every episode of the baseline's best block, or `highest` in its
    worst. `lowest` is what the rules allow (`Game.lowest`: -1/3 at goofspiel for four); `baseline` must hold every
    block that may be played. Raises ValueError for no blocks.

    One end for all blocks, although each block has its own (`lowest` less its baseline's score): a bet sized by that
    would be small where the baseline was lucky, which is where a loss is likely.
    """
    if not baseline:
        raise ValueError("a baseline without blocks says nothing of the range of differences")
    return lowest - max(baseline), highest - min(baseline)
