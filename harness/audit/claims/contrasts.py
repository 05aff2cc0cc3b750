"""The tests of an experiment: one arm against the normal one, block by block.

Owns the arithmetic: differences, intervals, tests of difference and of equivalence, and the verdict. Knows arrays and
names; no records, no game. `docs/explanation/appendix.md` says what each number means.

A block is both seatings of the two entrants: the claimer's mean score over them. Its scores in two arms come from the
same streams of randomness, so the differences of blocks are tested, not the scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from weigh.harness.audit.claims.arms import Direction
from weigh.harness.stats.clustered import zeroed
from weigh.harness.stats.multiple_tests import holm_of_known
from weigh.harness.stats.paired import paired
from weigh.harness.stats.power import LARGEST, LEVEL, POWER

Verdict: TypeAlias = Literal["differs", "equivalent", "not_enough_evidence"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The normal arm less another one, in the claimer's mean score."""

    direction: Direction
    arm: str
    """The alteration that the other arm makes."""
    blocks: int
    """Those that are finished in both arms."""
    normal: float | None = None
    """Mean score of the claimer in the normal arm, over these blocks."""
    altered: float | None = None
    """The same in the other arm."""
    difference: float | None = None
    interval: tuple[float, float] | None = None
    """95 %, None for fewer than two blocks."""
    spread: float | None = None
    """Standard deviation of the blocks' differences."""
    detectable: float | None = None
    """Minimum detectable difference: what so many blocks find with 80 % power, two-sided at 5 %."""
    guaranteed: bool = False
    """Whether a difference is sure even if rare failures have not shown yet."""
    p: float | None = None
    """Two-sided sign-flip p-value of no difference."""
    p_equivalence: float | None = None
    """Of a difference as large as the margin or larger."""
    p_holm: float | None = None
    p_equivalence_holm: float | None = None
    verdict: Verdict = "not_enough_evidence"
    blocks_needed: int | None = None
    """About how many blocks would settle it with 80 % power, were the truth as observed; None when it is settled or
    nothing can be said."""


def contrast(
    direction: Direction, arm: str, normal: Sequence[float], altered: Sequence[float], margin: float
) -> Contrast:
    """One contrast by itself; `judged` adds what follows from its company. Both hold a score for each block."""
    import numpy as np
    from scipy import special

    one, other = np.asarray(normal, float), np.asarray(altered, float)
    count = len(one)
    if count != len(other):
        raise ValueError(f"{count} and {len(other)} scores are no pairs")
    if not count:
        return Contrast(direction, arm, 0)
    difference = zeroed(one - other)
    both = paired(list(difference))
    mean = float(zeroed(difference.mean()))
    found = Contrast(direction, arm, count, float(one.mean()), float(other.mean()), mean)
    if both.sd is None:
        return found
    found = replace(found, spread=both.sd, p=both.p, interval=both.interval, detectable=both.detectable)
    found = replace(found, guaranteed=both.guaranteed)
    if both.sd == 0:
        return _without_spread(found, mean, margin)
    # Two one-sided tests (Schuirmann 1987): equivalent when both say that the difference is inside the margins.
    t = (margin - abs(mean)) * count**0.5 / both.sd
    return replace(found, p_equivalence=float(special.stdtr(count - 1, -t)))


def _without_spread(found: Contrast, mean: float, margin: float) -> Contrast:
    """When all blocks differ alike, a t interval would have no width. What is left to doubt is how many others differ
    otherwise: with no such block among n, they are at most a share of 1 - alpha ** (1 / n) (Clopper and Pearson's bound
    at zero), each by as much as scores can."""
    count = found.blocks
    others = 1 - (LEVEL / 2) ** (1 / count)
    interval = (mean - others * (LARGEST + mean), mean + others * (LARGEST - mean))
    room = min((margin - mean) / (LARGEST - mean) if mean < LARGEST else -1.0, 1.0)
    down = min((margin + mean) / (LARGEST + mean) if mean > -LARGEST else -1.0, 1.0)
    least = min(room, down)
    return replace(
        found,
        interval=interval,
        p_equivalence=(1 - least) ** count if least > 0 else 1.0,
    )


def judged(contrasts: Sequence[Contrast], margin: float) -> tuple[Contrast, ...]:
    """The contrasts of one report with Holm's correction over all of them, and their verdicts."""
    differences = holm_of_known([each.p for each in contrasts])
    equivalences = holm_of_known([each.p_equivalence for each in contrasts])
    told = []
    for each, p, p_equivalence in zip(contrasts, differences, equivalences, strict=True):
        verdict: Verdict = "not_enough_evidence"
        if p is not None and p < LEVEL:
            verdict = "differs"
        elif p_equivalence is not None and p_equivalence < LEVEL:
            verdict = "equivalent"
        needed = blocks_needed(each, margin, len(contrasts)) if verdict == "not_enough_evidence" else None
        told.append(replace(each, p_holm=p, p_equivalence_holm=p_equivalence, verdict=verdict, blocks_needed=needed))
    return tuple(told)


def blocks_needed(found: Contrast, margin: float, family: int) -> int | None:
    """See `Contrast.blocks_needed`: whichever of the two tests would settle it first, at the level that is left to one
    contrast of `family` at worst."""
    from scipy.stats import norm

    if found.difference is None or found.spread is None:
        return None
    level, mean = LEVEL / family, abs(found.difference)
    needed: list[float] = []
    if found.spread == 0:
        if mean < margin:
            needed.append(math.log(level) / math.log1p(-(margin - mean) / (LARGEST - mean)))
        if mean > 0:
            needed.append(math.log2(2 / level))
    else:
        if mean > 0:
            needed.append(((norm.ppf(1 - level / 2) + norm.ppf(POWER)) * found.spread / mean) ** 2)
        if mean < margin:
            reach = norm.ppf(1 - level) + norm.ppf((1 + POWER) / 2)
            needed.append((reach * found.spread / (margin - mean)) ** 2)
    return max(found.blocks + 1, math.ceil(min(needed))) if needed else None
