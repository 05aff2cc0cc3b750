"""The likelihood ratio against a constrained optimiser, hand-worked values, and its normal approximation."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from harness.gate.sprt import exact_llr, normal_llr, refuted, wald_bounds


def best_fit(support, counts, mean):
    """The largest multinomial log likelihood with this mean, by a general optimiser over the weights."""
    support, counts = np.array(support), np.array(counts)
    start = np.full(len(support), 1 / len(support))
    found = minimize(
        lambda weights: -float((counts * np.log(np.maximum(weights, 1e-300))).sum()),
        start,
        jac=lambda weights: -counts / np.maximum(weights, 1e-300),
        bounds=[(1e-12, 1)] * len(support),
        constraints=[
            {"type": "eq", "fun": lambda weights: weights.sum() - 1},
            {"type": "eq", "fun": lambda weights: weights @ support - mean},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert found.success
    return -found.fun


def test_wald_bounds_are_the_logarithms_of_the_error_ratios():
    assert wald_bounds(0.05, 0.05) == pytest.approx((-log(19), log(19)))
    assert wald_bounds(0.01, 0.2) == pytest.approx((log(0.2 / 0.99), log(80)))


def test_the_normal_formula_worked_by_hand():
    assert normal_llr(100, 0.03, 0.2, -0.1, 0.0) == pytest.approx(100 * 0.1 * 0.16 / 0.4)
    assert normal_llr(100, -0.05, 0.2, -0.1, 0.0) == pytest.approx(0)


@pytest.mark.parametrize(
    ("support", "counts", "first", "second"),
    [
        ([-1, 0, 1], [10, 80, 10], -0.1, 0.0),
        ([-1, 0, 1], [31, 40, 29], -0.1, 0.0),
        ([-1, -0.5, 0, 0.5, 1], [4, 10, 30, 9, 7], -0.05, 0.05),
        ([-2, -1.5, 0.25, 2], [1, 2, 10, 1], -0.3, 0.0),
    ],
)
def test_the_exact_ratio_is_the_constrained_maximum_over_multinomials(support, counts, first, second):
    values = np.repeat(np.array(support, dtype=float), counts)
    by_weights = best_fit(support, counts, second) - best_fit(support, counts, first)
    assert exact_llr(values, first, second, (support[0], support[-1])) == pytest.approx(by_weights, abs=1e-5)


def test_an_end_that_was_not_seen_takes_weight_where_the_sample_cannot_reach_the_mean():
    """Three zeros and ends of -2 and 2: a mean of -0.1 is best explained by 1/20 at -2, as the optimiser finds."""
    assert refuted(np.zeros(3), -0.1, (-2, 2)) == pytest.approx(-3 * log(0.95))
    assert best_fit([-2, 0, 2], [0, 3, 0], -0.1) == pytest.approx(3 * log(0.95), abs=1e-5)
    assert refuted(np.array([0.5, 0.5]), -0.5, (-1, 1)) == pytest.approx(-2 * log(0.5 / 1.5))


def test_the_sample_mean_is_never_refuted_and_an_empty_sample_refutes_nothing():
    values = np.array([-0.3, 0.1, 0.5])
    assert refuted(values, float(values.mean()), (-2, 2)) == pytest.approx(0, abs=1e-12)
    assert refuted(values[:0], 0.3, (-2, 2)) == 0


def test_in_large_samples_the_normal_formula_is_close():
    values = np.random.default_rng(1).normal(-0.03, 0.4, 4_000).clip(-2, 2)
    near = normal_llr(len(values), values.mean(), values.var(), -0.1, 0.0)
    assert exact_llr(values, -0.1, 0.0, (-2, 2)) == pytest.approx(near, rel=0.05)


def test_means_outside_the_ends_and_values_beyond_them_are_refused():
    with pytest.raises(ValueError, match="does not lie between the ends"):
        refuted(np.zeros(2), -2, (-2, 2))
    with pytest.raises(ValueError, match="do not lie between the ends"):
        refuted(np.array([0.0, 1.5]), 0.2, (-1, 1))
    assert refuted(np.array([1.0, -1.0]), 0.2, (-1, 1)) > 0


scores = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=30)


@given(scores, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=50)
def test_the_ratio_does_not_depend_on_order_and_mirrors_when_the_arms_are_mirrored(values, shuffler):
    seen = np.array(values)
    ratio = exact_llr(seen, -0.1, 0.0, (-2, 2))
    shuffler.shuffle(values)
    assert exact_llr(np.array(values), -0.1, 0.0, (-2, 2)) == pytest.approx(ratio, abs=1e-7)
    assert exact_llr(-0.1 - seen, -0.1, 0.0, (-2.1, 1.9)) == pytest.approx(-ratio, abs=1e-7)


@given(scores)
@settings(deadline=None, max_examples=50)
def test_wider_ends_never_make_the_case_against_a_mean_stronger(values):
    seen = np.array(values)
    assert refuted(seen, -0.1, (-2, 2)) <= refuted(seen, -0.1, (-1, 1)) + 1e-9
