"""Statistics of scores that are not independent: means, intervals and ranks clustered by block.

Owns the arithmetic of one game's scores, over plain arrays. Knows no frames, names or files.
`docs/explanation/appendix.md` says what each number estimates and how often its intervals were measured to hold.

The model behind the intervals: the score of entrant i in episode e is `t_i - mean of t over the table of e`, plus what
deal and play added. Deals and play are shared within a block, so blocks, not episodes, are the independent
observations. The part of the scores that the tables explain is known by design and is no noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, TypeAlias

from weigh.harness.stats.power import CONFIDENCE, ZERO

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import sparse

    Ints: TypeAlias = NDArray[np.intp]
    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

DRAWS = 2_000
"""Of the block bootstrap."""

BOOTSTRAP_SEED = 20_260_501
"""Fixed: equal scores give equal ranks."""

LEAST_ALIKE = 5
"""Blocks that must all agree before their agreement is believed. Where games are won or lost, two equal entrants often
give two or three equal blocks, and an interval without width would follow from them. See `agrees_by_luck`."""

ROUNDING = 1e-6
"""Adjusted means closer than this to the means are equal to them: they come out of a fit."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What one game's scores say about each entrant: arrays by entrant number, NaN where there is no saying."""

    count: Ints
    """Scored seat-episodes."""
    sums: Floats
    """blocks x entrants: the sum of scores in each block."""
    sat: Floats
    """blocks x entrants: the scored seat-episodes in each block."""
    blocks: Ints
    """Different blocks among them."""
    mean: Floats
    """Mean score: sum over seat-episodes divided by their count."""
    half_width: Floats
    """Half the length of the 95 % interval of `mean`; NaN for fewer than two blocks, and for `agrees_by_luck`."""
    freedom: Floats
    """Degrees of freedom of that interval; B - 1 for a full table in B whole blocks."""
    adjusted: Floats
    """Opponent-adjusted mean; NaN for all unless every entrant is linked to every other through common tables."""
    adjusted_half_width: Floats
    """Half the length of the 95 % interval of `adjusted`; NaN as for `half_width`, and where there is no `adjusted`."""
    adjusted_freedom: Floats
    """Degrees of freedom of that interval."""
    strength: Floats
    """Schedule strength: the mean adjusted mean of the opponents met, less that of all other entrants."""
    meetings: Ints
    """entrants x entrants: scored episodes in which both sat; on the diagonal, all of an entrant's."""
    group: Ints
    """Equal for entrants linked through common tables."""
    influence: Floats
    """blocks x entrants: what each block adds to the error of each mean. Squares sum to the mean's variance."""
    adjusted_influence: Floats
    """The same of the adjusted means."""

    @property
    def linked(self) -> bool:
        """Whether every two entrants met, directly or through others."""
        return not self.group.any()

    @property
    def even(self) -> bool:
        """Whether opponents were as even as in a balanced schedule: every adjusted mean is the mean."""
        return self.linked and not bool((abs(self.adjusted - self.mean) > ROUNDING).any())

    def by_adjusted(self) -> Estimates:
        """The same with adjusted means in the places of the means, for what is worked out from either."""
        return replace(
            self,
            mean=self.adjusted,
            half_width=self.adjusted_half_width,
            freedom=self.adjusted_freedom,
            influence=self.adjusted_influence,
        )


