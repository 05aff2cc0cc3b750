"""Circles: what of "who beats whom" one number per entrant cannot say.

Owns the split of the pairs' means into strengths and a cyclic rest, its test, and the search for a sure circle. Plain
arrays; knows no frames and no names. `docs/explanation/appendix.md` says what the numbers are worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Final

from weigh.harness.stats.clustered import at_most, components, laplacian_inverse, zeroed
from weigh.harness.stats.power import LEVEL, ZERO

if TYPE_CHECKING:
    from weigh.harness.results.ranking.pairwise import PairBlocks
    from weigh.harness.stats.clustered import Floats

FLIPS: Final = 2_000
"""Random signs of the blocks, for the share under no circles."""
FLIP_SEED: Final = 20_261_201
FLIPS_AT_ONCE: Final = 250
"""So that memory does not grow with the number of pairs."""


@dataclass(frozen=True, slots=True)
class CyclicShare:
    """How much of the pairs' means no strengths can give."""

    share: float
    """Residual over total sum of squares: 0 where one number per entrant says everything, 1 where it says nothing."""
    expected: float | None
    """The share that noise alone would give, had the entrants the fitted strengths and nothing else; None when every
    pair met in one block only, so that noise and circles cannot be told apart."""
    p_value: float | None
    """How often noise alone gives so large a share."""


@dataclass(frozen=True, slots=True)
class Circle:
    """Three entrants of which each is above the next more often than below, and the last above the first."""

    members: tuple[int, int, int]
    p_value: float
    """Corrected for the number of circles that were looked for, see `sure_circle`."""


