"""The sign-flip test against scipy's enumeration and values counted by hand."""

import numpy as np
import pytest
from scipy import stats

from weigh.harness.stats.sign_flip import EXACT, sign_flip


def by_scipy(values, alternative):
    return stats.permutation_test(
        (values,),
        lambda v, axis: v.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        alternative=alternative,
        rng=np.random.default_rng(3),
    ).pvalue


def test_patterns_counted_by_hand():
    assert sign_flip(np.ones(5), "greater") == 1 / 32
    assert sign_flip(np.ones(5), "two-sided") == 2 / 32
    assert sign_flip(-np.ones(5), "less") == 1 / 32
    assert sign_flip(np.ones(5), "less") == 1
    # 3 + 2 - 1 = 4: only 3 + 2 + 1 = 6 is larger.
    assert sign_flip(np.array([3.0, 2.0, -1.0]), "greater") == 2 / 8
    assert sign_flip(np.array([0.1, 0.2, -0.3]), "greater") == 5 / 8  # 0 in floats too, and ties count


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_small_samples_are_enumerated_as_scipy_does(alternative):
    values = np.random.default_rng(5).normal(0.3, 1, 9)
    assert sign_flip(values, alternative) == pytest.approx(by_scipy(values, alternative))


def test_larger_samples_are_drawn_with_fixed_streams():
    values = np.random.default_rng(6).normal(0.2, 1, 40)
    assert sign_flip(values, "greater") == sign_flip(values, "greater")
    assert sign_flip(values, "greater") == pytest.approx(by_scipy(values, "greater"), abs=0.02)


def test_no_evidence_is_1_and_no_p_value_is_0():
    assert sign_flip(np.zeros(4), "greater") == 1
    assert sign_flip(np.zeros(50), "less") == 1
    assert sign_flip(np.array([]), "greater") == 1
    assert sign_flip(np.ones(200), "greater") == 1 / 5_000
    assert sign_flip(np.ones(EXACT), "greater") == 2**-EXACT