def estimate(entrant: Ints, episode: Ints, block: Ints, score: Floats, entrants: int) -> Estimates:
    """Means, intervals and adjusted means from scored seat-episodes, one array element each.

    `entrant`, `episode` and `block` are numbers from 0 without gaps; an episode belongs to one block.

    Interval of the mean. Let R[b,i] be the sum over block b of entrant i's residuals: scores less what the fitted
    table explains, centred per entrant. Then

        variance(mean_i) = c_i * sum_b R[b,i]^2 / count_i^2,   interval = mean_i +- t(.975, f_i) * sqrt(variance),

    the cluster-robust (sandwich) variance of a mean (Liang & Zeger, Biometrika 73, 1986). c_i and f_i make up for
    residuals being smaller than errors: c_i makes the variance unbiased and f_i is the Satterthwaite degrees of freedom
    when errors are alike (Bell & McCaffrey, Survey Methodology 28, 2002). With the same entrants at every table they
    are B/(B-1) and B-1: the textbook interval of the mean of B block means.

    Adjusted mean. Least squares fit of t under sum(t) = 0, on the scale of scores: (n-1)/n * E/(E-1) * t_i, the mean
    score expected of i if all tables of n out of these E entrants were equally common and strengths added up. Equal to
    the mean when every pair met equally often.

    Interval of the adjusted mean. With Z the design of that fit, V the pseudo-inverse of Z'Z and u its residuals, the
    sandwich V (sum_b Z_b'u_b u_b'Z_b) V, with factor and degrees of freedom made the same way. Equal to the interval of
    the mean when every pair met equally often.
    """
    import numpy as np
    from scipy import stats

    counts = _table_counts(entrant, episode, entrants)
    size = np.bincount(episode).astype(np.float64)
    count = np.bincount(entrant, minlength=entrants)
    number = int(block.max(initial=-1)) + 1
    cell = block * entrants + entrant
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = levelled(np.bincount(entrant, score, entrants) / count)

    # Normal equations of: score less the table's mean score = t_i - mean of t over the table.
    weight = _pair_weights(counts)
    inverse, group = laplacian_inverse(weight), components(weight)
    at_table = np.bincount(episode, score) / size
    strengths = inverse @ np.bincount(entrant, score - at_table[episode], entrants)
    explained = strengths[entrant] - (counts @ strengths / size)[episode]

    residual = score - explained
    residual -= (np.bincount(entrant, residual, entrants) / np.maximum(count, 1))[entrant]
    summed = np.bincount(cell, residual, number * entrants).reshape(number, entrants)
    correction, freedom, blocks = _small_sample(entrant, episode, block, counts, inverse)
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = summed * np.sqrt(correction) / count
        error = zeroed(np.sqrt((influence**2).sum(axis=0)))
        half_width = stats.t.ppf(0.5 + CONFIDENCE / 2, freedom) * error
    half_width[(error == 0) & agrees_by_luck(freedom)] = np.nan

    sat = (counts > 0).astype(np.intp)
    meetings = (sat.T @ sat).toarray()
    adjusted, adjusted_half_width, adjusted_freedom, strength = np.full((4, entrants), np.nan)
    adjusted_influence = np.full(influence.shape, np.nan)
    if entrants > 1 and not group.any():
        shrink = (1 - 1 / size)[episode]
        scale = np.bincount(entrant, shrink, entrants) / count * entrants / (entrants - 1)
        adjusted = scale * strengths
        unexplained = score - at_table[episode] - explained
        adjusted_influence, adjusted_freedom = _fit_error(entrant, episode, block, counts, inverse, unexplained)
        adjusted_influence *= scale
        error = zeroed(np.sqrt((adjusted_influence**2).sum(axis=0)))
        with np.errstate(invalid="ignore"):
            adjusted_half_width = stats.t.ppf(0.5 + CONFIDENCE / 2, adjusted_freedom) * error
        adjusted_half_width[(error == 0) & agrees_by_luck(adjusted_freedom)] = np.nan
        opponents = (counts @ adjusted)[episode] - adjusted[entrant]
        met = np.bincount(entrant, opponents / np.maximum(size[episode] - 1, 1), entrants) / count
        strength = met - (adjusted.sum() - adjusted) / (entrants - 1)
    return Estimates(
        count=count,
        sums=np.bincount(cell, score, number * entrants).astype(np.float64).reshape(number, entrants),
        sat=np.bincount(cell, minlength=number * entrants).astype(np.float64).reshape(number, entrants),
        blocks=blocks,
        mean=mean,
        half_width=half_width,
        freedom=freedom,
        adjusted=adjusted,
        adjusted_half_width=adjusted_half_width,
        adjusted_freedom=adjusted_freedom,
        strength=strength,
        meetings=meetings,
        group=group,
        influence=influence,
        adjusted_influence=adjusted_influence,
    )


def at_most(value: float, bound: float, scale: float | None = None) -> bool:
    """Whether `value` is at most `bound`, where rounding is all that could be between them: ZERO of `scale`, which is
    that of what they were worked out from, or the bound itself."""
    return value <= bound + ZERO * abs(bound if scale is None else scale)


