"""Statistics of scores that are not independent: means, intervals and ranks clustered by block.

Owns the arithmetic of one game's scores, over plain arrays. Knows no frames, names or files. `docs/method.md` says what
each number estimates and how often its intervals were measured to hold.

The model behind the intervals: the score of entrant i in episode e is `t_i - mean of t over the table of e`, plus what
deal and play added. Deals and play are shared within a block, so blocks, not episodes, are the independent
observations. The part of the scores that the tables explain is known by design and is no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.intp]
    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

CONFIDENCE = 0.95
"""Of every interval."""

DRAWS = 2_000
"""Of the block bootstrap."""

BOOTSTRAP_SEED = 20_260_501
"""Fixed: equal scores give equal ranks."""

LEAST_ALIKE = 5
"""Blocks that must all agree before their agreement is believed. Where games are won or lost, two equal entrants often
give two or three equal blocks, and an interval without width would follow from them."""

ZERO = 1e-9
"""Scores closer than this are equal: they are floats nearest to exact fractions."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What one game's scores say about each entrant: arrays by entrant number, NaN where there is no saying."""

    count: Ints
    """Scored seat-episodes."""
    blocks: Ints
    """Different blocks among them."""
    mean: Floats
    """Mean score: sum over seat-episodes divided by their count."""
    half_width: Floats
    """Half the length of the 95 % interval of `mean`; NaN for fewer than two blocks, or LEAST_ALIKE without spread."""
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
    size = counts.sum(axis=1)
    count = np.bincount(entrant, minlength=entrants)
    number = int(block.max(initial=-1)) + 1
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(entrant, score, entrants) / count

    # Normal equations of: score less the table's mean score = t_i - mean of t over the table.
    laplacian = np.diag(count) - counts.T @ (counts / size[:, None])
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    at_table = np.bincount(episode, score) / size
    strengths = inverse @ np.bincount(entrant, score - at_table[episode], entrants)
    explained = strengths[entrant] - (counts @ strengths / size)[episode]

    residual = score - explained
    residual -= (np.bincount(entrant, residual, entrants) / np.maximum(count, 1))[entrant]
    summed = np.bincount(block * entrants + entrant, residual, number * entrants).reshape(number, entrants)
    correction, freedom, blocks = _small_sample(entrant, episode, block, counts, inverse)
    with np.errstate(invalid="ignore", divide="ignore"):
        influence = summed * np.sqrt(correction) / count
        error = np.sqrt((influence**2).sum(axis=0))
        half_width = stats.t.ppf(0.5 + CONFIDENCE / 2, freedom) * error
    agree_by_luck = blocks < LEAST_ALIKE
    half_width[(error <= ZERO) & agree_by_luck] = np.nan

    sat = (counts > 0).astype(np.intp)
    meetings = sat.T @ sat
    group = _groups(meetings)
    adjusted, adjusted_half_width, adjusted_freedom, strength = np.full((4, entrants), np.nan)
    if entrants > 1 and not group.any():
        shrink = (1 - 1 / size)[episode]
        scale = np.bincount(entrant, shrink, entrants) / count * entrants / (entrants - 1)
        adjusted = scale * strengths
        unexplained = score - at_table[episode] - explained
        error, adjusted_freedom = _fit_error(entrant, episode, block, counts, inverse, unexplained)
        error *= scale
        with np.errstate(invalid="ignore"):
            adjusted_half_width = stats.t.ppf(0.5 + CONFIDENCE / 2, adjusted_freedom) * error
        adjusted_half_width[(error <= ZERO) & agree_by_luck] = np.nan
        opponents = (counts @ adjusted)[episode] - adjusted[entrant]
        met = np.bincount(entrant, opponents / np.maximum(size[episode] - 1, 1), entrants) / count
        strength = met - (adjusted.sum() - adjusted) / (entrants - 1)
    return Estimates(
        count=count,
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
    )


def _table_counts(entrant: Ints, episode: Ints, entrants: int) -> Floats:
    """episodes x entrants: how many scored seats each entrant had in each episode."""
    import numpy as np

    episodes = int(episode.max(initial=-1)) + 1
    flat = np.bincount(episode * entrants + entrant, minlength=episodes * entrants)
    return flat.reshape(episodes, entrants).astype(np.float64)


