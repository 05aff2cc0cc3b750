"""The two-sided comparison against scipy's t interval, and where there is none."""

import math

import numpy as np
import pytest
from scipy import stats

from weigh.harness.stats.paired import paired
from weigh.harness.stats.rare import bounded_interval
from weigh.harness.stats.sign_flip import sign_flip


def test_the_interval_is_the_t_interval_of_block_differences():
    values = np.random.default_rng(8).normal(0.05, 0.2, 24)
    found = paired([*values, None, math.nan])
    interval = stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.n, found.missing) == (24, 2)
    assert found.mean == pytest.approx(values.mean())
    assert found.sd == pytest.approx(values.std(ddof=1))
    assert found.interval == pytest.approx((interval.low, interval.high))
    assert found.p == sign_flip(values, "two-sided")
    assert found.detectable == pytest.approx((stats.t.ppf(0.975, 23) + stats.t.ppf(0.8, 23)) * found.sd / 24**0.5)


def test_what_does_not_exist_is_none():
    nothing = paired([])
    assert (nothing.n, nothing.mean, nothing.sd, nothing.interval, nothing.p, nothing.detectable) == (0, *[None] * 5)
    one = paired([0.3])
    assert (one.mean, one.sd, one.interval, one.p, one.detectable) == (0.3, None, None, 1.0, None)


def test_a_few_blocks_that_agree_give_no_interval_and_many_do():
    assert paired([0.2] * 4).interval is None
    assert paired([0.2] * 5).interval == pytest.approx((0.2, 0.2))
    assert paired([0.0] * 6).p == 1


def test_intervals_stay_where_differences_lie():
    assert paired([2.0, -1.0]).interval == (-2.0, 2.0)
    with pytest.raises(ValueError, match="does not lie between -2 and 2"):
        paired([2.5])


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.6])
def test_guaranteed_is_what_the_betting_interval_excludes(shift):
    values = np.random.default_rng(5).normal(shift, 0.2, 60).clip(-2, 2)
    low, high = bounded_interval(values, -2.0, 2.0)
    assert paired(list(values)).guaranteed == (low > 0 or high < 0)
    assert not paired([]).guaranteed
