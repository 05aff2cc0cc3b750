"""The claim of a circle: what it takes, against brute force over all triples, and how rarely it is wrong."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from weigh.harness.results.ranking.intransitivity import circular_triples, cyclic_share, sure_circle
from weigh.harness.results.ranking.pairwise import Meetings, PairBlocks, pair_blocks


def league(margins: np.ndarray, pairs: list[tuple[int, int]], entrants: int) -> PairBlocks:
    """`margins` is pairs x blocks, every pair in blocks of its own."""
    number, blocks = margins.shape
    one, other = (np.repeat([pair[side] for pair in pairs], blocks) for side in (0, 1))
    flat = margins.ravel().astype(float)
    return pair_blocks(Meetings(one, other, np.arange(number * blocks), flat, flat), entrants)


ALL = [(i, j) for i in range(5) for j in range(i + 1, 5)]


@pytest.mark.parametrize("seed", range(8))
def test_the_surest_circle_is_the_best_of_all_triples(seed):
    rng = np.random.default_rng(seed)
    lean = np.array([0.5, -0.5, 0.2, 0.1, 0.6, 0.3, 0.0, 0.5, -0.4, 0.5])
    margins = rng.choice([-1.0, 0.0, 1.0], size=(10, 40)) * 0.3 + lean[:, None]
    found = sure_circle(league(margins, ALL, 5))
    p = np.ones((5, 5))
    for (i, j), row in zip(ALL, margins, strict=True):
        p[i, j] = max(stats.ttest_1samp(row, 0, alternative="greater").pvalue, 0.5 ** np.count_nonzero(row))
        p[j, i] = max(stats.ttest_1samp(row, 0, alternative="less").pvalue, 0.5 ** np.count_nonzero(row))
    best = min(max(p[i, j], p[j, k], p[k, i]) for i, j, k in permutations(range(5), 3))
    corrected = best * 2 * 10  # ten triples, ten pairs, both ways
    assert (found is not None) == (corrected <= 0.05)
    if found is not None:
        assert found.p_value == pytest.approx(corrected)
        i, j, k = found.members
        assert max(p[i, j], p[j, k], p[k, i]) == pytest.approx(best)


def test_a_circle_is_no_surer_than_its_weakest_side():
    strong, even = np.ones(20), np.tile([1.0, -1.0], 10)
    circle = [(0, 1), (1, 2), (0, 2)]
    assert sure_circle(league(np.array([strong, strong, -strong]), circle, 3)).members == (0, 1, 2)
    assert sure_circle(league(np.array([-strong, -strong, strong]), circle, 3)).members == (0, 2, 1)
    assert sure_circle(league(np.array([strong, strong, even]), circle, 3)) is None
    assert sure_circle(league(np.array([strong, strong, strong]), circle, 3)) is None


def test_agreement_of_few_blocks_is_no_surer_than_a_sign_test():
    circle = [(0, 1), (1, 2), (0, 2)]
    signs = np.array([[1.0], [1.0], [-1.0]])
    assert sure_circle(league(signs.repeat(5, axis=1), circle, 3)) is None  # 2 * 1/32
    assert sure_circle(league(signs.repeat(6, axis=1), circle, 3)).p_value == pytest.approx(2 / 64)


def test_circular_triples_are_counted_as_kendall_does():
    rng = np.random.default_rng(2)
    margins = rng.choice([-1.0, 1.0], size=(10, 1))
    beaten = np.zeros(5)
    for (i, j), (margin,) in zip(ALL, margins, strict=True):
        beaten[i if margin > 0 else j] += 1
    # Kendall & Babington Smith: n(n-1)(2n-1)/12 - sum of squared wins / 2.
    expected = 5 * 4 * 9 / 12 - (beaten**2).sum() / 2
    assert circular_triples(league(margins, ALL, 5)) == (expected, 10)


@pytest.mark.parametrize("lean", [(0.0, 0.0), (0.8, 0.8)])
def test_a_circle_that_is_none_is_rarely_named(lean):
    """Win or lose, ten blocks a pair; two sure sides and an even third is the case in which it is easiest."""
    rng = np.random.default_rng(7)
    circle = [(0, 1), (1, 2), (0, 2)]
    win = (1 + np.array([*lean, 0.0])) / 2
    wrong = 0
    for _ in range(400):
        margins = np.where(rng.uniform(size=(3, 10)) < win[:, None], 1.0, -1.0)
        wrong += sure_circle(league(margins, circle, 3)) is not None
    assert wrong / 400 <= 0.05


def test_noise_alone_gives_the_share_that_is_expected_of_it():
    rng = np.random.default_rng(11)
    found = [cyclic_share(league(rng.normal(size=(10, 8)), ALL, 5)) for _ in range(60)]
    # Six of ten degrees of freedom are circles.
    assert np.mean([share.share for share in found]) == pytest.approx(0.6, abs=0.06)
    assert np.mean([share.expected for share in found]) == pytest.approx(0.57, abs=0.06)
    assert 0 < np.mean([share.p_value <= 0.2 for share in found]) <= 0.33


def test_without_spread_between_blocks_a_share_is_as_sure_as_its_blocks_are_many():
    circle = [(0, 1), (1, 2), (0, 2)]
    signs = np.array([[1.0], [1.0], [-1.0]])
    assert cyclic_share(league(signs.repeat(2, axis=1), circle, 3)).p_value > 0.05
    many = cyclic_share(league(signs.repeat(10, axis=1), circle, 3))
    assert (many.share, many.expected) == pytest.approx((1, 0))
    assert many.p_value < 0.01
    steps = np.array([[1.0], [1.0], [2.0]])
    none = cyclic_share(league(steps.repeat(10, axis=1), circle, 3))
    assert (none.share, none.p_value) == pytest.approx((0, 1))


def test_a_tree_of_pairs_has_no_circles():
    assert cyclic_share(league(np.ones((2, 6)), [(0, 1), (1, 2)], 3)) is None


def noise(seed=11, blocks=9):
    return np.random.default_rng(seed).normal(size=(10, blocks)) + np.linspace(0.1, 0.5, 10)[:, None]


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0])
def test_the_cyclic_share_and_its_test_are_those_of_scores_of_any_size(scale):
    one, other = (cyclic_share(league(size * noise(), ALL, 5)) for size in (1.0, scale))
    assert other.share == pytest.approx(one.share, rel=1e-4)
    assert other.expected == pytest.approx(one.expected, rel=1e-4)
    assert other.p_value == one.p_value


@pytest.mark.parametrize("entrants", [3, 10, 13])
def test_the_cyclic_share_is_one_at_every_number_of_episodes(entrants):
    """A cutoff took the 0 of the Laplacian for an eigenvalue at 25 of these numbers, with 13 entrants."""
    pairs = list(combinations(range(entrants), 2))
    cells = league(np.random.default_rng(entrants).normal(size=(len(pairs), 1)).round(2), pairs, entrants)
    share = cyclic_share(cells).share
    for times in range(2, 401):
        many = replace(cells, count=cells.count * times, difference=cells.difference * times)
        assert cyclic_share(many).share == pytest.approx(share, abs=1e-12)


def test_entrants_without_a_loop_have_no_cyclic_share():
    assert cyclic_share(league(np.ones((3, 4)), [(0, 1), (1, 2), (3, 4)], 6)) is None
    assert cyclic_share(league(np.ones((4, 4)), [(0, 1), (1, 2), (0, 2), (3, 4)], 6)) is not None


def test_differences_that_strengths_explain_whole_are_no_circle():
    """By hundredths that floats only come near to, in every block alike: nothing is left but rounding."""
    strengths = np.array([0.31, 0.17, 0.07, -0.13, -0.42])
    differences = np.array([[strengths[i] - strengths[j]] for i, j in ALL])
    found = cyclic_share(league(differences.repeat(7, axis=1), ALL, 5))
    assert (found.share, found.expected, found.p_value) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("seed", range(6))
def test_of_equally_sure_circles_it_is_the_strongest_whatever_the_names(seed):
    """Two circles whose t are equal, one with smaller margins: its p-values differ in their last bits alone."""
    rng = np.random.default_rng(seed)
    blocks = rng.permutation(np.repeat([1.0, 0.0, -1.0], [36, 10, 14]))
    pairs = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    signs = [1, 1, -1, 1, 1, -1]
    margins = np.array([sign * blocks * (0.3 if n < 3 else 1.0) for n, sign in enumerate(signs)])
    order = [rng.permutation(60) for _ in pairs]
    shuffled = np.array([row[o] for row, o in zip(margins, order, strict=True)])
    one, other = sure_circle(league(margins, pairs, 6)), sure_circle(league(shuffled, pairs, 6))
    assert one.members == other.members == (3, 4, 5)
    assert one.p_value == pytest.approx(other.p_value)