def _small_sample(
    entrant: Ints, episode: Ints, block: Ints, counts: Floats, inverse: Floats
) -> tuple[Floats, Floats, Ints]:
    """For each entrant: the factor that makes the clustered variance unbiased, its degrees of freedom, its blocks.

    With errors alike, the block sums of entrant i's residuals have covariance D - Q V Q', where row b of Q is what
    block b contributes to i's row of the normal equations, D the diagonal of i's own entries, and V the inverse.
    """
    import numpy as np

    entrants = counts.shape[1]
    correction, freedom = np.full(entrants, np.nan), np.full(entrants, np.nan)
    blocks = np.zeros(entrants, dtype=np.intp)
    shares = counts / counts.sum(axis=1)[:, None]
    for i in range(entrants):
        mine = entrant == i
        labels, where = np.unique(block[mine], return_inverse=True)
        blocks[i] = len(labels)
        rows = np.zeros((len(labels), entrants))
        np.subtract.at(rows, where, shares[episode[mine]])
        np.add.at(rows[:, i], where, 1.0)
        own = rows[:, i]
        pulled = np.einsum("be,ef,bf->b", rows, inverse, rows)
        trace = float((own - pulled).sum())
        spread = inverse @ (rows.T @ rows)
        trace_of_square = float((own**2).sum() - 2 * (own * pulled).sum() + np.trace(spread @ spread))
        if len(labels) > 1 and trace > ZERO and trace_of_square > ZERO:
            correction[i] = own.sum() / trace
            freedom[i] = trace**2 / trace_of_square
    return correction, freedom, blocks


def _fit_error(
    entrant: Ints, episode: Ints, block: Ints, counts: Floats, inverse: Floats, unexplained: Floats
) -> tuple[Floats, Floats]:
    """For each entrant: the clustered standard error of its fitted strength, and the degrees of freedom of that.

    Strength i is w'score with w = Z V e_i. With errors alike, the parts w_b'u_b that the blocks have in its error have
    covariance D - Q V Q', where row b of Q is Z_b'w_b and D the diagonal of w_b'w_b.
    """
    import numpy as np

    entrants = counts.shape[1]
    error, freedom = np.full(entrants, np.nan), np.full(entrants, np.nan)
    number = int(block.max(initial=-1)) + 1
    cell = block * entrants + entrant
    summed = np.bincount(cell, unexplained, number * entrants).reshape(number, entrants)
    parts = summed @ inverse
    away = counts @ inverse / counts.sum(axis=1)[:, None]
    for i in range(entrants):
        weight = inverse[entrant, i] - away[episode, i]
        own = np.bincount(block, weight**2, number)
        rows = np.bincount(cell, weight, number * entrants).reshape(number, entrants)
        pulled = np.einsum("be,be->b", rows @ inverse, rows)
        whole = float(own.sum())
        trace = float((own - pulled).sum()) / whole
        spread = inverse @ (rows.T @ rows)
        trace_of_square = float((own**2).sum() - 2 * (own * pulled).sum() + np.trace(spread @ spread)) / whole**2
        if number > 1 and trace > ZERO and trace_of_square > ZERO:
            error[i] = np.sqrt((parts[:, i] ** 2).sum() / trace)
            freedom[i] = trace**2 / trace_of_square
    return error, freedom


def _groups(meetings: Ints) -> Ints:
    """Connected components of the graph of who met whom, numbered from 0."""
    from scipy.sparse.csgraph import connected_components

    labels: Ints = connected_components(meetings > 0, directed=False)[1]
    return labels


def cluster_mean(score: Floats, block: Ints) -> tuple[float, float]:
    """Mean of `score` and half the length of its 95 % interval, clustered by `block`; NaN for fewer than two blocks.

    The textbook form: variance = B/(B-1) * sum over blocks of (sum of deviations from the mean)^2 / n^2, t with B - 1.
    """
    import numpy as np
    from scipy import stats

    if not len(score):
        return float("nan"), float("nan")
    mean = float(score.mean())
    _, where = np.unique(block, return_inverse=True)
    sums = np.bincount(where, score - mean)
    number = len(sums)
    if number < 2:
        return mean, float("nan")
    error = float(np.sqrt(number / (number - 1) * (sums**2).sum()) / len(score))
    return mean, float(stats.t.ppf(0.5 + CONFIDENCE / 2, number - 1)) * error
