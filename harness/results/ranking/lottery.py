"""The maximal lottery: which mixture of entrants no entrant beats.

Owns the mixture of a matrix of margins, and how it moves with the blocks. Plain arrays; knows no frames and no names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from weigh.harness.stats.clustered import LEAST_ALIKE
from weigh.harness.stats.power import CONFIDENCE

if TYPE_CHECKING:
    from weigh.harness.results.ranking.pairwise import PairBlocks
    from weigh.harness.stats.clustered import Floats, Ints

DRAWS: Final = 1_000
DRAW_SEED: Final = 20_261_202
"""Fixed: equal scores give equal lotteries."""

MANY: Final = 20
"""Entrants beyond which a draw takes any of several lotteries."""

EXACT: Final = 1e-9
"""Probabilities below it are 0, and a lottery that loses by no more than it loses to nobody."""


def maximal_lottery(margin: Floats, *, any_will_do: bool = False) -> Floats:
    """Probabilities by entrant, from an antisymmetric matrix: margin[i, j] > 0 where i is above j.

    The maximin mixed strategy of the symmetric game (Fishburn, Review of Economic Studies 51, 1984): p with
    sum over i of p_i * margin[i, j] >= 0 for every j. There always is one. Where there are several, the one with the
    least sum of squares, that is, the most even: it is unique, and treats entrants with equal rows alike. Who is
    above everybody (a Condorcet winner) gets 1. With `any_will_do` it is just one of them, which is quicker where
    entrants are many.
    """
    import numpy as np

    top = _top_circle(margin)
    inside = margin[np.ix_(top, top)]
    inside = inside / (np.abs(inside).max() or 1.0)  # which of them are in a lottery is no matter of size
    found = None if any_will_do else _most_even(inside)
    chances = np.zeros(len(margin))
    chances[top] = _some(inside) if found is None else found
    return chances


def _top_circle(margin: Floats) -> Ints:
    """The fewest entrants that are each above everybody else (the Smith set): nobody else is in a maximal lottery.

    Of the graph "not below", which links any two entrants, it is the first strongly connected component.
    """
    import numpy as np
    from scipy.sparse.csgraph import connected_components

    not_below = margin >= 0
    label = connected_components(not_below, connection="strong")[1]
    return np.flatnonzero(label == label[not_below.sum(axis=1).argmax()])


def _some(margin: Floats) -> Floats:
    """One maximin strategy by linear programming: the largest v with p @ margin >= v, which is 0."""
    import numpy as np
    from scipy import optimize

    entrants = len(margin)
    solved = optimize.linprog(
        np.append(np.zeros(entrants), -1.0),
        A_ub=np.column_stack([-margin.T, np.ones(entrants)]),
        b_ub=np.zeros(entrants),
        A_eq=np.append(np.ones(entrants), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, 1)] * entrants + [(None, None)],
    )
    return _clean(solved.x[:entrants])


def _most_even(margin: Floats) -> Floats | None:
    """The maximin strategy nearest to the even one. None if rounding spoils it, which a check of the answer finds.

    Least distance programming (Lawson & Hanson, Solving Least Squares Problems, 1974, chapter 23): with p = 1/E + Z y,
    where Z spans the vectors of sum 0, the least |y| under p >= 0 and p @ margin >= 0 is a non-negative least squares
    problem.
    """
    import numpy as np
    from scipy import linalg, optimize

    entrants = len(margin)
    even = np.full(entrants, 1 / entrants)
    if entrants == 1:
        return even
    span = linalg.null_space(np.ones((1, entrants)))
    rules = np.vstack([span, margin.T @ span])
    need = -np.concatenate([even, margin.T @ even])
    columns, target = np.vstack([rules.T, need]), np.append(np.zeros(entrants - 1), 1.0)
    # Not optimize.nnls, which in scipy 1.17 returns a wrong minimum for one matrix of margins in a hundred.
    solved = optimize.lsq_linear(columns, target, (0, np.inf), method="bvls", tol=1e-14, max_iter=50 * entrants)
    rest = columns @ solved.x - target
    if abs(rest[-1]) <= EXACT:
        return None
    found = _clean(even - span @ (rest[:-1] / rest[-1]))
    return found if (found @ margin >= -EXACT).all() and abs(found.sum() - 1) <= EXACT else None


def _clean(raw: Floats) -> Floats:
    import numpy as np

    kept = np.where(raw > EXACT, raw, 0.0)
    shares: Floats = kept / kept.sum()
    return shares


def drawn_lotteries(cells: PairBlocks) -> Floats | None:
    """DRAWS x entrants: the lottery when the blocks get random weights; every two entrants must have met.

    A Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981): exponential weights, one for each block and the same for
    all of its pairs. Unlike a resample of blocks it never loses a pair. Margins move by sqrt((B+1)/(B-1)) times as
    much, B being the pair's blocks: so that they vary as much as their intervals say. None where a pair met in fewer
    than LEAST_ALIKE blocks, from which nothing would follow.
    """
    import numpy as np
    from scipy import sparse

    pairs, blocks = len(cells.one), cells.blocks
    if not pairs or blocks.min() < LEAST_ALIKE:
        return None
    labels, block = np.unique(cells.block, return_inverse=True)
    shape = (pairs, len(labels))
    won = sparse.csr_array((cells.margin, (cells.pair, block)), shape=shape)
    met = sparse.csr_array((cells.count, (cells.pair, block)), shape=shape)
    weight = np.random.default_rng(DRAW_SEED).exponential(size=(len(labels), DRAWS))
    mean = cells.mean(cells.margin)[:, None]
    stretch = np.sqrt((blocks + 1) / (blocks - 1))[:, None]
    moved = np.clip(mean + stretch * ((won @ weight) / (met @ weight) - mean), -1.0, 1.0)
    # Under random weights several lotteries are an exception, so where the most even one takes long any will do.
    many = cells.entrants > MANY
    return np.array([maximal_lottery(cells.matrix(draw, -draw, 0.0), any_will_do=many) for draw in moved.T])


def spread(drawn: Floats) -> tuple[Floats, Floats, Floats]:
    """By entrant: the ends of the 95 % interval of its probability, and the share of draws in which it has any."""
    import numpy as np

    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return low, high, (drawn > 0).mean(axis=0)