def zeroed(scores: Floats) -> Floats:
    """Differences of scores, or means of them, with 0 for those that rounding alone keeps from it."""
    import numpy as np

    settled: Floats = np.where(np.abs(scores) <= ZERO, 0.0, scores)
    return settled


def levelled(scores: Floats) -> Floats:
    """Mean scores, with one and the same float for all that are equal but for rounding, and 0 for those that are 0.

    Sums in another order differ in their last bits. Whoever compares what this returns may ask for `==` and `<`: the
    order is the same for all, and two entrants that are equal to a third are equal to each other.
    """
    import numpy as np

    level = zeroed(scores)
    known = np.flatnonzero(~np.isnan(level))
    order = known[np.argsort(level[known], kind="stable")]
    ascending = level[order]
    starts = np.flatnonzero(np.diff(ascending, prepend=-np.inf) > ZERO)
    level[order] = np.repeat(ascending[starts], np.diff(starts, append=len(order)))
    return level


def _table_counts(entrant: Ints, episode: Ints, entrants: int) -> sparse.csr_array:
    """episodes x entrants: how many scored seats each entrant had in each episode. Sparse, since most sat elsewhere."""
    import numpy as np
    from scipy import sparse

    episodes = int(episode.max(initial=-1)) + 1
    return sparse.csr_array((np.ones(len(entrant)), (episode, entrant)), shape=(episodes, entrants))


def _shares(counts: sparse.csr_array) -> sparse.csr_array:
    """Each table's counts over its size."""
    return counts.multiply(1 / counts.sum(axis=1)[:, None]).tocsr()


def _pair_weights(counts: sparse.csr_array) -> Floats:
    """entrants x entrants: the sum over tables of 1 / size for each time two sat together; 0 on the diagonal.

    Whole numbers are added up first, table size by table size: equal for tables in any order, to the last bit.
    """
    import numpy as np

    sizes = counts.sum(axis=1)
    weight = np.zeros((counts.shape[1], counts.shape[1]))
    for size in np.unique(sizes):
        tables = counts[sizes == size]
        weight += (tables.T @ tables).toarray() / size
    np.fill_diagonal(weight, 0.0)
    return weight


def laplacian_inverse(weight: Floats) -> Floats:
    """The pseudo-inverse of the Laplacian L of a graph, from its edge weights: symmetric, 0 on the diagonal.

    In a connected component of n nodes, whose mean eigenvalue other than 0 is s, L / s + J / n has no eigenvalue of 0,
    and the pseudo-inverse is (the inverse of that, less J / n) / s. Nothing has to tell a 0 that rounding moved from a
    small eigenvalue, as the cutoff of `numpy.linalg.pinv` does, and many episodes are no harder than one.
    """
    import numpy as np

    group = components(weight)
    inverse = np.zeros(weight.shape)
    for each in range(int(group.max(initial=-1)) + 1):
        members = np.flatnonzero(group == each)
        number = len(members)
        if number < 2:
            continue
        inside = weight[np.ix_(members, members)]
        scale = inside.sum() / (number - 1)
        solved = np.linalg.inv((np.diag(inside.sum(axis=1)) - inside) / scale + 1 / number)
        inverse[np.ix_(members, members)] = ((solved + solved.T) / 2 - 1 / number) / scale
    return inverse


def components(weight: Floats) -> Ints:
    """Connected components of the graph with an edge wherever `weight` is above 0, numbered from 0."""
    from scipy.sparse.csgraph import connected_components

    labels: Ints = connected_components(weight > 0, directed=False)[1]
    return labels


def _small_sample(
    entrant: Ints, episode: Ints, block: Ints, counts: sparse.csr_array, inverse: Floats
) -> tuple[Floats, Floats, Ints]:
    """For each entrant: the factor that makes the clustered variance unbiased, its degrees of freedom, its blocks.

    Row b of Q is what block b contributes to i's row of the normal equations, and D is the diagonal of i's own entries
    in it: see `_trace_and_freedom`.
    """
    import numpy as np
    from scipy import sparse

    entrants = counts.shape[1]
    correction, freedom = np.full(entrants, np.nan), np.full(entrants, np.nan)
    blocks = np.zeros(entrants, dtype=np.intp)
    shares = _shares(counts)
    for i in range(entrants):
        mine = entrant == i
        labels, where = np.unique(block[mine], return_inverse=True)
        blocks[i] = len(labels)
        rows = -(_sums_by(where, len(labels)) @ shares[episode[mine]]).toarray()
        rows[:, i] += np.bincount(where, minlength=len(labels))
        own = rows[:, i]
        trace, freedom[i] = _trace_and_freedom(own, sparse.csr_array(rows), inverse)
        correction[i] = own.sum() / trace
    return correction, freedom, blocks


