"""Fishtest's formula on worked values, and against the multinomial likelihood that it approximates."""

from math import log

import numpy as np
import pytest
from scipy.optimize import minimize

from weigh.harness.gate.sequential import Design, decide
from weigh.harness.stats.sprt import log_likelihood_ratio, wald_bounds


def best_fit(support, counts, mean):
    """The largest multinomial log likelihood with this mean, by a general optimiser over the weights."""
    support, counts = np.array(support), np.array(counts)
    found = minimize(
        lambda weights: -float((counts * np.log(np.maximum(weights, 1e-300))).sum()),
        np.full(len(support), 1 / len(support)),
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
    assert wald_bounds(0.05, 0.05) == pytest.approx((-2.9444, 2.9444), abs=1e-4)
    assert wald_bounds(0.01, 0.2) == pytest.approx((log(0.2 / 0.99), log(80)))


@pytest.mark.parametrize(
    ("losses", "draws", "wins", "worked"),
    [
        # n = 100, mean 0, variance .2: 100 * .1 * (0 + .1) / (2 * .2)
        (10, 80, 10, 2.5),
        # mean -.05 lies in the middle of -.1 and 0: neither is the likelier
        (15, 75, 10, 0.0),
        # mean -.1, variance .2 - .01: 100 * .1 * (-.2 + .1) / (2 * .19)
        (15, 80, 5, -1 / 0.38),
    ],
)
def test_fishtests_formula_worked_by_hand(losses, draws, wins, worked):
    values = np.repeat([-1.0, 0.0, 1.0], [losses, draws, wins])
    assert log_likelihood_ratio(values, -0.1, 0.0) == pytest.approx(worked)


@pytest.mark.parametrize(
    ("support", "counts", "first", "second"),
    [
        ([-1, 0, 1], [520, 1_000, 480], -0.04, 0.0),
        ([-1, -0.5, 0, 0.5, 1], [90, 210, 400, 200, 100], -0.03, 0.0),
    ],
)
def test_fishtests_formula_is_close_to_the_multinomial_ratio_in_large_samples(support, counts, first, second):
    values = np.repeat(np.array(support, dtype=float), counts)
    exact = best_fit(support, counts, second) - best_fit(support, counts, first)
    assert log_likelihood_ratio(values, first, second) == pytest.approx(exact, rel=0.02, abs=0.01)


def test_without_spread_there_is_no_ratio():
    assert log_likelihood_ratio(np.zeros(20), -0.1, 0.0) is None
    assert log_likelihood_ratio(np.zeros(0), -0.1, 0.0) is None


def test_a_look_tells_fishtests_ratio_and_the_sign_flip_beside_its_own_verdict():
    differences = [0.3, -0.2, 0.1, 0.0, 0.25, -0.1, 0.05, 0.2, -0.15, 0.1, 0.12, 0.02]
    look = decide(differences, Design(margin=0.1, max_blocks=40, least=-1.0, greatest=1.0))
    assert look.llr == pytest.approx(log_likelihood_ratio(np.array(differences), -0.1, 0.0))
    assert look.wald == wald_bounds(0.05, 0.05)
    # Every pattern of signs of d + margin, counted one by one.
    shifted = np.array(differences) + 0.1
    signs = 1 - 2 * (np.arange(2**12)[:, None] >> np.arange(12) & 1)
    assert look.p_sign_flip == pytest.approx(float((signs @ shifted >= shifted.sum() - 1e-9).mean()))