def cyclic_share(cells: PairBlocks) -> CyclicShare | None:
    """The split of the pairs' mean differences, and its test.

    Weighted least squares of mean_ij = s_i - s_j with the number of episodes as weight: the gradient part of the Hodge
    decomposition (Jiang, Lim, Yao & Ye, Mathematical Programming 127, 2011); what is left is cyclic. None where
    no pairs form a loop, or nothing differs.

    The test is one of lack of fit: residual sum of squares over that within pairs, between blocks. Its distribution
    under no circles comes from giving the residuals of each block one random sign (a wild cluster bootstrap with the
    null imposed: Cameron, Gelbach & Miller, Review of Economics and Statistics 90, 2008). A block keeps its sign in
    all its pairs, which share their luck.
    """
    import numpy as np
    from scipy import sparse

    pairs, sums, met = len(cells.one), cells.difference, cells.met
    weight = cells.matrix(met, met, 0.0)
    if pairs == cells.entrants - len(np.unique(components(weight))):
        return None
    inverse = laplacian_inverse(weight)
    pulls = sparse.csr_array(
        (np.repeat([1.0, -1.0], pairs), (np.concatenate([cells.one, cells.other]), np.tile(np.arange(pairs), 2))),
        shape=(cells.entrants, pairs),
    )

    def split(totals: Floats) -> tuple[Floats, Floats]:
        """By pair: the means that strengths give, and what is left of those of `totals`; pairs x draws."""
        strengths = inverse @ (pulls @ totals)
        given = strengths[cells.one] - strengths[cells.other]
        return given, totals / met[:, None] - given

    def squares(means: Floats) -> Floats:
        """Sums over pairs; 0 where rounding may be all there is."""
        return np.where(np.abs(means).max(axis=0) <= ZERO, 0.0, (met[:, None] * means**2).sum(axis=0))

    given, left = split(np.bincount(cells.pair, weights=sums, minlength=pairs).astype(np.float64)[:, None])
    explained, cyclic = float(squares(given)[0]), float(squares(left)[0])
    if explained + cyclic == 0:
        return None
    share = cyclic / (explained + cyclic)
    if len(cells.pair) == pairs:
        return CyclicShare(share, None, None)

    rest = zeroed(sums / cells.count - given[cells.pair, 0])
    labels, block = np.unique(cells.block, return_inverse=True)
    by_block = sparse.csr_array((cells.count * rest, (cells.pair, block)), shape=(pairs, len(labels)))
    whole = float((cells.count * rest**2).sum())
    within = 0.0 if at_most(whole, cyclic) else whole - cyclic
    rng = np.random.default_rng(FLIP_SEED)
    as_large, explained_sum, cyclic_sum, within_sum = 0, 0.0, 0.0, 0.0
    for _ in range(FLIPS // FLIPS_AT_ONCE):
        signs = rng.integers(0, 2, size=(len(labels), FLIPS_AT_ONCE)) * 2.0 - 1.0
        moved, drawn = (squares(part) for part in split(by_block @ signs))
        inside = np.maximum(whole - moved - drawn, 0.0)
        as_large += int((drawn * within >= cyclic * inside - ZERO * whole**2).sum())
        explained_sum += float(moved.sum())
        cyclic_sum += float(drawn.sum())
        within_sum += float(inside.sum())
    # The spread within pairs says how large the noise is, the draws how it falls into strengths and circles.
    level = 0.0 if at_most(within_sum, 0.0, FLIPS * whole) else within / within_sum
    noise, behind = level * cyclic_sum, max(explained, level * explained_sum)
    expected = noise / (behind + noise) if behind + noise > 0 else 0.0
    return CyclicShare(share, expected, (1 + as_large) / (1 + FLIPS))


def circular_triples(cells: PairBlocks) -> tuple[int, int]:
    """Triples of entrants in a circle by who scored more often, sure or not, and triples of which all pairs met.

    Kendall & Babington Smith (Biometrika 31, 1940) count the same.
    """
    import numpy as np

    mean = cells.mean(cells.margin)
    above = (cells.matrix(mean, -mean, 0.0) > 0).astype(np.float64)
    met = cells.matrix(cells.met, cells.met, 0.0) > 0
    linked = met.astype(np.float64)
    return round(np.trace(above @ above @ above) / 3), round(np.trace(linked @ linked @ linked) / 6)


def sure_circle(cells: PairBlocks) -> Circle | None:
    """The circle of three that is surest, if it is sure: i above j, j above k, k above i, by who scores more.

    A circle is no surer than its weakest side, so its p-value is the largest of the three sides' one-sided ones
    (intersection-union test: Berger, Technometrics 24, 1982), times the number of things that could have been claimed:
    2 for each triple, or 2 for each pair where these are fewer (no claim is false unless one of its sides is). Of
    equally sure ones, that whose weakest side is strongest. None above LEVEL.
    """
    import numpy as np

    entrants = cells.entrants
    if entrants < 3 or not len(cells.one):
        return None
    sure = cells.matrix(*cells.p_above(cells.margin), missing=1.0)
    mean = cells.mean(cells.margin)
    margin = cells.matrix(mean, -mean, missing=0.0)
    found: list[tuple[float, float, tuple[int, int, int]]] = []
    for i in range(entrants - 2):
        later = slice(i + 1, None)
        p = np.maximum(np.maximum(sure[i, later, None], sure[later, later]), sure[None, later, i])
        np.fill_diagonal(p, 1.0)
        weakest = np.minimum(np.minimum(margin[i, later, None], margin[later, later]), margin[None, later, i])
        j, k = _surest(p, weakest)
        found.append((float(p[j, k]), float(weakest[j, k]), (i, i + 1 + j, i + 1 + k)))
    (best,) = _surest(np.array([each[0] for each in found]), np.array([each[1] for each in found]))
    p_value = found[best][0] * 2 * min(comb(entrants, 2), comb(entrants, 3))
    return Circle(found[best][2], p_value) if at_most(p_value, LEVEL) else None


def _surest(p: Floats, weakest: Floats) -> tuple[int, ...]:
    """Where `p` is least and, of p-values that are equal but for rounding, `weakest` most; the first of several."""
    import numpy as np

    least = float(p.min())
    alike = np.where(p <= least + ZERO * least, weakest, -np.inf)
    return tuple(int(place) for place in np.unravel_index(int(alike.argmax()), p.shape))