def _fit_error(
    entrant: Ints, episode: Ints, block: Ints, counts: sparse.csr_array, inverse: Floats, unexplained: Floats
) -> tuple[Floats, Floats]:
    """blocks x entrants: what each block adds to the error of each fitted strength, so that squares sum to its
    clustered variance; and for each entrant the degrees of freedom of that.

    Strength i is w'score with w = Z V e_i, so block b has w_b'u_b in its error. Row b of Q is Z_b'w_b, and D the
    diagonal of w_b'w_b: see `_trace_and_freedom`.
    """
    import numpy as np
    from scipy import sparse

    entrants = counts.shape[1]
    shape = (int(block.max(initial=-1)) + 1, entrants)
    influence, freedom = np.full(shape, np.nan), np.full(entrants, np.nan)
    parts = sparse.csr_array((unexplained, (block, entrant)), shape=shape) @ inverse
    away = _shares(counts) @ inverse
    for i in range(entrants):
        weight = inverse[entrant, i] - away[episode, i]
        own: Floats = np.bincount(block, weights=weight**2, minlength=len(influence)).astype(np.float64)
        rows = sparse.csr_array((weight, (block, entrant)), shape=shape)
        trace, freedom[i] = _trace_and_freedom(own, rows, inverse)
        influence[:, i] = parts[:, i] * np.sqrt(own.sum() / trace)
    return influence, freedom


def _sums_by(where: Ints, number: int) -> sparse.csr_array:
    """The matrix that sums rows by their label, 0 to `number` - 1."""
    import numpy as np
    from scipy import sparse

    return sparse.csr_array((np.ones(len(where)), (where, np.arange(len(where)))), shape=(number, len(where)))


def _trace_and_freedom(own: Floats, rows: sparse.csr_array, inverse: Floats) -> tuple[float, float]:
    """The trace of S = D - Q V Q', and its square over the trace of S squared: D the diagonal `own`, Q `rows` (blocks x
    entrants), V `inverse`.

    With errors alike, S is the covariance of what the blocks add, up to a factor. The matrix itself, blocks x blocks,
    is never made. NaN for fewer than two blocks, and where the tables explain all of what they add.
    """
    pulled = rows.multiply(rows @ inverse).sum(axis=1)
    spread = inverse @ (rows.T @ rows).toarray()
    trace = float((own - pulled).sum())
    square = float((own**2).sum() - 2 * (own * pulled).sum() + (spread * spread.T).sum())
    if len(own) < 2 or at_most(trace, 0.0, float(own.sum())) or at_most(square, 0.0, trace**2):
        return nan, nan
    return trace, trace**2 / square


def agrees_by_luck(freedom: Floats) -> Flags:
    """Where an error of nothing with so many degrees of freedom is no proof: it has those of fewer than LEAST_ALIKE
    blocks of one full table. What was spent on fitting the tables agrees by construction and proves nothing."""
    few: Flags = freedom < LEAST_ALIKE - 1 - ROUNDING
    return few


def cluster_mean(score: Floats, block: Ints) -> tuple[float, float]:
    """Mean of `score` and half the length of its 95 % interval, clustered by `block`; NaN for fewer than two blocks.

    The textbook form: variance = B/(B-1) * sum over blocks of (sum of deviations from the mean)^2 / n^2, t with B - 1.
    """
    import numpy as np
    from scipy import stats

    if not len(score):
        return float("nan"), float("nan")
    mean = float(zeroed(score.mean()))
    _, where = np.unique(block, return_inverse=True)
    sums = np.bincount(where, score - mean)
    number = len(sums)
    if number < 2:
        return mean, float("nan")
    error = float(zeroed(np.sqrt(number / (number - 1) * (sums**2).sum()) / len(score)))
    return mean, float(stats.t.ppf(0.5 + CONFIDENCE / 2, number - 1)) * error
