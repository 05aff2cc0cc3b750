"""Sample sizes and detectable effects against statsmodels and published sizes."""

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from weigh.harness.stats.power import fixed_size, one_sided_detectable


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
    assert one_sided_detectable(1, 0.1, 0.05, 0.05) is None
    assert one_sided_detectable(9, 0.0, 0.05, 0.05) is None


def test_the_detectable_effect_is_found_about_as_often_as_promised():
    effect = one_sided_detectable(30, 0.4, 0.05, 0.05)
    assert effect == pytest.approx(0.4 / 30**0.5 * 2 * 1.6991270)  # t(.95, 29)
    assert TTestPower().power(effect / 0.4, 30, 0.05, alternative="larger") == pytest.approx(0.95, abs=0.01)
