"""What of a ranking hangs on which blocks were played."""

from itertools import combinations

import numpy as np
import pytest

from weigh.harness.stats.clustered import estimate
from weigh.harness.stats.halves import blocks_deciding_first, split_half_reliability


def league(means):
    """One episode a block in which everybody sits: `means` is blocks x entrants."""
    means = np.asarray(means, dtype=float)
    blocks, entrants = means.shape
    block = np.repeat(np.arange(blocks), entrants)
    return estimate(np.tile(np.arange(entrants), blocks), block, block, means.ravel(), entrants)


def noisy(strengths, blocks, noise, seed):
    return np.random.default_rng(seed).normal(size=(blocks, len(strengths))) * noise + np.asarray(strengths)


def test_reliability_is_the_squared_correlation_of_means_with_the_truth_on_average():
    """With strengths of variance 1 and block noise of variance v over n blocks it is 1 / (1 + v / n)."""
    strengths = np.random.default_rng(1).normal(size=60)
    found = split_half_reliability(league(noisy(strengths, 40, 4.0, 2)), range(60))
    assert found == pytest.approx(strengths.var() / (strengths.var() + 16 / 40), abs=0.07)


def test_reliability_is_one_without_noise_and_about_nothing_without_differences():
    assert split_half_reliability(league([[0.3, 0.1, -0.4]] * 6), range(3)) == pytest.approx(1.0)
    assert split_half_reliability(league(noisy(np.zeros(40), 30, 1.0, 3)), range(40)) == pytest.approx(0.0, abs=0.35)


@pytest.mark.parametrize("means", [[[0.1, -0.1]] * 8, [[0.3, 0.1, -0.4]] * 3, [[0.0, 0.0, 0.0]] * 8])
def test_there_is_no_reliability_of_two_entrants_of_three_blocks_or_of_no_differences(means):
    assert split_half_reliability(league(means), range(len(means[0]))) is None


def test_the_fewest_blocks_that_decide_first_place_are_found_by_trying_all():
    for seed in range(20):
        means = noisy([0.3, 0.1, 0.0], 8, 0.5, seed)
        first = int(means.mean(axis=0).argmax())
        least = 8
        for size in range(1, 8):
            for dropped in combinations(range(8), size):
                rest = np.delete(means, dropped, axis=0).mean(axis=0)
                if size < least and (np.delete(rest, first) >= rest[first]).any():
                    least = size
        assert blocks_deciding_first(league(means), range(3)) == least


def test_all_blocks_decide_where_the_leader_is_ahead_in_each_and_none_where_two_lead():
    assert blocks_deciding_first(league([[0.3, 0.1]] * 6), range(2)) == 6
    assert blocks_deciding_first(league([[0.1, 0.1], [0.2, 0.2]]), range(2)) is None
    assert blocks_deciding_first(league([[0.1, 0.0]]), [0]) is None
    assert blocks_deciding_first(league([[0.9, 0.0], [0.0, 0.2], [0.0, 0.2]]), range(2)) == 1
