"""Sample sizes against statsmodels and published ones; bounds against scipy's t interval."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from harness.gate.fixed import detectable, fixed_size, lower_bound, p_above, upper_bound


@pytest.mark.parametrize(
    ("effect", "beta", "blocks"), [(0.5, 0.2, 27), (0.5, 0.05, 45), (0.2, 0.2, 156), (0.8, 0.2, 12)]
)
def test_sizes_published_for_the_one_sided_one_sample_t_test(effect, beta, blocks):
    assert fixed_size(effect, 1.0, 0.05, beta) == blocks


@pytest.mark.parametrize("effect", [0.05, 0.3, 1.1])
def test_sizes_are_those_of_statsmodels_rounded_up(effect):
    solved = TTestPower().solve_power(effect, alpha=0.05, power=0.95, alternative="larger")
    assert fixed_size(effect / 10, 0.1, 0.05, 0.05) == np.ceil(solved)


def test_where_nothing_spreads_there_is_nothing_to_plan_with():
    assert fixed_size(0.1, 0.0, 0.05, 0.05) is None
    assert fixed_size(0.0, 0.1, 0.05, 0.05) is None
    assert fixed_size(1.9, 0.001, 0.05, 0.05) == 2
    assert detectable(1, 0.1, 0.05, 0.05) is None
    assert detectable(9, 0.0, 0.05, 0.05) is None


def test_the_detectable_effect_is_found_about_as_often_as_promised():
    effect = detectable(30, 0.4, 0.05, 0.05)
    assert effect == pytest.approx(0.4 / 30**0.5 * 2 * 1.6991270)  # t(.95, 29)
    assert TTestPower().power(effect / 0.4, 30, 0.05, alternative="larger") == pytest.approx(0.95, abs=0.01)


def test_a_bound_is_the_t_bound_with_one_value_more():
    values = np.array([0.1, -0.2, 0.3, 0.0, 0.15])
    low = stats.ttest_1samp([*values, -1.0], 0, alternative="greater").confidence_interval(0.95).low
    assert lower_bound(values, 0.05, -1.0) == pytest.approx(low)
    assert upper_bound(-values, 0.05, 1.0) == pytest.approx(-low)
    p = stats.ttest_1samp([*values, -1.0], -0.3, alternative="greater").pvalue
    assert p_above(values, -0.3, -1.0) == pytest.approx(p)
    assert p_above(values, lower_bound(values, 0.05, -1.0), -1.0) == pytest.approx(0.05)


def test_blocks_that_all_agree_are_bounded_like_a_proportion():
    """A loss of 2 in one block of 20 stays unseen in 60 blocks with chance .95 ** 60 = .046, in fewer more often."""
    first = next(n for n in range(1, 200) if lower_bound(np.zeros(n), 0.025, -2.0) > -0.1)
    assert 0.95**first < 0.05
    assert first < 80


def test_without_values_there_is_only_the_range():
    assert lower_bound(np.array([]), 0.05, -2.0) == -2
    assert upper_bound(np.array([]), 0.05, 1.5) == 1.5
    assert p_above(np.array([]), 0.0, -2.0) == 1
    assert p_above(np.full(3, -2.0), -2.0, -2.0) == 1
