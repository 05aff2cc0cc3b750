"""Standard errors of an arm's measures, clustered by block, against the textbook's and each other."""

from __future__ import annotations

import numpy as np
import pytest

from weigh.harness.gate.measures import GROUPS, freedom_of, jackknifed


def mean(parts):
    return {"m": sum(parts) / len(parts) if parts else None}


def ratio(parts):
    return {"m": sum(a for a, _ in parts) / sum(b for _, b in parts)}


def test_of_a_mean_it_is_the_standard_error():
    values = [0.1, 0.5, -0.2, 0.9, 0.3, 0.3, 0.25]
    expected = np.std(values, ddof=1) / len(values) ** 0.5
    assert jackknifed(values, mean, ["m"])["m"] == pytest.approx(expected)


def test_of_a_ratio_it_is_close_to_the_linear_one():
    """Blocks of unequal length: error^2 = sum of (a - r b)^2 / (sum of b)^2 * n / (n - 1)."""
    noise = np.random.default_rng(7)
    lengths = noise.integers(30, 60, 20)
    hits = noise.binomial(lengths, noise.beta(2, 8, 20))
    share = hits.sum() / lengths.sum()
    linear = (20 / 19 * ((hits - share * lengths) ** 2).sum()) ** 0.5 / lengths.sum()
    parts = list(zip(hits.tolist(), lengths.tolist(), strict=True))
    assert jackknifed(parts, ratio, ["m"])["m"] == pytest.approx(linear, rel=0.02)


def test_clusters_that_agree_within_are_no_more_than_one_observation_each():
    """Ten blocks of 40 moves each, all or none of a block by the fallback: independent moves would give a sixth."""
    parts = [(40 * (n < 3), 40) for n in range(10)]
    assert jackknifed(parts, ratio, ["m"])["m"] == pytest.approx((0.3 * 0.7 / 9) ** 0.5)


def test_many_blocks_are_left_out_by_groups_of_equal_size():
    values = np.random.default_rng(3).normal(0, 1, 200)
    error = jackknifed(list(values), mean, ["m"])["m"]
    by_group = np.array([values[group::GROUPS].mean() for group in range(GROUPS)])
    assert error == pytest.approx(by_group.std(ddof=1) / GROUPS**0.5)
    assert freedom_of(200) == GROUPS - 1


@pytest.mark.parametrize("values", [[], [0.5]])
def test_one_block_has_no_error(values):
    assert jackknifed(values, mean, ["m"]) == {"m": None}
    assert freedom_of(len(values)) == 0


def test_a_measure_that_a_part_of_the_blocks_does_not_have_has_no_error():
    parts = [1.0, 2.0, 3.0]
    assert jackknifed(parts, lambda kept: {"m": None if 1.0 not in kept else 0.5}, ["m"]) == {"m": None}
